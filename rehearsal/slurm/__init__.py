"""Slurm on one machine: Debian's daemons, a slurmd for each node, and stand-ins for what only Google's nodes have."""
