"""The stand-ins find each other over real sockets: slices get ready, get lost, and wrong workers are refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from rehearsal.standins import worker
from rehearsal.standins.proxy import Proxy
from rehearsal.standins.resource_manager import ResourceManager, hosts_of
from rehearsal.standins.wire import Message, Peer, connect

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

    manager: ResourceManager
    port: int
    proxy_port: int
    lines: list[str]
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start_worker(self, slice_id: int, host: int, **changes: str) -> asyncio.Task[None]:
        greeting = worker.hello(environment(slice_id, host, **changes), f"10.0.{slice_id}.{host}")
        task = asyncio.create_task(worker.run(HOST, self.port, None, greeting, lambda line: None))
        self.tasks.append(task)
        return task

    async def client(self) -> Peer:
        peer = await connect(HOST, self.proxy_port, None)
        peer.send({"client": "test"})
        return peer

    async def said(self, line: str) -> None:
        async with asyncio.timeout(5):
            while line not in self.lines:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def service(elastic: int = 2) -> AsyncIterator[Service]:
    lines: list[str] = []
    manager, proxy = ResourceManager("tpuv6e:2x4", 2, lines.append), Proxy(elastic, lines.append)
    servers = [await asyncio.start_server(each.serve, HOST, 0) for each in (manager, proxy)]
    ports = [int(server.sockets[0].getsockname()[1]) for server in servers]
    running = Service(manager, ports[0], ports[1], lines)
    running.tasks.append(asyncio.create_task(proxy.follow(HOST, ports[0], None)))
    try:
        yield running
    finally:
        for task in running.tasks:
            task.cancel()
        await asyncio.gather(*running.tasks, return_exceptions=True)
        for server in servers:
            server.close()


async def slices(client: Peer, expected: set[str]) -> Message:
    """Reads what the proxy tells its client until these slices are there."""
    async with asyncio.timeout(5):
        while True:
            state = await client.receive()
            assert state is not None
            if set(state["slices"]) == expected:
                return state


def test_slices_are_announced_when_all_their_hosts_are_there() -> None:
    async def scenario() -> None:
        async with service() as running:
            for slice_id, host in [(0, 0), (1, 1), (1, 0)]:
                running.start_worker(slice_id, host)
            await running.said("*** 1/2 Pathways Slices Now Ready ***")
            running.start_worker(0, 1)
            await running.said("*** 2/2 Pathways Slices Now Ready ***")
            state = await slices(await running.client(), {"0", "1"})
            assert state["slices"]["1"] == ["10.0.1.0", "10.0.1.1"]

    asyncio.run(scenario())


def test_a_client_keeps_its_session_while_a_slice_goes_and_comes_back() -> None:
    async def scenario() -> None:
        async with service() as running:
            workers = [running.start_worker(slice_id, host) for slice_id in (0, 1) for host in (0, 1)]
            await running.said("*** 2/2 Pathways Slices Now Ready ***")
            client = await running.client()
            await slices(client, {"0", "1"})
            workers[3].cancel()
            await slices(client, {"0"})
            running.start_worker(1, 1)
            await slices(client, {"0", "1"})

    asyncio.run(scenario())


def test_more_lost_slices_than_elastic_ones_end_the_session() -> None:
    async def scenario() -> None:
        async with service(elastic=0) as running:
            workers = [running.start_worker(0, host) for host in (0, 1)]
            await running.said("*** 1/2 Pathways Slices Now Ready ***")
            client = await running.client()
            await slices(client, {"0"})
            workers[0].cancel()
            async with asyncio.timeout(5):
                assert await client.receive() == {"error": "more than 0 slices are lost"}
                assert await client.receive() is None

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


@pytest.mark.parametrize(
    ("instance_type", "hosts"), [("tpuv6e:2x4", 2), ("tpuv6e1t:2x4", 1), ("tpuv5:4x4x4", 16), ("tpu7x:2x2x2", 2)]
)
def test_an_instance_type_says_how_many_hosts_a_slice_has(instance_type: str, hosts: int) -> None:
    assert hosts_of(instance_type) == hosts


@pytest.mark.parametrize("instance_type", ["tpuv6e:3x4", "v6e:2x4", "tpuv6e", "tpuv6e1t:4x4"])
def test_an_instance_type_that_does_not_exist_is_refused(instance_type: str) -> None:
    with pytest.raises(ValueError, match="unsupported instance type"):
        hosts_of(instance_type)
