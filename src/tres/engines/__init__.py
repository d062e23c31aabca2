"""Engines: they fetch the pages that a session asks for."""
