"""Pathways on Cluster Director: what a stack decides about the cluster, as plain data."""
