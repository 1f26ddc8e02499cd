"""Clusters and node pools as the Google Cloud double asks for them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rehearsal.errors import RehearsalError
from rehearsal.google.runtime import Endpoint
from rehearsal.home import Home
from rehearsal.kubernetes import autoscaler, faults, pools
from rehearsal.kubernetes.autoscaler import AutoscaledPools
from rehearsal.kubernetes.control_plane import ControlPlane
from rehearsal.kubernetes.nodes import NodePool, Placement

if TYPE_CHECKING:
    from rehearsal.tools import Tools


class KubernetesRuntime:
    """A control plane per cluster. Every method blocks until done, may be repeated, and called by threads."""

    def __init__(self, home: Home, tools: Tools) -> None:
        self._home = home
        self._tools = tools
        self._locks: dict[str, threading.RLock] = {}
        self._locks_lock = threading.Lock()

    def create(self, key: str) -> Endpoint:
        """Start the control plane of a cluster; of one that exists, start what is dead."""
        with self._lock(key):
            plane = self._plane(key)
            plane.start()
            return Endpoint(plane.address, plane.ca_pem, plane.dns)

    def revive(self) -> None:
        """Start again what is dead of any cluster, in order, and wait until each cluster takes pods."""
        for kubeconfig in sorted(self._home.clusters.glob("*/kubeconfig")):
            self.create(kubeconfig.parent.name)

    def delete(self, key: str) -> None:
        """End every process of a cluster and remove its files; nothing to do where there is none."""
        with self._lock(key):
            self._plane(key).delete()

    def apply_pool(
        self, key: str, pool: Mapping[str, Any], zones: Mapping[str, int], project: str, location: str
    ) -> None:
        """Make the Nodes of a pool what its API JSON and the number of nodes per zone say."""
        with self._lock(key):
            plane = self._plane(key)
            if not plane.exists:
                raise RehearsalError(f"No cluster {key} for node pool {pool['name']}; create the cluster first")
            cluster = key.removeprefix(f"{project}_{location}_")
            scaled = AutoscaledPools(plane.folder)
            with plane.api() as api, scaled.lock():
                placement = Placement(project, location, cluster)
                made = NodePool(pool, placement, f"{api.version()}-gke.1000000")
                pools.apply(api, made, autoscaler.sizes(api, made, zones))
                scaled.keep(made)

    def delete_pool(self, key: str, pool_name: str) -> None:
        """Remove the Nodes of a pool and the pods on them."""
        with self._lock(key):
            plane = self._plane(key)
            if plane.exists:
                scaled = AutoscaledPools(plane.folder)
                with plane.api() as api, scaled.lock():
                    scaled.forget(pool_name)
                    pools.delete(api, pool_name)

    def disturb(self, key: str, what: str, on: bool) -> None:
        """Begin or end a fault inside a cluster."""
        with self._lock(key):
            plane = self._plane(key)
            if plane.exists:
                with plane.api() as api:
                    faults.disturb(api, what, on)

    def _plane(self, key: str) -> ControlPlane:
        return ControlPlane(key, self._home, self._tools)

    def _lock(self, key: str) -> threading.RLock:
        with self._locks_lock:
            return self._locks.setdefault(key, threading.RLock())
