"""The Kubernetes Nodes that GKE makes of a node pool: names, labels, taints, capacity and addresses."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from rehearsal.kubernetes.machines import Machine

Json = dict[str, Any]
POOL = "cloud.google.com/gke-nodepool"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
# GKE's own annotations, by which it knows what of a node's labels and taints came from the pool.
APPLIED_LABELS = "node.gke.io/last-applied-node-labels"
APPLIED_TAINTS = "node.gke.io/last-applied-node-taints"
TPU_TAINT = {"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
# A node is born ready. One that becomes ready later costs the control plane twice as many writes, and a thousand
# nodes a minute; stages/node-ready.yaml is for those that have lost it.
CONDITIONS = (
    ("Ready", "True", "KubeletReady"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("NetworkUnavailable", "False", "RouteCreated"),
)
MAX_PODS = 110
KUBELET_PORT = 10250
LONGEST_NAME = 63
_ALPHABET = string.digits + string.ascii_lowercase
_SUFFIXES = len(_ALPHABET) ** 4


@dataclass(frozen=True)
class Placement:
    """Where a pool's nodes are: the names of GKE for its surroundings."""

    project: str
    location: str
    cluster: str


@dataclass(frozen=True)
class NodePool:
    """A node pool of the GKE API, as far as its nodes show it. `version` is the control plane's."""

    json: Mapping[str, Any]
    placement: Placement
    version: str

    @property
    def name(self) -> str:
        return str(self.json["name"])

    @property
    def config(self) -> Mapping[str, Any]:
        return self.json.get("config") or {}

    @property
    def kubelet_version(self) -> str:
        return f"v{self.json.get('version') or self.version}"

    @property
    def machine(self) -> Machine:
        return Machine.of(self.config.get("machineType") or "e2-medium")

    @property
    def max_pods(self) -> int:
        return int((self.json.get("maxPodsConstraint") or {}).get("maxPodsPerNode") or MAX_PODS)

    @property
    def pod_range(self) -> IPv4Network | None:
        """The range that pods of this pool get their addresses from, where the pool states one."""
        stated = (self.json.get("networkConfig") or {}).get("podIpv4CidrBlock")
        return IPv4Network(stated) if stated else None

    @property
    def labels(self) -> dict[str, str]:
        """Labels that every node of the pool has, GKE's and the pool's own."""
        machine, config = self.machine, self.config
        capacity = next((kind for kind in ("spot", "preemptible") if config.get(kind)), "standard")
        labels = {
            POOL: self.name,
            INSTANCE_TYPE: machine.name,
            "beta.kubernetes.io/instance-type": machine.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "beta.kubernetes.io/arch": "amd64",
            "cloud.google.com/gke-os-distribution": "cos",
            "cloud.google.com/gke-container-runtime": "containerd",
            "cloud.google.com/machine-family": machine.name.partition("-")[0],
            "cloud.google.com/gke-provisioning": capacity,
            "cloud.google.com/gke-max-pods-per-node": str(self.max_pods),
        }
        if machine.accelerator:
            topology = (self.json.get("placementPolicy") or {}).get("tpuTopology") or machine.topology
            labels["cloud.google.com/gke-tpu-accelerator"] = machine.accelerator
            labels["cloud.google.com/gke-tpu-topology"] = str(topology)
            labels["cloud.google.com/gke-accelerator-count"] = str(machine.chips)
        if capacity != "standard":
            labels[f"cloud.google.com/gke-{capacity}"] = "true"
        if config.get("flexStart"):
            labels["cloud.google.com/gke-flex-start"] = "true"
        return labels | dict(config.get("labels") or {})

    @property
    def taints(self) -> list[dict[str, str]]:
        """Taints that every node of the pool has, those of TPUs included."""
        stated = [
            {"key": t["key"], "value": t.get("value", ""), "effect": EFFECTS.get(t["effect"], t["effect"])}
            for t in self.config.get("taints") or ()
        ]
        return stated if not self.machine.chips or TPU_TAINT in stated else [TPU_TAINT, *stated]

    def members(self, zones: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """Name and zone of each node, for a number of nodes per zone. A larger number only adds nodes."""
        for zone, count in sorted(zones.items()):
            group, seed = self._group(zone), _digest(self._identity, zone, "names")
            # 36^4 suffixes, walked in steps that meet each once: distinct, and the same every time.
            for index in range(count):
                yield f"{group}-{_suffix(seed + index * 387_421)}", zone

    def node(self, name: str, zone: str, address: IPv4Address, pods: IPv4Network, now: str) -> Json:
        """One Node with its internal IP address and the range of its pods, made at the time `now` (RFC 3339)."""
        project = self.placement.project
        host = f"{name}.{zone}.c.{project.replace(':', '.')}.internal"
        size = {"pods": str(self.max_pods)}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    **self.labels,
                    "kubernetes.io/hostname": name,
                    "topology.kubernetes.io/region": zone.rpartition("-")[0],
                    ZONE: zone,
                    "topology.gke.io/zone": zone,
                    "failure-domain.beta.kubernetes.io/region": zone.rpartition("-")[0],
                    "failure-domain.beta.kubernetes.io/zone": zone,
                },
                "annotations": self.annotations,
            },
            "spec": {
                "providerID": f"gce://{project}/{zone}/{name}",
                "podCIDR": str(pods),
                "podCIDRs": [str(pods)],
                "taints": self.taints,
            },
            "status": {
                "capacity": self.machine.capacity | size,
                "allocatable": self.machine.allocatable | size,
                "conditions": [
                    {"type": kind, "status": status, "reason": why, "lastHeartbeatTime": now, "lastTransitionTime": now}
                    for kind, status, why in CONDITIONS
                ],
                "addresses": [
                    {"type": "InternalIP", "address": str(address)},
                    {"type": "InternalDNS", "address": host},
                    {"type": "Hostname", "address": host},
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
                "nodeInfo": {
                    "architecture": "amd64",
                    "operatingSystem": "linux",
                    "osImage": "Container-Optimized OS from Google",
                    "kernelVersion": "6.12.0+",
                    "containerRuntimeVersion": "containerd://2.0.0",
                    "kubeletVersion": self.kubelet_version,
                    "kubeProxyVersion": "",
                    "machineID": _digest_hex(name, "machine")[:32],
                    "systemUUID": _digest_hex(name, "system")[:32],
                    "bootID": _digest_hex(name, "boot")[:32],
                },
            },
        }

    @property
    def annotations(self) -> dict[str, str]:
        return {
            APPLIED_LABELS: ",".join(f"{key}={value}" for key, value in sorted(self.labels.items())),
            APPLIED_TAINTS: ",".join(sorted(map(written, self.taints))),
        }

    @property
    def pod_prefix(self) -> int:
        """Prefix length of a node's pod range: room for twice its pods, as GKE sizes it (/28 to /23)."""
        return int(self.json.get("podIpv4CidrSize") or 32 - max(4, (2 * self.max_pods - 1).bit_length()))

    @property
    def _identity(self) -> str:
        place = self.placement
        return f"{place.project}/{place.location}/{place.cluster}/{self.name}"

    def _group(self, zone: str) -> str:
        """What the names of its nodes in a zone begin with: its instance group's name without "-grp"."""
        for url in self.json.get("instanceGroupUrls") or ():
            if f"/zones/{zone}/" in url:
                return str(url).rpartition("/")[2].removesuffix("-grp")
        code = _digest_hex(self._identity, zone)[:8]
        room = LONGEST_NAME - len(f"-{code}-0000")
        return f"{f'gke-{self.placement.cluster}-{self.name}'[:room].rstrip('-')}-{code}"


def written(taint: Mapping[str, str]) -> str:
    """A taint as kubectl writes it."""
    return f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"


def _digest_hex(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _digest(*words: str) -> int:
    return int(_digest_hex(*words), 16)


def _suffix(number: int) -> str:
    number %= _SUFFIXES
    return "".join(_ALPHABET[number // 36**place % 36] for place in (3, 2, 1, 0))
