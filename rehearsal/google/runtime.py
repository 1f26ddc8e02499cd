"""What the double asks of whatever runs the Kubernetes and Slurm clusters behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Json = dict[str, Any]


@dataclass(frozen=True)
class Endpoint:
    """Where a control plane answers: "HOST:PORT", and the PEM of the CA that signed its certificate.

    `dns`: where it answers by name, "NAME:PORT" with a certificate of a public authority; "" where it does not.
    """

    address: str
    ca_pem: str
    dns: str = ""


class ClusterRuntime(Protocol):
    """Control planes and nodes. `key` is PROJECT_LOCATION_NAME; every call blocks, and may be repeated."""

    def create(self, key: str) -> Endpoint:
        """Start a control plane, or find the running one."""

    def delete(self, key: str) -> None:
        """Stop a control plane and forget it."""

    def apply_pool(self, key: str, pool: Json, zones: dict[str, int], project: str, location: str) -> None:
        """Make the nodes of a pool (API NodePool) match: a node count per zone."""

    def delete_pool(self, key: str, pool_name: str) -> None:
        """Take the nodes of a pool away."""

    def disturb(self, key: str, what: str, on: bool) -> None:
        """Begin or end a fault inside a cluster."""


class NullRuntime:
    """Clusters in name only: nothing runs, and the endpoint answers nobody."""

    def create(self, key: str) -> Endpoint:
        return Endpoint("127.0.0.1:443", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")

    def delete(self, key: str) -> None:
        return None

    def apply_pool(self, key: str, pool: Json, zones: dict[str, int], project: str, location: str) -> None:
        return None

    def delete_pool(self, key: str, pool_name: str) -> None:
        return None

    def disturb(self, key: str, what: str, on: bool) -> None:
        return None


class LazyRuntime:
    """The real control planes, loaded at the first call: reading and previewing a stack never need them."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._runtime: ClusterRuntime | None = None

    def _real(self) -> ClusterRuntime:
        if self._runtime is None:
            from rehearsal.home import Home
            from rehearsal.kubernetes.runtime import KubernetesRuntime
            from rehearsal.tools import Tools

            self._runtime = KubernetesRuntime(Home(self._home), Tools.locate())
        return self._runtime

    def create(self, key: str) -> Endpoint:
        return self._real().create(key)

    def delete(self, key: str) -> None:
        self._real().delete(key)

    def apply_pool(self, key: str, pool: Json, zones: dict[str, int], project: str, location: str) -> None:
        self._real().apply_pool(key, pool, zones, project, location)

    def delete_pool(self, key: str, pool_name: str) -> None:
        self._real().delete_pool(key, pool_name)

    def disturb(self, key: str, what: str, on: bool) -> None:
        self._real().disturb(key, what, on)


class SlurmRuntime(Protocol):
    """The Slurm clusters of Cluster Director. Every call blocks, and may be repeated."""

    def apply(self, cluster: Json, folder_of: Callable[[str], Path]) -> None:
        """Make Slurm match the cluster (API Cluster); `folder_of` gives the folder that stands for a bucket."""

    def delete(self, name: str) -> None:
        """End the Slurm of the cluster of that name and forget it."""


class NullSlurm:
    """Slurm clusters in name only."""

    def apply(self, cluster: Json, folder_of: Callable[[str], Path]) -> None:
        return None

    def delete(self, name: str) -> None:
        return None


class LazySlurm:
    """The real Slurm clusters, loaded at the first call. `url` is where the double listens."""

    def __init__(self, home: Path, url: str) -> None:
        self._home = home
        self._url = url
        self._runtime: SlurmRuntime | None = None

    def _real(self) -> SlurmRuntime:
        if self._runtime is None:
            from rehearsal.home import Home
            from rehearsal.slurm.runtime import SlurmClusters

            self._runtime = SlurmClusters(Home(self._home), self._url)
        return self._runtime

    def apply(self, cluster: Json, folder_of: Callable[[str], Path]) -> None:
        self._real().apply(cluster, folder_of)

    def delete(self, name: str) -> None:
        self._real().delete(name)
