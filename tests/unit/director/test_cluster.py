"""The cluster's arguments: valid for Google's API, complete, and with new ids for what cannot be changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from googleapiclient.discovery_cache import get_static_doc  # type: ignore[import-untyped]

from pathways import stackfile
from pathways.director import plan
from pathways.director.plan import DirectorPlan
from rehearsal.google.schema import Check

BASE: dict[str, Any] = {
    "gcp:project": "example-ml",
    "gcp:region": "us-east5",
    "pathways:platform": "clusterDirector",
    "pathways:name": "pw",
    "pathways:slices": {"accelerator": "v6e", "topology": "2x4", "count": 2, "zone": "us-east5-b"},
}


def made(**sections: Any) -> DirectorPlan:
    """The plan of the base stack with sections updated."""
    config = dict(BASE)
    for name, value in sections.items():
        key = f"pathways:{name}"
        config[key] = {**config.get(key, {}), **value} if isinstance(value, dict) else value
    settings, warnings = stackfile.read(config, "s")
    assert warnings == []
    return plan.make(settings)


def body(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """The request that the provider makes of the arguments: camelCase, and maps by id in place of lists."""
    shape = _camel(dict(cluster))
    for key in ("networkResources", "computeResources", "storageResources"):
        shape[key] = {each["id"]: {"config": each["config"]} for each in shape[key]}
    for local in ("clusterId", "location", "deletionPolicy"):
        del shape[local]
    for node_set in shape["orchestrator"]["slurm"]["nodeSets"]:
        assert node_set["computeInstance"]
    return shape


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {re.sub(r"_(.)", lambda m: m[1].upper(), key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


DISKS = {"bootDisk": {"type": "hyperdisk-balanced", "sizeGb": 200}, "startupScript": "true"}
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "spot": {"slices": {"capacity": {"type": "spot"}}},
    "reserved": {"slices": {"capacity": {"type": "reservation", "reservation": "r", "reservationProject": "other-ml"}}},
    "flex start": {"slices": {"capacity": {"type": "flexStart", "maxRunHours": 2}}},
    "existing network": {"network": {"existing": "vpc", "existingSubnetwork": "subnet"}},
    "existing bucket": {"director": {"home": {"existing": "homes"}}},
    "storage class": {"director": {"home": {"storageClass": "NEARLINE"}}},
    "filestore": {"director": {"home": {"type": "filestore", "capacityGb": 2048}}},
    "lustre": {"director": {"home": {"type": "lustre", "capacityGb": 18000, "throughput": 500}}},
    "scripts": {"director": {"prologScripts": ["true"], "epilogScripts": ["true"], "tpuNodes": DISKS}},
    "labels": {"labels": {"team": "ml"}},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_api_would_accept_the_arguments(variant: str) -> None:
    import json

    document = json.loads(get_static_doc("hypercomputecluster", "v1"))
    request = body(made(**VARIANTS[variant]).cluster)
    cleaned = Check(document["schemas"], method="create", creating=True).body("Cluster", request)
    assert cleaned == {key: value for key, value in request.items()}


def test_everything_lies_in_the_slices_zone() -> None:
    cluster = made().cluster
    zones = set(re.findall(r"'zone': '([^']+)'", str(cluster)))
    assert zones == {"us-east5-b"}


def test_every_reference_has_what_it_refers_to() -> None:
    cluster = made().cluster
    slurm = cluster["orchestrator"]["slurm"]
    computes = {each["id"] for each in cluster["compute_resources"]}
    storages = {each["id"] for each in cluster["storage_resources"]}
    node_sets = {each["id"] for each in slurm["node_sets"]}
    assert {each["compute_id"] for each in slurm["node_sets"]} == computes
    assert {id for each in slurm["partitions"] for id in each["node_set_ids"]} == node_sets
    for holder in (slurm["login_nodes"], *slurm["node_sets"]):
        assert {each["id"] for each in holder["storage_configs"]} == storages
    assert slurm["default_partition"] in {each["id"] for each in slurm["partitions"]}


def test_ids_have_the_form_that_google_wants() -> None:
    cluster = made().cluster
    assert re.fullmatch(r"[a-z][a-z0-9]{0,9}", cluster["cluster_id"])
    for key in ("network_resources", "compute_resources", "storage_resources"):
        assert all(re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", each["id"]) for each in cluster[key])
    assert all(re.fullmatch(r"[a-z][a-z0-9]{0,14}", s["id"]) for s in cluster["orchestrator"]["slurm"]["node_sets"])


def test_tpu_nodes_come_with_the_slices_and_cpu_nodes_are_always_there() -> None:
    cpu, tpu = made(slices={"count": 3, "topology": "4x4"}).cluster["orchestrator"]["slurm"]["node_sets"]
    assert tpu["max_dynamic_node_count"] == "12" and "static_node_count" not in tpu
    assert cpu["static_node_count"] == "1" and "max_dynamic_node_count" not in cpu


def ids(made_plan: DirectorPlan) -> dict[str, str]:
    """Ids by what they are for."""
    cluster = made_plan.cluster
    found = [
        *(each["id"] for key in ("network", "compute", "storage") for each in cluster[f"{key}_resources"]),
        *(each["id"] for each in cluster["orchestrator"]["slurm"]["node_sets"]),
    ]
    names = ["network", "cpu compute", "tpu compute", "home", "scripts", "cpu nodes", "tpu nodes"]
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize(
    ("change", "renewed"),
    [
        ({"head": {"machineType": "n2-standard-80"}}, {"cpu compute", "cpu nodes"}),
        ({"slices": {"capacity": {"type": "spot"}}}, {"tpu compute", "tpu nodes"}),
        ({"director": {"tpuNodes": {"bootDisk": {"sizeGb": 200}}}}, {"tpu nodes"}),
        ({"director": {"home": {"storageClass": "NEARLINE"}}}, {"home"}),
        ({"network": {"existing": "vpc", "existingSubnetwork": "s"}}, {"network"}),
        ({"slices": {"count": 3}}, set()),
        ({"slices": {"topology": "4x4"}}, set()),
        ({"director": {"tpuNodes": {"startupScript": "true"}}}, set()),
    ],
)
def test_what_cannot_be_changed_gets_a_new_id_and_nothing_else_does(change: dict[str, Any], renewed: set[str]) -> None:
    before, after = ids(made()), ids(made(**change))
    assert {name for name in before if before[name] != after[name]} == renewed


def test_the_scripts_know_the_stacks_slices_and_buckets() -> None:
    settings = made(slices={"count": 3}, director={"minSlices": 2}).scripts["settings.sh"]
    assert ': "${SLICE_SHAPE:=2x4}"' in settings
    assert ': "${MIN_SLICES:=2}"' in settings
    assert ': "${MAX_SLICES:=3}"' in settings
    assert ': "${GCS_BUCKET:=example-ml-pw-scratch}"' in settings
    assert "TPU_NODES=6\n" in settings
    assert "pathways/server:20261103-jax_0.11.1\n" in settings


def test_only_temporary_files_are_deleted_by_age() -> None:
    scratch = made().scratch
    assert (scratch.lifecycle_days, scratch.lifecycle_prefix) == (14, "pathways-scratch/")
    assert scratch.uri == "gs://example-ml-pw-scratch/pathways-scratch/shared"
