"""Clusters and node pools as they are stored: the API's document and what the API does not show."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from rehearsal.google.cloud import Cloud

Json = dict[str, Any]

BASE_LINK = "https://container.googleapis.com/v1/"


@dataclass
class ClusterRecord:
    """A cluster by relative name, projects/PROJECT/locations/LOCATION/clusters/NAME."""

    name: str
    cluster: Json
    made_ranges: list[str] = field(default_factory=list)
    """Secondary ranges that GKE made for it and removes with it."""

    @property
    def project(self) -> str:
        return self.name.split("/")[1]

    @property
    def location(self) -> str:
        return self.name.split("/")[3]

    @property
    def runtime_key(self) -> str:
        """The name of the cluster for the runtime."""
        return "_".join(self.name.split("/")[1::2])

    @classmethod
    def load(cls, cloud: Cloud, name: str) -> Self | None:
        stored = cloud.store.get(f"container/{name}")
        return cls(name, _shown(stored), stored["rehearsal"]) if stored else None

    def save(self, cloud: Cloud) -> None:
        cloud.store.put(f"container/{self.name}", {**self.cluster, "rehearsal": self.made_ranges})

    def pools(self, cloud: Cloud) -> list[PoolRecord]:
        """Its node pools, oldest first."""
        stored = cloud.store.list(f"container/{self.name}/nodePools/")
        records = [PoolRecord.read(key, document) for key, document in stored.items()]
        return sorted(records, key=lambda record: record.created)


@dataclass
class PoolRecord:
    """A node pool by relative name, with the number of nodes in each zone."""

    name: str
    pool: Json
    sizes: dict[str, int]
    created: str
    policy: str = ""
    """The relative name of the resource policy it uses, whatever the caller wrote."""

    @property
    def project(self) -> str:
        return self.name.split("/")[1]

    @property
    def cluster(self) -> str:
        """The relative name of its cluster."""
        return self.name.rsplit("/nodePools/", 1)[0]

    @classmethod
    def load(cls, cloud: Cloud, name: str) -> Self | None:
        stored = cloud.store.get(f"container/{name}")
        return cls.read(f"container/{name}", stored) if stored else None

    @classmethod
    def read(cls, key: str, stored: Json) -> Self:
        hidden = stored["rehearsal"]
        return cls(
            key.removeprefix("container/"),
            _shown(stored),
            hidden["sizes"],
            hidden["created"],
            hidden["policy"],
        )

    def save(self, cloud: Cloud) -> None:
        hidden = {"sizes": self.sizes, "created": self.created, "policy": self.policy}
        cloud.store.put(f"container/{self.name}", {**self.pool, "rehearsal": hidden})


def clusters_in(cloud: Cloud, project: str, location: str = "-") -> Iterator[ClusterRecord]:
    """The clusters of a project, in one location or ("-") in all."""
    for key, stored in cloud.store.list(f"container/projects/{project}/locations/").items():
        parts = key.split("/")
        if len(parts) == 7 and parts[5] == "clusters" and location in ("-", parts[4]):
            yield ClusterRecord(key.removeprefix("container/"), _shown(stored), stored["rehearsal"])


def pools_in_project(cloud: Cloud, project: str) -> Iterator[PoolRecord]:
    for key, stored in cloud.store.list(f"container/projects/{project}/locations/").items():
        if "/nodePools/" in key:
            yield PoolRecord.read(key, stored)


def base_name(record: PoolRecord, zone: str) -> str:
    """How names of a pool's nodes in a zone begin, gke-CLUSTER-POOL-HASH; the instance group adds -grp."""
    cluster, pool = record.cluster.rsplit("/", 1)[-1], record.pool["name"]
    digest = hashlib.sha256(f"{record.name} {zone} {record.created}".encode()).hexdigest()[:8]
    return f"gke-{cluster[:20].rstrip('-')}-{pool[:18].rstrip('-')}-{digest}"


def group_url(record: PoolRecord, zone: str) -> str:
    """The URL of the instance group manager of a pool in a zone."""
    parent = f"https://www.googleapis.com/compute/v1/projects/{record.project}/zones/{zone}"
    return f"{parent}/instanceGroupManagers/{base_name(record, zone)}-grp"


def _shown(stored: Json) -> Json:
    return {name: value for name, value in stored.items() if name != "rehearsal"}
