"""Cases for pathways/checks/scratch.py."""

from __future__ import annotations

from tests.unit.core.check_cases import Case

CASES: list[Case] = [
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
]
