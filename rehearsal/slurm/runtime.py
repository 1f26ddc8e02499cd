"""Slurm clusters as the Google Cloud double asks for them, and as a later command finds them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rehearsal.google.projects import project_number
from rehearsal.home import Home
from rehearsal.processes import Processes
from rehearsal.slurm import director
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.slurm.surroundings import Surroundings

Json = dict[str, Any]


def cluster_account(project: str) -> str:
    """Whom a cluster's nodes act as: Cluster Director's API has no setting for another account."""
    return f"{project_number(project)}-compute@developer.gserviceaccount.com"


class SlurmClusters:
    """A Slurm for each cluster of Cluster Director, by the cluster's name in the API: projects/P/locations/L/clusters/C.

    Every method blocks until done, may be repeated, and called by threads.
    """

    def __init__(self, home: Home, google: str = "") -> None:
        """`google` is the address of the double, which only `apply` needs."""
        self._home = home
        self._google = google
        self._processes = Processes(home.processes)
        self._lock = threading.RLock()

    def apply(self, cluster: Json, folder_of: Callable[[str], Path]) -> None:
        """Start the Slurm of a cluster (API JSON), or make the one that runs like it; buckets have folders."""
        wanted = director.wanted(cluster, folder_of)
        with self._lock:
            found = self.find(cluster["name"])
            found.folder.mkdir(parents=True, exist_ok=True)
            project, region = cluster["name"].split("/")[1:4:2]
            Surroundings(self._google, cluster_account(project), region).save(found.folder)
            found.apply(
                wanted.name,
                wanted.node_sets,
                wanted.partitions,
                wanted.default_partition,
                wanted.logins,
                wanted.mounts,
            )

    def delete(self, name: str) -> None:
        """End every process of a cluster and remove its files; nothing to do where there is none."""
        with self._lock:
            self.find(name).delete()

    def find(self, name: str) -> SlurmCluster:
        """The Slurm of a cluster, which need not exist."""
        # Ids are unique in a project's region only.
        folder = f"{name.rpartition('/')[2]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
        return SlurmCluster(self._home.slurm / folder, self._processes)

    def revive(self) -> None:
        """Start again what is dead of any cluster, in order."""
        for cluster in self._all():
            cluster.start()

    def stop(self) -> None:
        """End every process of every cluster."""
        for cluster in self._all():
            cluster.stop()

    def _all(self) -> list[SlurmCluster]:
        found = sorted(self._home.slurm.glob("*/cluster.json"))
        return [SlurmCluster(path.parent, self._processes) for path in found]
