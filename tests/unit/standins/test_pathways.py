"""The stand-ins find each other over real sockets: slices get ready, get lost, and wrong workers are refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from rehearsal.standins import worker
from rehearsal.standins.proxy import Proxy, Unready, Visit
from rehearsal.standins.resource_manager import ResourceManager

HOST = "127.0.0.1"


def environment(slice_id: int, host: int, **changes: str) -> dict[str, str]:
    """The variables of one worker of two v6e 2x4 slices."""
    return {
        "MEGASCALE_SLICE_ID": str(slice_id),
        "MEGASCALE_NUM_SLICES": "2",
        "MEGASCALE_COORDINATOR_ADDRESS": HOST,
        "TPU_WORKER_ID": str(host),
        "TPU_WORKER_HOSTNAMES": "10.0.0.1,10.0.0.2",
        "TPU_TOPOLOGY": "2x4",
        "TPU_HOST_BOUNDS": "1,2,1",
        "TPU_CHIPS_PER_HOST_BOUNDS": "2,2,1",
        **changes,
    }


@dataclass
class Service:
    """A running resource manager and proxy."""

    port: int
    proxy: Proxy
    lines: list[str]
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start_worker(self, slice_id: int, host: int, **changes: str) -> asyncio.Task[None]:
        greeting = worker.hello(environment(slice_id, host, **changes), f"10.0.{slice_id}.{host}")
        task = asyncio.create_task(worker.run(HOST, self.port, None, greeting, lambda line: None))
        self.tasks.append(task)
        return task

    async def client(self) -> Visit:
        """Enters as soon as the proxy has heard of enough slices."""
        async with asyncio.timeout(5):
            while True:
                try:
                    return self.proxy.enter("a test")
                except Unready:
                    await asyncio.sleep(0.01)

    async def said(self, line: str) -> None:
        async with asyncio.timeout(5):
            while line not in self.lines:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def service(elastic: int = 2) -> AsyncIterator[Service]:
    lines: list[str] = []
    manager, proxy = ResourceManager("tpuv6e:2x4", 2, lines.append), Proxy(elastic, lines.append)
    server = await asyncio.start_server(manager.serve, HOST, 0)
    port = int(server.sockets[0].getsockname()[1])
    running = Service(port, proxy, lines)
    running.tasks.append(asyncio.create_task(proxy.follow(HOST, port, None)))
    try:
        yield running
    finally:
        for task in running.tasks:
            task.cancel()
        await asyncio.gather(*running.tasks, return_exceptions=True)
        server.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


def test_slices_are_announced_when_all_their_hosts_are_there() -> None:
    async def scenario() -> None:
        async with service() as running:
            for slice_id, host in [(0, 0), (1, 1), (1, 0)]:
                running.start_worker(slice_id, host)
            await running.said("*** 1/2 Pathways Slices Now Ready ***")
            running.start_worker(0, 1)
            await running.said("*** 2/2 Pathways Slices Now Ready ***")
            visit = await running.client()
            assert [device.slice_index for device in visit.devices] == [0] * 8 + [1] * 8

    asyncio.run(scenario())


def test_a_client_keeps_its_session_while_a_slice_goes_and_comes_back() -> None:
    async def scenario() -> None:
        async with service() as running:
            workers = [running.start_worker(slice_id, host) for slice_id in (0, 1) for host in (0, 1)]
            await running.said("*** 2/2 Pathways Slices Now Ready ***")
            visit = await running.client()
            workers[3].cancel()
            await until(lambda: visit.lost == {1})
            running.start_worker(1, 1)
            await until(lambda: not visit.lost)
            assert visit.losses == [1], "what was on the slice stays lost"
            assert not visit.ended.is_set()

    asyncio.run(scenario())


def test_more_lost_slices_than_elastic_ones_end_the_session() -> None:
    async def scenario() -> None:
        async with service(elastic=0) as running:
            workers = [running.start_worker(slice_id, host) for slice_id in (0, 1) for host in (0, 1)]
            visit = await running.client()
            workers[0].cancel()
            await asyncio.wait_for(visit.ended.wait(), timeout=5)
            assert visit.reason.startswith("Slice 0 is lost, and 0 may be")

    asyncio.run(scenario())


def test_a_client_is_told_what_is_missing() -> None:
    async def scenario() -> None:
        async with service(elastic=0) as running:
            with pytest.raises(Unready, match="does not answer"):
                running.proxy.enter("a test")
            for host in (0, 1):
                running.start_worker(0, host)
            await running.said("*** 1/2 Pathways Slices Now Ready ***")

            def refusal() -> str:
                with pytest.raises(Unready) as refused:
                    running.proxy.check()
                return str(refused.value)

            await until(lambda: refusal() == "1 of 2 slices are ready, and 0 may be missing.")

    asyncio.run(scenario())


def test_a_second_client_is_refused_until_the_first_is_gone() -> None:
    async def scenario() -> None:
        async with service() as running:
            for host in (0, 1):
                running.start_worker(0, host)
            visit = await running.client()
            with pytest.raises(Unready, match="one client at a time, and a test is connected"):
                running.proxy.enter("another")
            visit.leave()
            running.proxy.enter("another")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"MEGASCALE_NUM_SLICES": "3"}, "MEGASCALE_NUM_SLICES=3, expected 2"),
        ({"MEGASCALE_SLICE_ID": "2"}, "MEGASCALE_SLICE_ID=2, expected 0 to 1"),
        ({"TPU_WORKER_ID": "2"}, "TPU_WORKER_ID=2, expected 0 to 1"),
        ({"TPU_TOPOLOGY": "4x4"}, "TPU_TOPOLOGY=4x4, expected that of tpuv6e:2x4"),
        ({"TPU_WORKER_HOSTNAMES": "10.0.0.1", "TPU_HOST_BOUNDS": "1,1,1"}, "its slice has 1 hosts"),
    ],
)
def test_a_worker_with_a_wrong_idea_of_the_whole_is_refused(changes: dict[str, str], said: str) -> None:
    async def scenario() -> None:
        async with service() as running:
            with pytest.raises(worker.Refused, match=said):
                await asyncio.wait_for(running.start_worker(0, 0, **changes), timeout=5)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"TPU_WORKER_ID": "one"}, "TPU_WORKER_ID=one is not a number"),
        ({"TPU_WORKER_HOSTNAMES": "10.0.0.1,10.0.0.1"}, "names a host twice"),
        ({"TPU_HOST_BOUNDS": "2,2,1"}, "another number of hosts"),
    ],
)
def test_a_worker_does_not_start_with_variables_that_contradict_each_other(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        worker.hello(environment(0, 0, **changes), HOST)


def test_a_missing_variable_is_named() -> None:
    variables = environment(0, 0)
    del variables["MEGASCALE_SLICE_ID"]
    with pytest.raises(ValueError, match="lacks MEGASCALE_SLICE_ID"):
        worker.hello(variables, HOST)
