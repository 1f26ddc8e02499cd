"""Cloud Storage: buckets with exactly the configuration they were given, and small objects."""

from rehearsal.google.services.storage import buckets, objects, policy
from rehearsal.google.services.storage.service import SERVICE

__all__ = ["SERVICE", "buckets", "objects", "policy"]
