"""What nodes do and kwok leaves out, one process per cluster: `python -m rehearsal.kubernetes.node_services`.

It is the way by which the API server reaches Services (egress.py), it runs the programs of Deployments that run
for real (controller_runner.py), and it stands in for GKE's controllers of load balancers (load_balancers.py) and
of node pools that scale themselves (autoscaler.py).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from rehearsal.errors import RehearsalError
from rehearsal.kubernetes.api import Api, UnreachableError
from rehearsal.kubernetes.autoscaler import Autoscaler
from rehearsal.kubernetes.controller_runner import ControllerRunner
from rehearsal.kubernetes.egress import READY, SOCKET, Address, EgressProxy
from rehearsal.kubernetes.load_balancers import LoadBalancers
from rehearsal.kubernetes.nodes import KUBELET_PORT

log = logging.getLogger("node-services")
BUSY_SECONDS = 0.15
IDLE_SECONDS = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m rehearsal.kubernetes.node_services", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="in the cluster's folder")
    parser.add_argument("--programs", type=Path, required=True, help="folder of the controllers' programs")
    parser.add_argument("--kubelets", type=int, required=True, help="loopback port that answers for every kubelet")
    parser.add_argument("--logs", type=Path, required=True, help="folder of the controllers' logs")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    folder: Path = arguments.kubeconfig.parent
    # The socket's name is relative on both sides: a unix socket's path may have 107 bytes only.
    os.chdir(folder)
    with Api.of(arguments.kubeconfig) as api:
        runner = ControllerRunner(api, arguments.kubeconfig, folder / "controllers", arguments.programs, arguments.logs)
        beside = [LoadBalancers(api).step, Autoscaler(api, folder).step]
        asyncio.run(serve(runner, beside, Path(SOCKET), Path(READY), arguments.kubelets))


async def serve(
    runner: ControllerRunner, beside: Sequence[Callable[[], None]], socket: Path, ready: Path, kubelets: int
) -> None:
    """Serve until SIGTERM or SIGINT, then end every controller. `ready` gets this process's id first.

    `beside` are steps of controllers that need no process of their own; `kubelets` is the port of all kubelets.
    """

    def resolve(address: Address) -> int | None:
        return kubelets if address[1] == KUBELET_PORT else runner.resolve(address)

    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    server = await EgressProxy(resolve).listen(socket)
    ready.write_text(str(os.getpid()))
    try:
        await asyncio.to_thread(runner.stop)  # what an earlier, killed process of this kind left behind
        while not ended.is_set():
            settled = await asyncio.to_thread(_step, runner.step)
            for step in beside:
                await asyncio.to_thread(_step, step)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), IDLE_SECONDS if settled else BUSY_SECONDS)
    finally:
        await asyncio.to_thread(runner.stop)
        server.close()


def _step(step: Callable[[], bool | None]) -> bool:
    try:
        return step() is not False
    except UnreachableError:
        return True  # the API server is starting or restarting, and its own log says why
    except RehearsalError as error:
        log.error("%s", error)
        return True


if __name__ == "__main__":
    main()
