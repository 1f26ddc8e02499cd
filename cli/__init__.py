"""`pathways`: what a person at a terminal wants to know or do."""
