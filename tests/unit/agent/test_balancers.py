"""Load balancers of a rehearsed cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from rehearsal.kubernetes.agent import addresses
from rehearsal.kubernetes.agent.addresses import Loopback
from rehearsal.kubernetes.agent.balancers import Balancers
from rehearsal.kubernetes.agent.surroundings import Surroundings
from rehearsal.kubernetes.api import Api
from rehearsal.processes import free_port
from tests.unit.agent.samples import container, pod

Json = dict[str, Any]
FRONT, POD = "10.131.255.254", "10.128.0.9"
HEAD = {"job": "head"}


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    loopback = Loopback(tmp_path)
    loopback.claim()
    return Surroundings(
        api=cast(Api, None),
        server=("127.0.0.1", "1"),
        folder=tmp_path,
        logs=tmp_path,
        loopback=loopback,
        client=tmp_path,
        identity=lambda *_: {},
        nodes={},
        pods={},
        services={},
    )


def service(port: int, target: int | str, selector: dict[str, str] | None = None) -> Json:
    return {
        "metadata": {"uid": "service", "name": "proxy", "namespace": "default"},
        "spec": {
            "type": "LoadBalancer",
            "selector": selector or HEAD,
            "ports": [{"port": port, "targetPort": target, "protocol": "TCP"}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": FRONT}]}},
    }


def head(ready: bool = True, port: int = 1) -> Json:
    made = pod(container(ports=[{"name": "proxy", "containerPort": port}]), labels=HEAD)
    made["status"] = {"podIP": POD, "conditions": [{"type": "Ready", "status": str(ready)}]}
    return made


async def ask(around: Surroundings, a_service: Json, a_pod: Json, port: int) -> bytes:
    """What answers at the load balancer, while the pod answers `served` at its own port."""

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"served")
        writer.close()

    behind = free_port()
    a_pod["spec"]["containers"][0]["ports"] = [{"name": "proxy", "containerPort": behind}]
    ports = a_service["spec"]["ports"]
    ports[0]["targetPort"] = "proxy" if ports[0]["targetPort"] == "proxy" else behind
    around.services["service"], around.pods["pod"] = a_service, a_pod
    balancers = Balancers(around)
    async with await asyncio.start_server(serve, around.loopback.of(POD), behind):
        balancers.changed(a_service, there=True)
        local = addresses.standing_for(around.folder, FRONT)
        try:
            async with asyncio.timeout(10):
                while True:
                    try:
                        reader, writer = await asyncio.open_connection(local, port)
                        break
                    except ConnectionError:
                        await asyncio.sleep(0.02)
                said = await reader.read()
                writer.close()
                return said
        finally:
            balancers.changed(a_service, there=False)


@pytest.mark.parametrize("target", [0, "proxy"], ids=["by number", "by name"])
def test_a_connection_reaches_a_pod_that_the_service_selects(around: Surroundings, target: int | str) -> None:
    port = free_port()
    assert asyncio.run(ask(around, service(port, target), head(), port)) == b"served"


@pytest.mark.parametrize(
    ("selector", "ready"), [({"job": "worker"}, True), (HEAD, False)], ids=["selector", "not ready"]
)
def test_nobody_answers_where_no_pod_is_selected_or_ready(
    around: Surroundings, selector: dict[str, str], ready: bool
) -> None:
    port = free_port()
    assert asyncio.run(ask(around, service(port, 0, selector), head(ready), port)) == b""
