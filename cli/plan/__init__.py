"""What a stack amounts to, before anything exists: as a table, as data and as a picture."""
