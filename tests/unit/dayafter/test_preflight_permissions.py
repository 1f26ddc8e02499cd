"""Preflight by a caller who may not do everything: what is missing, and which roles are enough."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from cli.cloud.google import Google
from tests.unit.dayafter.conftest import Surroundings
from tests.unit.dayafter.test_preflight_findings import BUCKET, EXISTING_BUCKET, Ask, bucket, the
from tests.unit.google.running import PROJECT


@pytest.mark.parametrize("base", ["gke-v6e", "slurm-v6e"])
def test_the_roles_that_the_fix_names_are_enough_and_fewer_are_not(
    ask: Ask, caller: Callable[..., Google], base: str
) -> None:
    few = the(ask(base, by=caller("roles/viewer")), "caller-permitted", "error")
    advised = re.findall(r"roles/[\w.]+", few.fix)
    assert {"roles/serviceusage.serviceUsageAdmin", "roles/storage.admin"} < set(advised)
    the(ask(base, by=caller("roles/viewer", *advised)), "caller-permitted", "ok")
    for role in advised:
        rest = [each for each in advised if each != role]
        assert role in the(ask(base, by=caller("roles/viewer", *rest)), "caller-permitted", "error").fix


def test_a_bucket_of_others_is_usable_as_far_as_its_policy_grants(
    cloud: Surroundings, ask: Ask, caller: Callable[..., Google]
) -> None:
    bucket(cloud)
    by = caller("roles/viewer")
    member = f"serviceAccount:deployer@{PROJECT}.iam.gserviceaccount.com"
    policy = f"/storage/storage/v1/b/{BUCKET}/iam"
    lacking = the(ask(by=by, **EXISTING_BUCKET), "bucket-usable", "error")
    assert "storage.buckets.getIamPolicy, storage.buckets.setIamPolicy" in lacking.evidence
    cloud.double.call("PUT", policy, {"bindings": [{"role": "roles/storage.admin", "members": [member]}]})
    the(ask(by=by, **EXISTING_BUCKET), "bucket-usable", "ok")
    cloud.double.call("PUT", policy, {"bindings": []})
    assert "refuses" in the(ask(by=by, **EXISTING_BUCKET), "bucket-usable", "unknown").evidence
