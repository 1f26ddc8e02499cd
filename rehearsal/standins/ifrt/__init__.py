"""The IFRT proxy's protocol as JAX speaks it, served from this machine's CPU.

The messages are those of the installed jaxlib, read from it at run time; computing is done by its CPU client, with one
virtual device for each device of the slices. Runs in the environment of rehearsal/client, where jaxlib is.
"""
