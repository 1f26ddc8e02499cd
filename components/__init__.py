"""Pulumi component resources. They place what the core decided, and decide nothing themselves."""
