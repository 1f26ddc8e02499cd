"""Cases for pathways/checks/cluster.py."""

from __future__ import annotations

from tests.unit.core.check_cases import BATCH, SLICES, Case

CASES: list[Case] = [
    (
        "gke-version",
        {"pathways:cluster": {"version": "1.30.1-gke.100"}},
        "pathways:cluster.version",
        {"pathways:cluster": {"version": "1.35"}},
    ),
    ("gke-version", {"pathways:cluster": {"version": "newest"}}, "pathways:cluster.version", {}),
    ("name-lengths", {"pathways:name": "n" * 25}, "pathways:name", {"pathways:name": "n" * 24}),
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
        "jobset-version",
        {"pathways:jobset": {"version": "0.7.0"}},
        "pathways:jobset.version",
        {"pathways:jobset": {"version": "0.8.0"}},
    ),
    ("jobset-version", {"pathways:jobset": {"version": "new"}}, "pathways:jobset.version", {}),
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
]
