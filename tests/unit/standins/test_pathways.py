"""The stand-ins find each other over real sockets: slices get ready, get lost, and wrong workers are refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from rehearsal.standins import worker
from rehearsal.standins.flags import Flags, parse
from rehearsal.standins.proxy import Proxy, Unready, Visit
from rehearsal.standins.resource_manager import ResourceManager
from rehearsal.standins.wire import Refused

HOST = "127.0.0.1"
ELASTIC = "--num_elastic_slices=2"


def environment(slice_id: int, host: int, **changes: str) -> dict[str, str]:
    """The variables of one worker of two v6e 2x4 slices."""
    return {
        "MEGASCALE_SLICE_ID": str(slice_id),
        "MEGASCALE_NUM_SLICES": "2",
        "MEGASCALE_COORDINATOR_ADDRESS": HOST,
        "TPU_WORKER_ID": str(host),
        "TPU_WORKER_HOSTNAMES": "host-1,host-2",
        "TPU_TOPOLOGY": "2x4",
        "XCLOUD_ENVIRONMENT": "GCP",
        "TPU_HOST_BOUNDS": "1,2,1",
        "TPU_CHIPS_PER_HOST_BOUNDS": "2,2,1",
        **changes,
    }


def server_flags(program: str, port: int, *flags: str, tag: str = "jax-0.10.2") -> Flags:
    common = ["--server_port=29001", f"--resource_manager_address={HOST}:{port}", "--gcs_scratch_location=gs://scratch"]
    return parse(program, tag, [*common, *flags])


def worker_flags(port: int, *flags: str) -> Flags:
    return server_flags("server", port, *(flag for flag in flags if flag))


@dataclass
class Service:
    """A running resource manager and proxy."""

    port: int
    manager: ResourceManager
    proxy: Proxy
    lines: list[str]
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start_worker(self, slice_id: int, host: int, **changes: str) -> asyncio.Task[None]:
        flags = changes.pop("flags", "")
        greeting = worker.hello(
            worker_flags(self.port, flags), environment(slice_id, host, **changes), f"10.0.{slice_id}.{host}"
        )
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
async def service(*proxy_flags: str) -> AsyncIterator[Service]:
    lines: list[str] = []
    manager = ResourceManager("tpuv6e:2x4", 2, worker_flags(1).shared, lines.append, patience=0.2)
    server = await asyncio.start_server(manager.serve, HOST, 0)
    port = int(server.sockets[0].getsockname()[1])
    proxy = Proxy(server_flags("proxy_server", port, *proxy_flags), lines.append)
    running = Service(port, manager, proxy, lines)
    running.tasks.append(asyncio.create_task(proxy.follow(None)))
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
        async with service(ELASTIC) as running:
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
        async with service() as running:
            workers = [running.start_worker(slice_id, host) for slice_id in (0, 1) for host in (0, 1)]
            visit = await running.client()
            workers[0].cancel()
            await asyncio.wait_for(visit.ended.wait(), timeout=5)
            assert visit.reason.startswith("Slice 0 is lost, and 0 may be")

    asyncio.run(scenario())


def test_a_client_is_told_what_is_missing() -> None:
    async def scenario() -> None:
        async with service() as running:
            with pytest.raises(Unready, match=r"\(--resource_manager_address\): the resource manager at .* does not"):
                running.proxy.enter("a test")
            for host in (0, 1):
                running.start_worker(0, host)
            await running.said("*** 1/2 Pathways Slices Now Ready ***")

            def refusal() -> str:
                with pytest.raises(Unready) as refused:
                    running.proxy.check()
                return str(refused.value)

            await until(
                lambda: refusal() == "1 of 2 slices are ready, and 0 may be missing (without --num_elastic_slices)."
            )

    asyncio.run(scenario())


def test_a_second_client_is_refused_until_the_first_is_gone() -> None:
    async def scenario() -> None:
        async with service(ELASTIC) as running:
            for host in (0, 1):
                running.start_worker(0, host)
            visit = await running.client()
            with pytest.raises(Unready, match="one client at a time, and a test is connected"):
                running.proxy.enter("another")
            visit.leave()
            running.proxy.enter("another")

    asyncio.run(scenario())


def test_proxies_with_virtual_slices_share_the_slices_and_a_later_one_waits_for_its_turn() -> None:
    one = "--virtual_slices=tpuv6e:2x4"

    async def scenario() -> None:
        async with service(one) as running:
            for slice_id in (0, 1):
                for host in (0, 1):
                    running.start_worker(slice_id, host)
            first = await running.client()
            others = [Proxy(server_flags("proxy_server", running.port, one), lambda line: None) for _ in range(2)]
            tasks = [asyncio.create_task(other.follow(None)) for other in others]
            await until(lambda: len(running.manager.wanted) == 3 and len(running.manager.granted) == 2)
            assert sorted(running.manager.granted.values()) == [[0], [1]]
            ready = [other for other in others if not refusal(other)]
            [waiting] = [other for other in others if refusal(other)]
            assert "asks for 1 slice, and fewer are free" in refusal(waiting)
            second = ready[0].enter("another")
            # Each sees a whole of its own, counted from 0.
            for visit in (first, second):
                assert [device.id for device in visit.devices] == list(range(8)) and visit.device_count == 8
            tasks[others.index(ready[0])].cancel()
            await until(lambda: not refusal(waiting))
            assert len(waiting.enter("a third").devices) == 8
            tasks[others.index(waiting)].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(scenario())


def refusal(proxy: Proxy) -> str:
    """Why a proxy would not let a client in; empty where it would."""
    try:
        proxy.check()
    except Unready as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"MEGASCALE_NUM_SLICES": "3"}, "MEGASCALE_NUM_SLICES=3, expected 2"),
        ({"MEGASCALE_SLICE_ID": "2"}, "MEGASCALE_SLICE_ID=2, expected 0 to 1"),
        ({"TPU_WORKER_ID": "2"}, "TPU_WORKER_ID=2, expected 0 to 1"),
        ({"TPU_TOPOLOGY": "4x4"}, "TPU_TOPOLOGY=4x4, tpuv6e:2x4 has 2x4"),
        ({"TPU_WORKER_HOSTNAMES": "host-1"}, "its slice has 1 hosts"),
        ({"TPU_HOST_BOUNDS": "2,1,1"}, "TPU_HOST_BOUNDS=2,1,1, tpuv6e:2x4 has 1,2,1"),
        ({"TPU_CHIPS_PER_HOST_BOUNDS": "2,4,1"}, "TPU_CHIPS_PER_HOST_BOUNDS=2,4,1, tpuv6e:2x4 has 2,2,1"),
    ],
)
def test_a_worker_with_a_wrong_idea_of_the_whole_is_refused(changes: dict[str, str], said: str) -> None:
    async def scenario() -> None:
        async with service() as running:
            with pytest.raises(Refused, match=said):
                await asyncio.wait_for(running.start_worker(0, 0, **changes), timeout=5)

    asyncio.run(scenario())


def test_two_workers_of_the_same_place_are_told_apart() -> None:
    async def scenario() -> None:
        async with service() as running:
            running.start_worker(0, 0)
            await until(lambda: len(running.manager.workers) == 1)
            second = worker.hello(worker_flags(running.port), environment(0, 0), "10.0.0.77")
            with pytest.raises(
                Refused, match="MEGASCALE_SLICE_ID=0 and TPU_WORKER_ID=0, and so has the worker at 10.0.0.0"
            ):
                await asyncio.wait_for(worker.run(HOST, running.port, None, second, lambda line: None), timeout=20)

    asyncio.run(scenario())


def test_workers_of_a_slice_agree_on_its_hosts() -> None:
    async def scenario() -> None:
        async with service() as running:
            running.start_worker(0, 0)
            await until(lambda: len(running.manager.workers) == 1)
            with pytest.raises(Refused, match="TPU_WORKER_HOSTNAMES=host-1,host-3"):
                stranger = running.start_worker(0, 1, TPU_WORKER_HOSTNAMES="host-1,host-3")
                await asyncio.wait_for(stranger, timeout=5)

    asyncio.run(scenario())


def test_all_servers_have_one_scratch_location_and_one_image() -> None:
    async def scenario() -> None:
        async with service() as running:
            with pytest.raises(Refused, match="its --gcs_scratch_location is gs://other, here it is gs://scratch"):
                await asyncio.wait_for(running.start_worker(0, 0, flags="--gcs_scratch_location=gs://other"), timeout=5)
            proxy = Proxy(server_flags("proxy_server", running.port, tag="jax-0.11.1"), lambda line: None)
            with pytest.raises(Refused, match="its image tag is jax-0.11.1, here it is jax-0.10.2"):
                await asyncio.wait_for(proxy.follow(None), timeout=5)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--num_elastic_slices=3", "--num_elastic_slices=3, and .* has 2 slices"),
        ("--virtual_slices=tpuv6e:2x4,tpuv6e:2x4,tpuv6e:2x4", "has 2 slices of tpuv6e:2x4"),
        ("--virtual_slices=tpuv6e:4x4", "has 2 slices of tpuv6e:2x4"),
    ],
)
def test_a_proxy_for_other_slices_ends(flag: str, said: str) -> None:
    async def scenario() -> None:
        async with service() as running:
            proxy = Proxy(server_flags("proxy_server", running.port, flag), lambda line: None)
            with pytest.raises(ValueError, match=said):
                await asyncio.wait_for(proxy.follow(None), timeout=5)

    asyncio.run(scenario())
