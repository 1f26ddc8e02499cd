"""Limits of Compute Engine's quotas, as Service Usage lists them: by metric, region and, for some, VM or TPU family."""

from __future__ import annotations

import re
from typing import Any

from rehearsal.google import places, tpus
from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.services.serviceusage import SERVICE, project_of

Json = dict[str, Any]

#: A project that has asked for quota.
LIMIT = 4096


@SERVICE.handles("serviceusage.services.consumerQuotaMetrics.list")
def list_metrics(cloud: Cloud, call: Call) -> Json:
    """Every metric in every region; other services than Compute Engine have none here."""
    project, service = project_of(cloud, call), call.path["servicesId"]
    if service != "compute.googleapis.com":
        return {}
    parent = f"projects/{project.number}/services/{service}/consumerQuotaMetrics"
    return {"metrics": [_metric(parent, name, dimension, families) for name, dimension, families in _metrics()]}


def _metrics() -> list[tuple[str, str, list[str]]]:
    """Display name, and of a metric with a further dimension its name and values."""
    cpus = [(f"{family.upper()} CPUs", "", [""]) for family in ("c2", "c2d", "c3", "n2", "n2d")]
    own = [(name, "", [""]) for name in tpus.quotas() if name != tpus.PER_FAMILY]
    return [
        ("CPUs", "", [""]),
        *cpus,
        ("CPUs per VM family", "vm_family", ["C3D", "C4", "N4"]),
        *own,
        (tpus.PER_FAMILY, "tpu_family", tpus.quota_families()),
    ]


def _metric(parent: str, name: str, dimension: str, families: list[str]) -> Json:
    id = re.sub(r"\W+", "_", name.lower())
    buckets = [
        {
            "effectiveLimit": str(LIMIT),
            "defaultLimit": "0",
            "dimensions": {"region": region, **({dimension: family} if dimension else {})},
        }
        for region in places.zones()
        for family in families
    ]
    unit = "1/{project}/{region}" + (f"/{{{dimension}}}" if dimension else "")
    metric = f"compute.googleapis.com/{id}"
    return {
        "name": f"{parent}/{metric.replace('/', '%2F')}",
        "metric": metric,
        "displayName": name,
        "unit": "1",
        "consumerQuotaLimits": [
            {"name": f"{parent}/limits/{unit}", "metric": metric, "unit": unit, "quotaBuckets": buckets}
        ],
    }
