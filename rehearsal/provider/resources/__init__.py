"""One class per resource type: how what Pulumi asks for becomes requests to Google."""

from rehearsal.provider.resources.registry import covered, resource

__all__ = ["covered", "resource"]
