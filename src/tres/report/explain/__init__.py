"""Why a URL of a run was fetched, or not yet, or never: facts first, and prose made of them."""
