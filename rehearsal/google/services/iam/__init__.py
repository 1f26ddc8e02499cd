"""IAM: service accounts and custom roles of projects."""

from rehearsal.google.services.iam import accounts, roles
from rehearsal.google.services.iam.service import SERVICE

__all__ = ["SERVICE", "accounts", "roles"]
