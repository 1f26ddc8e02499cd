"""The Pulumi engine of a rehearsal: a Python language host, and where the engine finds its programs."""
