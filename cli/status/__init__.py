"""How a deployed stack is, and what is the matter with it."""
