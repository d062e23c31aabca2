"""Who fetches the pages a session asks for."""
