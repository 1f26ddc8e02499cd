"""Google Cloud, Kubernetes and the Pulumi engine on one machine, for any stack at full size."""
