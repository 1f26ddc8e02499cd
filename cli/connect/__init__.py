"""The way from this machine to the proxy, and a client at the end of it."""
