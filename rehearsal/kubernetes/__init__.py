"""A GKE cluster on one machine: real control plane and controllers, nodes that exist only in its API."""
