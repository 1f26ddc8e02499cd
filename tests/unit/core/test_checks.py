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
    config: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in BASE.items()}
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
    (
        "jobset-name-length",
        {"pathways:workload": {"name": "a" * 40, "subdomain": "s"}},
        "pathways:workload.name",
        {"pathways:workload": {"name": "a" * 39, "subdomain": "s"}},
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
    ("image-matches-jax", {"pathways:runtime": {"imageTag": "nightly"}}, "pathways:runtime.imageTag", {}),
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
        {"pathways:workload": {"mode": "service"}, "pathways:head": {"machineType": "n2-standard-16"}},
        "pathways:head.machineType",
        {"pathways:workload": {"mode": "service"}, "pathways:head": {"machineType": "n2-standard-32", "nodeCount": 2}},
    ),
    (
        "head-fits",
        {"pathways:head": {"machineType": "n2-standard-32"}},
        "pathways:head.machineType",
        {"pathways:head": {"machineType": "n2-highmem-32"}},
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
    (
        "image-latest",
        {"pathways:runtime": {"imageTag": "latest"}},
        "pathways:runtime.imageTag",
        {"pathways:runtime": {"imageTag": "latest", "allowLatest": True}},
    ),
    (
        "extra-arguments",
        {"pathways:runtime": {"worker": {"args": ["--xla_tpu_x=true"]}}},
        "pathways:runtime.worker.args[0]",
        {"pathways:runtime": {"proxy": {"args": ["--xla_tpu_x=true"]}}},
    ),
    (
        "extra-arguments",
        {"pathways:runtime": {"proxy": {"args": ["--server_port=1"]}}},
        "pathways:runtime.proxy.args[0]",
        {},
    ),
    ("extra-arguments", {"pathways:runtime": {"proxy": {"args": ["xla"]}}}, "pathways:runtime.proxy.args[0]", {}),
    (
        "component-environment",
        {"pathways:runtime": {"worker": {"env": [{"name": "MEGASCALE_SLICE_ID", "value": "1"}]}}},
        "pathways:runtime.worker.env[0].name",
        {"pathways:runtime": {"worker": {"env": [{"name": "TPU_VMODULE", "value": "x=1"}]}}},
    ),
    (
        "colocated-python",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:20260423-python_3.11-jax_0.11.1"}}},
        "pathways:runtime.colocatedPython.image",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:20260423-python_3.12-jax_0.11.1"}}},
    ),
    (
        "colocated-python",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:python_3.12-jax_0.10.0"}}},
        "pathways:runtime.colocatedPython.image",
        {},
    ),
    (
        "colocated-python",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s"}}},
        "pathways:runtime.colocatedPython.image",
        {},
    ),
    (
        "colocated-python-suspend",
        {"pathways:runtime": {"colocatedPython": {"python": "3.12", "image": "s:python_3.12-jax_0.11.1"}}},
        "pathways:runtime.colocatedPython",
        {},
    ),
    (
        "capacity-flex-start",
        {f"{SLICES}.capacity": {"type": "spot", "maxRunHours": 5}},
        f"{SLICES}.capacity.maxRunHours",
        {f"{SLICES}.capacity": {"type": "flexStart", "maxRunHours": 5}},
    ),
    (
        "capacity-queued",
        {f"{SLICES}.capacity": {"type": "flexStart", "queued": True}},
        f"{SLICES}.capacity.queued",
        {f"{SLICES}.capacity": {"type": "flexStart"}},
    ),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "calendar"}},
        f"{SLICES}.capacity.reservation",
        {f"{SLICES}.capacity": {"type": "calendar", "reservation": "r"}},
    ),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "reservation", "reservation": "r", "reservationSubBlock": "s"}},
        f"{SLICES}.capacity.reservationBlock",
        {},
    ),
    (
        "capacity-spot-multi-host",
        {f"{SLICES}.capacity": {"type": "spot"}},
        f"{SLICES}.capacity.type",
        {f"{SLICES}.capacity": {"type": "spot"}, "pathways:workload": {"maxRestarts": 3}},
    ),
    (
        "autoscaling-fixed-capacity",
        {f"{SLICES}.capacity": {"type": "reservation", "reservation": "r"}, f"{SLICES}.autoscaling": True},
        f"{SLICES}.autoscaling",
        {f"{SLICES}.autoscaling": True},
    ),
    (
        "gke-version",
        {
            f"{SLICES}": {"accelerator": "tpu7x", "topology": "2x2x1", "zone": "us-east5-b"},
            "pathways:cluster": {"version": "1.33.1-gke.100"},
        },
        "pathways:cluster.version",
        {},
    ),
    (
        "existing-cluster",
        {"pathways:cluster": {"existing": "mine", "releaseChannel": "RAPID"}},
        "pathways:cluster.releaseChannel",
        {"pathways:cluster": {"existing": "mine", "location": "us-east5"}},
    ),
    (
        "existing-cluster",
        {"pathways:cluster": {"existing": "mine"}, "pathways:network": {"mtu": 1500}},
        "pathways:network.mtu",
        {},
    ),
    (
        "cluster-location",
        {"pathways:cluster": {"location": "us-central1"}},
        "pathways:cluster.location",
        {"pathways:cluster": {"location": "us-east5-b"}},
    ),
    (
        "maintenance-exclusions",
        {
            "pathways:cluster": {
                "maintenanceExclusions": [
                    {"name": "run", "start": "2027-02-01T00:00:00Z", "end": "2027-01-01T00:00:00Z"}
                ]
            }
        },
        "pathways:cluster.maintenanceExclusions[0].end",
        {
            "pathways:cluster": {
                "maintenanceExclusions": [
                    {"name": "run", "start": "2027-01-01T00:00:00Z", "end": "2027-02-01T00:00:00Z"}
                ]
            }
        },
    ),
    (
        "maintenance-exclusions",
        {
            "pathways:cluster": {
                "maintenanceExclusions": [
                    {
                        "name": "run",
                        "start": "2027-01-01T00:00:00Z",
                        "end": "2027-09-01T00:00:00Z",
                        "scope": "NO_UPGRADES",
                    }
                ]
            }
        },
        "pathways:cluster.maintenanceExclusions[0].end",
        {},
    ),
    (
        "maintenance-exclusions",
        {
            "pathways:cluster": {
                "maintenanceExclusions": [
                    {"name": "run", "start": "2027-13-01T00:00:00Z", "end": "2027-09-01T00:00:00Z"}
                ]
            }
        },
        "pathways:cluster.maintenanceExclusions[0]",
        {},
    ),
    (
        "private-endpoint",
        {"pathways:cluster": {"privateEndpoint": True}},
        "pathways:cluster.privateEndpoint",
        {"pathways:cluster": {"privateEndpoint": True, "dnsEndpoint": True}},
    ),
    (
        "kueue-quota",
        {"pathways:kueue": {"enabled": True}, "pathways:head": {"machineType": "m9-huge-2"}},
        "pathways:head.machineType",
        {"pathways:kueue": {"enabled": True}},
    ),
    (
        "existing-network",
        {"pathways:network": {"existing": "shared"}},
        "pathways:network.existingSubnetwork",
        {"pathways:network": {"existing": "shared", "existingSubnetwork": "east"}},
    ),
    (
        "existing-network",
        {"pathways:network": {"existing": "shared", "existingSubnetwork": "east", "mtu": 1500}},
        "pathways:network.mtu",
        {},
    ),
    ("existing-network", {"pathways:network": {"podRangeName": "p"}}, "pathways:network.podRangeName", {}),
    (
        "second-network",
        {
            "gcp:region": "us-west4",
            SLICES: {"accelerator": "v5e", "topology": "4x4", "zone": "us-west4-a"},
            "pathways:network": {"second": "192.168.64.0/18"},
        },
        "pathways:network.second",
        {"pathways:network": {"second": "192.168.64.0/18"}},
    ),
    (
        "scratch-existing",
        {"pathways:scratch": {"existing": True}},
        "pathways:scratch.bucket",
        {"pathways:scratch": {"existing": True, "bucket": "mine"}},
    ),
    (
        "scratch-existing",
        {"pathways:scratch": {"existing": True, "bucket": "mine", "retentionDays": 3}},
        "pathways:scratch.retentionDays",
        {},
    ),
    (
        "elastic-slices",
        {"pathways:workload": {"elastic": {"slices": 3}}},
        "pathways:workload.elastic.slices",
        {"pathways:workload": {"elastic": {"slices": 2}}},
    ),
    (
        "elastic-slices",
        {"pathways:workload": {"elastic": {"slices": 1, "maxSliceRestarts": 2_000_000_000}}},
        "pathways:workload.elastic.maxSliceRestarts",
        {},
    ),
    (
        "elastic-mode",
        {"pathways:workload": {"mode": "service", "elastic": {"slices": 1}}},
        "pathways:workload.elastic",
        {"pathways:workload": {"mode": "service"}},
    ),
    (
        "service-clients",
        {
            f"{SLICES}.topology": "2x4",
            f"{SLICES}.machineType": "ct6e-standard-8t",
            "pathways:workload": {"mode": "service"},
        },
        f"{SLICES}.machineType",
        {f"{SLICES}.topology": "2x4", "pathways:workload": {"mode": "service"}},
    ),
    (
        "service-clients",
        {
            "gcp:region": "us-central2",
            SLICES: {"accelerator": "v4", "topology": "2x2x2", "zone": "us-central2-b"},
            "pathways:workload": {"mode": "service"},
        },
        f"{SLICES}.accelerator",
        {},
    ),
    (
        "pod-failure-policy",
        {"pathways:workload": {"exitCodes": {"fatal": [3]}}},
        "pathways:workload.exitCodes",
        {"pathways:workload": {**BATCH["pathways:workload"], "exitCodes": {"fatal": [3]}}},
    ),
    (
        "pod-failure-policy",
        {"pathways:workload": {**BATCH["pathways:workload"], "exitCodes": {"fatal": [0]}}},
        "pathways:workload.exitCodes.fatal",
        {},
    ),
    (
        "bucket-mounts",
        {"pathways:workload": {"serviceAccount": "w", "mounts": [{"bucket": "data", "path": "/tmp/data"}]}},
        "pathways:workload.mounts[0].path",
        {"pathways:workload": {"serviceAccount": "w", "mounts": [{"bucket": "data", "path": "/data"}]}},
    ),
    (
        "bucket-mounts",
        {"pathways:workload": {"mounts": [{"bucket": "data", "path": "/data"}]}},
        "pathways:workload.serviceAccount",
        {},
    ),
    (
        "suspended-under-kueue",
        {"pathways:kueue": {"enabled": True}, "pathways:workload": {"suspend": True}},
        "pathways:workload.suspend",
        {"pathways:workload": {"suspend": True}},
    ),
    (
        "reach-mode",
        {"pathways:reach": {"loadBalancer": {"allowedRanges": ["8.8.8.0/24"]}}},
        "pathways:reach.loadBalancer.allowedRanges[0]",
        {"pathways:reach": {"loadBalancer": {"allowedRanges": ["10.0.0.0/8"]}}},
    ),
    (
        "reach-mode",
        {"pathways:reach": {"loadBalancer": {"allowedRanges": ["10.0.0.1/8"]}}},
        "pathways:reach.loadBalancer.allowedRanges[0]",
        {},
    ),
    (
        "reach-mode",
        {
            "pathways:workload": {"mode": "service"},
            "pathways:reach": {"loadBalancer": {"allowedRanges": ["10.0.0.0/8"]}},
        },
        "pathways:reach.loadBalancer",
        {},
    ),
    ("platform-settings", {"pathways:director": {"minSlices": 1}}, "pathways:director", {}),
]


@pytest.mark.parametrize(
    ("identity", "broken", "path", "mended"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)]
)
def test_the_check_names_the_setting_and_accepts_the_mended_stack(
    identity: str, broken: dict[str, Any], path: str, mended: dict[str, Any]
) -> None:
    found = run(broken)
    assert (identity, path) in [(fault.id, fault.path) for fault in found]
    declared = {check.id: check.severities for check in checks.CHECKS}
    assert all(fault.severity in declared[fault.id] for fault in found if fault.id in declared)
    assert [fault for fault in run(mended) if fault.id == identity] == []


def test_every_check_has_a_failing_example_here() -> None:
    # Those of Cluster Director have theirs in tests/unit/director.
    known = {check.id for check in checks.CHECKS if check.platform != "clusterDirector"}
    assert known == {case[0] for case in CASES}


def test_a_setting_already_at_fault_is_not_blamed_twice() -> None:
    found = run({f"{SLICES}.topology": "4x5", f"{SLICES}.count": 100000})
    assert [fault.path for fault in found] == [f"{SLICES}.count", f"{SLICES}.topology"]
