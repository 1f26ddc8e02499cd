"""Each check refuses what it is for, names the setting, and lets the right thing pass."""

from __future__ import annotations

from typing import Any

import pytest

from pathways import checks, stackfile
from pathways.faults import Fault, StackError

BASE: dict[str, Any] = {
    "gcp:project": "example-ml",
    "gcp:region": "us-east5",
    "pathways:slices": {"accelerator": "v6e", "topology": "4x4", "count": 2, "zone": "us-east5-b"},
}


def stack(changes: dict[str, Any]) -> dict[str, Any]:
    """The base stack with `section.key: value` changes; a None value leaves the key out."""
    config: dict[str, Any] = {
        key: dict(value) if isinstance(value, dict) else value for key, value in BASE.items()
    }
    for path, value in changes.items():
        key, _, inner = path.partition(".")
        if inner:
            config.setdefault(key, {})[inner] = value
        else:
            config[key] = value
    return config


def run(changes: dict[str, Any]) -> list[Fault]:
    try:
        return stackfile.read(stack(changes), "s")[1]
    except StackError as error:
        return list(error.faults)


BATCH = {"pathways:workload": {"mode": "batch", "image": "client:1"}}
SLICES = "pathways:slices"

# id, what breaks it, the path that is named, what mends it
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("slice-shape", {f"{SLICES}.topology": "4x5"}, f"{SLICES}.topology", {f"{SLICES}.topology": "4x8"}),
    ("slice-shape", {f"{SLICES}.accelerator": "v9"}, f"{SLICES}.accelerator", {}),
    (
        "slice-shape",
        {f"{SLICES}.machineType": "ct6e-standard-1t"},
        f"{SLICES}.machineType",
        {f"{SLICES}.machineType": "ct6e-standard-4t"},
    ),
    (
        "slice-documented-size",
        {
            SLICES: {"accelerator": "v5p", "topology": "16x20x28", "zone": "us-east5-a"},
            "pathways:network": {"nodeRange": "10.0.0.0/18"},
        },
        f"{SLICES}.topology",
        {SLICES: {"accelerator": "v5p", "topology": "4x4x4", "zone": "us-east5-a"}},
    ),
    ("zone-in-region", {"gcp:region": "us-east1"}, f"{SLICES}.zone", {"gcp:region": "us-east5"}),
    ("zone-offers-accelerator", {f"{SLICES}.zone": "us-east5-z"}, f"{SLICES}.zone", {}),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "reservation"}},
        f"{SLICES}.capacity.reservation",
        {f"{SLICES}.capacity": {"type": "reservation", "reservation": "tpus"}},
    ),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "spot", "reservation": "tpus"}},
        f"{SLICES}.capacity.reservation",
        {f"{SLICES}.capacity": {"type": "spot"}},
    ),
    (
        "gke-version",
        {"pathways:cluster": {"version": "1.30.1-gke.100"}},
        "pathways:cluster.version",
        {"pathways:cluster": {"version": "1.35"}},
    ),
    ("gke-version", {"pathways:cluster": {"version": "newest"}}, "pathways:cluster.version", {}),
    (
        "jobset-name-length",
        {"pathways:workload": {"name": "a" * 23}},
        "pathways:workload.name",
        {"pathways:workload": {"name": "a" * 22}},
    ),
    ("name-lengths", {"pathways:name": "n" * 25}, "pathways:name", {"pathways:name": "n" * 24}),
    (
        "scratch-bucket-name",
        {"pathways:scratch": {"bucket": "gs://mine"}},
        "pathways:scratch.bucket",
        {"pathways:scratch": {"bucket": "mine"}},
    ),
    (
        "scratch-bucket-name",
        {"pathways:scratch": {"bucket": "cloud-pathways-staging"}},
        "pathways:scratch.bucket",
        {},
    ),
    ("scratch-bucket-name", {"pathways:scratch": {"bucket": "Mine"}}, "pathways:scratch.bucket", {}),
    (
        "image-matches-jax",
        {"pathways:runtime": {"jax": "0.11.1", "imageTag": "jax-0.10.0"}},
        "pathways:runtime.imageTag",
        {"pathways:runtime": {"jax": "0.11.1", "imageTag": "20261103-jax_0.11.1"}},
    ),
    ("image-matches-jax", {"pathways:runtime": {"imageTag": "latest"}}, "pathways:runtime.imageTag", {}),
    ("batch-client", {"pathways:workload": {"mode": "batch"}}, "pathways:workload.image", BATCH),
    ("batch-client", {"pathways:workload": {"image": "client:1"}}, "pathways:workload.image", {}),
    (
        "client-environment",
        {"pathways:workload": {**BATCH["pathways:workload"], "env": [{"name": "XLA_FLAGS", "value": "-"}]}},
        "pathways:workload.env[0].name",
        {"pathways:workload": {**BATCH["pathways:workload"], "env": [{"name": "HF_HOME", "value": "/tmp"}]}},
    ),
    (
        "client-environment",
        {
            "pathways:workload": {
                **BATCH["pathways:workload"],
                "env": [{"name": "JAX_PLATFORMS", "value": "tpu"}],
            }
        },
        "pathways:workload.env[0].name",
        {},
    ),
    (
        "head-fits",
        {**BATCH, "pathways:head": {"machineType": "n2-standard-48"}},
        "pathways:head.machineType",
        {**BATCH, "pathways:head": {"machineType": "n2-standard-64"}},
    ),
    ("head-fits", {"pathways:head": {"machineType": "m9-huge-2"}}, "pathways:head.machineType", {}),
    (
        "address-ranges",
        {"pathways:network": {"nodeRange": "10.0.0.0/29"}},
        "pathways:network.nodeRange",
        {"pathways:network": {"nodeRange": "10.0.0.0/27"}},
    ),
    (
        "address-ranges",
        {"pathways:network": {"podRange": "10.4.0.0/24"}},
        "pathways:network.podRange",
        {"pathways:network": {"podRange": "10.4.0.0/22"}},
    ),
    ("address-ranges", {"pathways:network": {"podRange": "10.0.0.0/14"}}, "pathways:network.podRange", {}),
    ("address-ranges", {"pathways:network": {"nodeRange": "10.0.0.1/20"}}, "pathways:network.nodeRange", {}),
    (
        "jobset-version",
        {"pathways:jobset": {"version": "0.7.0"}},
        "pathways:jobset.version",
        {"pathways:jobset": {"version": "0.8.0"}},
    ),
    ("jobset-version", {"pathways:jobset": {"version": "new"}}, "pathways:jobset.version", {}),
]


@pytest.mark.parametrize(
    ("identity", "broken", "path", "mended"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)]
)
def test_the_check_names_the_setting_and_accepts_the_mended_stack(
    identity: str, broken: dict[str, Any], path: str, mended: dict[str, Any]
) -> None:
    assert (identity, path) in [(fault.id, fault.path) for fault in run(broken)]
    assert [fault for fault in run(mended) if fault.id == identity] == []


def test_every_check_has_a_failing_example_here() -> None:
    assert {check.id for check in checks.CHECKS} == {case[0] for case in CASES}


def test_a_setting_already_at_fault_is_not_blamed_twice() -> None:
    found = run({f"{SLICES}.topology": "4x5", f"{SLICES}.count": 100000})
    assert [fault.path for fault in found] == [f"{SLICES}.count", f"{SLICES}.topology"]
