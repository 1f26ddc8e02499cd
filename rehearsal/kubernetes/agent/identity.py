"""Who a pod is to Google Cloud."""

from __future__ import annotations

from typing import Any

from rehearsal.home import Home

Json = dict[str, Any]


class Identities:
    """The identities of pods in one rehearsal."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def variables(self, _pod: Json, node: Json) -> dict[str, str]:
        """The variables by which the stand-ins know who they are and where."""
        return {"REHEARSAL_REGION": node["metadata"]["labels"]["topology.kubernetes.io/region"]}
