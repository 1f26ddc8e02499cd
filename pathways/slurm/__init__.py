"""The Slurm scripts of a Pathways service on Cluster Director: plain data in, files out."""

from pathways.slurm.scripts import Service, content_version, render

__all__ = ["Service", "content_version", "render"]
