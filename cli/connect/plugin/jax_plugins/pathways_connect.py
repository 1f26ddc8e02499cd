"""Found by JAX in a program that `pathways connect` starts: makes the proxy known, as Google's pathwaysutils does it.

A program that calls pathwaysutils.initialize() itself, as it must elsewhere, does no harm by that.
"""

import pathwaysutils


def initialize() -> None:
    """Called by JAX before it looks for devices."""
    pathwaysutils.initialize()
