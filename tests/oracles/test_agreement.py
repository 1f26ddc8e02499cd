"""For the same request other people's tools make what we make, but for the differences that are meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pathways import manifests
from tests.oracles import ask_pathwaysutils, ask_xpk, node_pools
from tests.oracles.differences import Difference, between, meant
from tests.oracles.environment import Oracles
from tests.oracles.same_requests import REQUESTS, SERVICE, Request

Ours = Callable[[Request], Any]
Theirs = Callable[[Oracles, Request], Any]


def our_job_set(request: Request) -> Any:
    return request.plan.job_set


def our_pools(request: Request) -> Any:
    return node_pools.declared(request.plan)


def our_proxy_job(request: Request) -> Any:
    return manifests.of_client(request.plan)[0]


TOOLS: dict[str, tuple[Ours, Theirs, Sequence[Request]]] = {
    "xpk workload create-pathways": (our_job_set, ask_xpk.job_set, REQUESTS),
    "xpk cluster create-pathways": (our_pools, ask_xpk.pools, REQUESTS),
    "pathwaysutils PathwaysJobSet": (our_job_set, ask_pathwaysutils.job_set, [*REQUESTS, SERVICE]),
    "pathwaysutils shared Pathways service": (our_proxy_job, ask_pathwaysutils.proxy_job, [SERVICE]),
}


@pytest.fixture(scope="module", params=TOOLS)
def compared(request: pytest.FixtureRequest, oracles: Oracles) -> tuple[str, dict[str, list[Difference]]]:
    """A tool, and its differences from ours for each request."""
    ours, theirs, requests = TOOLS[request.param]
    return request.param, {each.name: between(ours(each), theirs(oracles, each)) for each in requests}


def test_there_is_no_difference_but_those_that_are_meant(
    compared: tuple[str, dict[str, list[Difference]]],
) -> None:
    tool, found = compared
    surprises = {
        name: [str(each) for each in differences if not any(listed.covers(each) for listed in meant(tool))]
        for name, differences in found.items()
    }
    assert surprises == {name: [] for name in found}


def test_every_difference_that_is_meant_is_there(compared: tuple[str, dict[str, list[Difference]]]) -> None:
    tool, found = compared
    every = [difference for differences in found.values() for difference in differences]
    assert [listed.place for listed in meant(tool) if not any(map(listed.covers, every))] == []
