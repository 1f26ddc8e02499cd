"""Doubles for tests: one server for all of them, its state wiped after each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rehearsal.google.cloud import Cloud
from tests.unit.google.running import Double, RecordingRuntime, RecordingSlurm, serve


@dataclass
class Served:
    """The one server."""

    cloud: Cloud
    double: Double


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    runtime, slurm = RecordingRuntime(), RecordingSlurm()
    with serve(tmp_path_factory.mktemp("google"), runtime, slurm) as (cloud, url):
        double = Double(url, runtime, slurm)
        yield Served(cloud, double)
        double.http.close()


def wipe(served: Served) -> None:
    """Forget all that was made, once nothing is in the making."""
    store = served.cloud.store
    while store.list("work/"):
        time.sleep(0.005)
    with store.transaction():
        for key in store.list(""):
            store.delete(key)


@pytest.fixture
def empty(served: Served) -> Iterator[Double]:
    """A double of which nobody has asked anything yet."""
    served.double.runtime.reset()
    served.double.slurm.reset()
    yield served.double
    served.double.runtime.gate.set()
    wipe(served)


@pytest.fixture
def double(empty: Double) -> Double:
    """A double whose project has its services enabled and a network."""
    empty.enable()
    empty.network()
    return empty
