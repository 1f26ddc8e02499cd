"""Worker, proxy and colocated-Python sidecar have to agree that there is one."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

import pytest

from rehearsal.kubernetes.agent import colocated_python
from rehearsal.processes import free_port
from rehearsal.standins import sidecar
from rehearsal.standins.proxy import Unready
from tests.unit.standins.test_pathways import HOST, Service, service, worker_flags

FOLDER = "/tmp/shared-memory"
FLAG = f"--{sidecar.FLAG}={FOLDER}"
MOUNTS = f"tmpfs {FOLDER} tmpfs rw 0 0\n"


@pytest.mark.parametrize(
    ("flag", "variable", "mounts", "message"),
    [
        (FLAG, "", MOUNTS, f"{FLAG} and CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY= have"),
        ("", FOLDER, MOUNTS, "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY=/tmp/shared-memory have to name the same folder"),
        (FLAG, FOLDER, "tmpfs /tmp tmpfs rw 0 0\n", f"{FLAG} is no volume of this container"),
    ],
)
def test_a_worker_whose_sidecar_would_share_no_memory_is_refused(
    flag: str, variable: str, mounts: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        sidecar.folder(worker_flags(1, flag), {sidecar.VARIABLE: variable}, mounts)
    assert sidecar.folder(worker_flags(1, FLAG), {sidecar.VARIABLE: FOLDER}, MOUNTS) == FOLDER
    assert sidecar.folder(worker_flags(1), {}, MOUNTS) == ""


def test_a_worker_meets_the_sidecar_of_its_jax_version() -> None:
    async def meet(image: str, tag: str, patience: float = 5) -> None:
        port = free_port()
        serving = asyncio.create_task(colocated_python.serve(HOST, port, image))
        try:
            await sidecar.meet(HOST, tag, patience, port)
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving

    asyncio.run(meet("example.com/sidecar:python_3.12-jax_0.11.1", "jax-0.11.1"))
    with pytest.raises(ValueError, match=r"for JAX 0\.11\.2; this worker is for 0\.11\.1"):
        asyncio.run(meet("example.com/sidecar:python_3.12-jax_0.11.2", "jax-0.11.1"))
    with pytest.raises(ValueError, match="GRPC_SERVER_ADDRESS"):
        asyncio.run(sidecar.meet(HOST, "jax-0.11.1", patience=0, port=free_port()))


@pytest.mark.parametrize(
    ("flags", "worker", "message"),
    [
        ((), True, r"sidecars \(--cloud_pathways_sidecar_shm_directory\), of which the proxy knows nothing"),
        (("--sidecar_name=external",), False, "The proxy has --sidecar_name, and no worker"),
        ((), False, ""),
        (("--sidecar_name=external",), True, ""),
    ],
)
def test_a_proxy_tells_its_client_where_the_workers_see_it_otherwise(
    flags: tuple[str, ...], worker: bool, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidecar, "folder", lambda *_: FOLDER if worker else "")

    async def refusal(running: Service) -> str:
        for index in range(4):
            running.start_worker(*divmod(index, 2))
        await running.said("*** 2/2 Pathways Slices Now Ready ***")
        async with asyncio.timeout(5):
            while True:
                try:
                    running.proxy.enter("a test")
                except Unready as error:
                    if error.passing:
                        await asyncio.sleep(0.01)
                        continue
                    return str(error)
                return ""

    async def scenario() -> str:
        async with service(*flags) as running:
            return await refusal(running)

    said = asyncio.run(scenario())
    assert re.search(message, said) if message else said == ""
