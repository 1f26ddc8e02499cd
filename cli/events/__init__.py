"""What Kubernetes and GKE did about a stack."""
