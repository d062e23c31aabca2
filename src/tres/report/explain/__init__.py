"""Why a URL of a run was fetched, or not yet, or never: facts first, then sentences."""
