"""What a pod's task needs of the agent and the cluster around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.kubernetes.agent import addresses, hosts
from rehearsal.kubernetes.agent.addresses import Loopback
from rehearsal.kubernetes.agent.environment import Lookup
from rehearsal.kubernetes.agent.volumes import Places
from rehearsal.kubernetes.api import Api

Json = dict[str, Any]
# Variables that only this machine has need of: who a pod on a node is, found out with a lookup in its namespace.
Identity = Callable[[Json, Json, Lookup], dict[str, str]]


@dataclass
class Surroundings:
    """One cluster: its API, its folder, what the watches know. Nodes, pods and Services are by uid.

    The event loop changes them while threads read, so whoever reads takes a copy first.
    """

    api: Api
    server: tuple[str, str]
    folder: Path
    logs: Path
    loopback: Loopback
    client: Path
    identity: Identity
    nodes: dict[str, Json]
    pods: dict[str, Json]
    services: dict[str, Json]

    def node(self, name: str) -> Json | None:
        return next((node for node in list(self.nodes.values()) if node["metadata"]["name"] == name), None)

    def pod_folder(self, pod: Json) -> Path:
        return self.folder / "pods" / _full_name(pod)

    def log_folder(self, pod: Json) -> Path:
        """Where its containers log, a folder each: as below /var/log/pods of a node."""
        return self.logs / "pods" / _full_name(pod)

    def places(self, pod: Json) -> Places:
        node = self.folder / "nodes" / pod["spec"]["nodeName"]
        return Places(self.pod_folder(pod) / "volumes", node, self.folder / "buckets")

    def address(self, pod: Json, node: Json) -> str:
        """The pod's address as the API shows it: its node's, or one of its own."""
        known = pod["status"].get("podIP") or self.pods.get(pod["metadata"]["uid"], pod)["status"].get("podIP")
        if known:
            return str(known)
        if pod["spec"].get("hostNetwork"):
            return internal_address(node)
        taken = {other["status"].get("podIP", "") for other in list(self.pods.values())}
        return addresses.pod_address(node["spec"]["podCIDR"], taken)

    def lookup(self, namespace: str) -> Callable[[str, str], Json | None]:
        return lambda kind, name: self.api.get(f"/api/v1/namespaces/{namespace}/{kind}/{name}")

    def token(self, pod: Json) -> Callable[[str, int], str]:
        """A maker of tokens of the pod's service account, bound to the pod."""
        metadata = pod["metadata"]
        account = pod["spec"].get("serviceAccountName") or "default"

        def make(audience: str, seconds: int) -> str:
            spec: Json = {
                "audiences": [audience] if audience else [],
                "expirationSeconds": seconds,
                "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]},
            }
            path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
            return str(self.api.post(path, {"spec": spec})["status"]["token"])

        return make

    def job(self, pod: Json) -> Json | None:
        """The Job that a pod belongs to."""
        for owner in pod["metadata"].get("ownerReferences") or ():
            if owner["kind"] == "Job":
                return self.api.get(f"/apis/batch/v1/namespaces/{pod['metadata']['namespace']}/jobs/{owner['name']}")
        return None

    def write_hosts(self, pod: Json) -> None:
        """Write the files by which a pod resolves names. Mounted as they are, they are changed in place."""
        node = self.node(pod["spec"]["nodeName"])
        folder = self.pod_folder(pod) / "etc"
        if node is None or not folder.exists():
            return
        namespace, address = pod["metadata"]["namespace"], self.address(pod, node)
        text = hosts.own_names(pod, node, self.loopback.of(address))
        if hosts.resolves_cluster_names(pod):
            # It finds itself from the start, also while the API does not show its address yet.
            own = {**pod, "status": {**pod["status"], "podIP": address}}
            pods = {**self.pods, pod["metadata"]["uid"]: own}.values()
            text += hosts.cluster_names(namespace, list(self.services.values()), pods, self.loopback)
        _overwrite(folder / "hosts", text)
        _overwrite(folder / "resolv.conf", hosts.resolver(namespace, self.loopback.nobody))


def internal_address(node: Json) -> str:
    return next(str(a["address"]) for a in node["status"]["addresses"] if a["type"] == "InternalIP")


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call what blocks on the API or a disk."""
    return await asyncio.to_thread(function, *arguments)


def _full_name(pod: Json) -> str:
    metadata = pod["metadata"]
    return f"{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"


def _overwrite(file: Path, text: str) -> None:
    data = text.encode()
    if file.exists() and file.read_bytes() == data:
        return
    with file.open("r+b" if file.exists() else "wb") as opened:
        opened.write(data)
        opened.truncate()
