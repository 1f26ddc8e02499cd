"""ProvisioningRequests, by which Kueue asks GKE's autoscaler for the nodes of queued provisioning.

Source: API autoscaling.x-k8s.io/v1 of the cluster autoscaler; GKE documentation on queued provisioning.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rehearsal.kubernetes.api import Api

Json = dict[str, Any]
CLASS = "queued-provisioning.gke.io"
GROUP = "/apis/autoscaling.x-k8s.io/v1"


@dataclass(frozen=True)
class Request:
    """A request that waits for nodes. `pods`: a pod of each set that asks for chips, and how many of it come."""

    namespace: str
    name: str
    pods: list[tuple[Json, int]]

    def provisioned(self, api: Api, slices: int) -> None:
        """Say that all nodes are there."""
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [
            {"type": kind, "status": "True", "reason": kind, "message": f"nodes of {slices} slices", **_at(now)}
            for kind in ("Accepted", "Provisioned")
        ]
        path = f"{GROUP}/namespaces/{self.namespace}/provisioningrequests/{self.name}/status"
        api.patch(path, {"status": {"conditions": conditions}})


def waiting(api: Api) -> Iterator[Request]:
    """Requests of GKE's class that nobody has answered yet."""
    for found in api.items(f"{GROUP}/provisioningrequests"):
        metadata, spec = found["metadata"], found["spec"]
        if spec["provisioningClassName"] == CLASS and not found.get("status", {}).get("conditions"):
            pods = [
                (_pod(api, metadata["namespace"], each["podTemplateRef"]["name"]), each) for each in spec["podSets"]
            ]
            named = [(pod, int(each["count"])) for pod, each in pods if pod is not None]
            yield Request(metadata["namespace"], metadata["name"], named)


def _pod(api: Api, namespace: str, template: str) -> Json | None:
    found = api.get(f"/api/v1/namespaces/{namespace}/podtemplates/{template}")
    return {"spec": found["template"]["spec"]} if found else None


def _at(now: str) -> Json:
    return {"lastTransitionTime": now}
