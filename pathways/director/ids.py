"""Names on Cluster Director, each derived once.

The API cannot change a resource's configuration, and the provider notices a change only by the id. So the id of
whatever is immutable carries a hash of its content: a change of content is then a new resource, in the plan too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from pathways.settings import Settings

# Google's limits: cluster id, node set id.
CLUSTER_ID_LIMIT = 10
NODE_SET_ID_LIMIT = 15
_HASH_DIGITS = 6

CPU_PARTITION = "cpu"
TPU_PARTITION = "tpu"


def cluster_id(settings: Settings) -> str:
    """The stated id, or the deployment's name without hyphens; the checks see to its length."""
    return settings.director.cluster_id or re.sub(r"[^a-z0-9]", "", settings.name)


def network(settings: Settings) -> str:
    """The VPC as `projects/P/global/networks/N`."""
    return _full(settings.network.existing or settings.name, f"projects/{settings.project}/global/networks")


def subnetwork(settings: Settings) -> str:
    """The existing VPC's subnet as `projects/P/regions/R/subnetworks/S`."""
    name = settings.network.existing_subnetwork or ""
    return _full(name, f"projects/{settings.project}/regions/{settings.region}/subnetworks")


def home_bucket(settings: Settings) -> str:
    """The bucket of the home folders."""
    return settings.director.home.existing or f"{settings.project}-{settings.name}-home"


def resource_id(stem: str, content: Mapping[str, Any]) -> str:
    """`stem-hash` for a network, compute or storage resource."""
    return f"{stem}-{_digest(content)}"


def node_set_id(stem: str, content: Mapping[str, Any]) -> str:
    """`stemhash` for a node set, whose id takes letters and digits only."""
    return f"{stem}{_digest(content)}"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_HASH_DIGITS]


def _full(name: str, folder: str) -> str:
    return name if "/" in name else f"{folder}/{name}"
