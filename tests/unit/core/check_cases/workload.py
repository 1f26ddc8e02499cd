"""Cases for pathways/checks/workload.py."""

from __future__ import annotations

from tests.unit.core.check_cases import BATCH, SLICES, Case

CASES: list[Case] = [
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
        "workload-namespace",
        {"pathways:workload": {"namespace": "kube-system"}},
        "pathways:workload.namespace",
        {"pathways:workload": {"namespace": "training"}},
    ),
    ("workload-namespace", {"pathways:workload": {"namespace": "kueue-system"}}, "pathways:workload.namespace", {}),
    (
        "priority-class",
        {"pathways:workload": {"priorityClass": "mine"}},
        "pathways:workload.priorityClass",
        {"pathways:workload": {"priorityClass": "high"}},
    ),
    (
        "priority-class",
        {"pathways:workload": {"priorityClass": "mine"}},
        "pathways:workload.priorityClass",
        {"pathways:workload": {"priorityClass": "mine"}, "pathways:cluster": {"existing": "shared"}},
    ),
]
