"""Each check of Cluster Director refuses what it is for and names the setting."""

from __future__ import annotations

from typing import Any

import pytest

from pathways import checks, stackfile
from pathways.faults import Fault, StackError
from tests.unit.director.test_cluster import BASE


def faults(changes: dict[str, Any]) -> list[Fault]:
    """What is said about the base stack with `section.key: value` changes."""
    config = {key: dict(value) if isinstance(value, dict) else value for key, value in BASE.items()}
    for path, value in changes.items():
        key, _, inner = path.partition(".")
        if inner:
            config.setdefault(key, {})[inner] = value
        else:
            config[key] = value
    try:
        return stackfile.read(config, "s")[1]
    except StackError as error:
        return list(error.faults)


SLICES, DIRECTOR = "pathways:slices", "pathways:director"
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("platform-settings", "pathways:workload", {"pathways:workload": {"mode": "batch", "image": "i"}}),
    ("platform-settings", "pathways:cluster", {"pathways:cluster": {"deletionProtection": False}}),
    ("platform-settings", f"{SLICES}.autoscaling", {f"{SLICES}.autoscaling": True}),
    ("platform-settings", f"{SLICES}.dranet", {f"{SLICES}.dranet": True}),
    ("platform-settings", "pathways:network.podRange", {"pathways:network": {"podRange": "10.0.0.0/8"}}),
    ("platform-settings", "pathways:runtime.proxy", {"pathways:runtime": {"proxy": {"args": ["--xla_a=b"]}}}),
    ("platform-settings", "pathways:scratch.prefix", {"pathways:scratch": {"prefix": "a"}}),
    ("platform-settings", "pathways:scratch.lifecycleOwner", {"pathways:scratch": {"lifecycleOwner": "pathways"}}),
    ("platform-settings", DIRECTOR, {"pathways:platform": "gke", DIRECTOR: {"minSlices": 1}}),
    ("director-cluster-id", f"{DIRECTOR}.clusterId", {"pathways:name": "a-rather-long-name"}),
    ("director-machine", f"{SLICES}.accelerator", {f"{SLICES}.accelerator": "v4", f"{SLICES}.topology": "2x2x4"}),
    ("director-machine", f"{SLICES}.machineType", {f"{SLICES}.machineType": "ct6e-standard-8t"}),
    ("director-capacity", f"{SLICES}.capacity.type", {f"{SLICES}.capacity": {"type": "calendar", "reservation": "r"}}),
    ("director-capacity", f"{SLICES}.capacity.queued", {f"{SLICES}.capacity": {"type": "flexStart", "queued": True}}),
    ("director-tpu-static", f"{DIRECTOR}.tpuNodes.static", {DIRECTOR: {"tpuNodes": {"static": True}}}),
    (
        "director-login-nodes",
        f"{DIRECTOR}.loginNodes.machineType",
        {DIRECTOR: {"loginNodes": {"machineType": "n4-standard-8"}}},
    ),
    ("director-head-fits", "pathways:head.machineType", {"pathways:head": {"machineType": "n2-standard-16"}}),
    ("director-min-slices", f"{DIRECTOR}.minSlices", {DIRECTOR: {"minSlices": 3}}),
    ("director-home", f"{DIRECTOR}.home.capacityGb", {DIRECTOR: {"home": {"type": "filestore"}}}),
    ("director-home", f"{DIRECTOR}.home.capacityGb", {DIRECTOR: {"home": {"type": "lustre", "capacityGb": 9000}}}),
    ("director-home", f"{DIRECTOR}.home.throughput", {DIRECTOR: {"home": {"throughput": 125}}}),
    ("director-home", f"{DIRECTOR}.home.tier", {DIRECTOR: {"home": {"existing": "b-b", "tier": "ZONAL"}}}),
    ("director-home", f"{DIRECTOR}.home.existing", {DIRECTOR: {"home": {"type": "lustre", "existing": "mine"}}}),
    (
        "director-home-zone",
        f"{DIRECTOR}.home.existing",
        {DIRECTOR: {"home": {"type": "lustre", "existing": "projects/p/locations/us-east5-a/instances/i"}}},
    ),
    ("director-network", "pathways:network.existingSubnetwork", {"pathways:network": {"existing": "vpc"}}),
    (
        "director-network",
        "pathways:network.existingSubnetwork",
        {"pathways:network": {"existing": "v", "existingSubnetwork": "projects/p/regions/us-west1/subnetworks/s"}},
    ),
    (
        "director-startup-scripts",
        f"{DIRECTOR}.tpuNodes.startupScript",
        {DIRECTOR: {"tpuNodes": {"startupScript": "x" * 262_145}}},
    ),
    ("director-image", "pathways:runtime.imageTag", {"pathways:runtime": {"jax": "0.12.0"}}),
    ("image-matches-jax", "pathways:runtime.imageTag", {"pathways:runtime": {"imageTag": "20261201-jax_0.12.0"}}),
    ("director-bucket-names", "pathways:scratch.bucket", {"pathways:scratch": {"bucket": "example-ml-pw-home"}}),
]


@pytest.mark.parametrize(("check", "path", "changes"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_stack_that_cannot_be_is_refused(check: str, path: str, changes: dict[str, Any]) -> None:
    found = [fault for fault in faults(changes) if fault.severity == "error"]
    assert [(fault.id, fault.path) for fault in found] == [(check, path)]
    assert found[0].reason and found[0].fix


def test_every_check_of_cluster_director_has_an_example_here() -> None:
    known = {check.id for check in checks.CHECKS if check.platform == "clusterDirector"}
    assert known - {case[0] for case in REFUSED} == {"director-zone"}


def test_an_ai_zone_is_refused() -> None:
    found = faults({f"{SLICES}.zone": "us-central1-ai1", "gcp:region": "us-central1"})
    assert "director-zone" in [fault.id for fault in found]


def test_one_node_without_room_for_a_client_is_warned_about() -> None:
    [warning] = faults({"pathways:head": {"machineType": "n2-standard-48"}})
    assert (warning.id, warning.severity) == ("director-head-fits", "warning")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"pathways:name": "a-rather-long-name", DIRECTOR: {"clusterId": "short"}},
        {f"{SLICES}.topology": "2x2", DIRECTOR: {"tpuNodes": {"static": True}}},
        {"pathways:runtime": {"jax": "0.12.0", "imageTag": "20270101-jax_0.12.0"}},
        {"pathways:head": {"machineType": "n2-standard-48", "nodeCount": 2}},
        {DIRECTOR: {"home": {"type": "filestore", "capacityGb": 1024}}},
    ],
)
def test_a_stack_that_can_be_passes(changes: dict[str, Any]) -> None:
    assert faults(changes) == []


@pytest.mark.parametrize(
    ("id", "good"), [("pathways", True), ("a123456789", True), ("a1234567890", False), ("A", False), ("1a", False)]
)
def test_a_stated_cluster_id_has_googles_form(id: str, good: bool) -> None:
    assert (faults({DIRECTOR: {"clusterId": id}}) == []) is good
