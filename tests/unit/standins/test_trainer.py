"""MaxText's stand-in: what it needs to start, and a session that outlives lost slices."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from rehearsal.standins import trainer
from rehearsal.standins.trainer import TrainerError
from rehearsal.standins.wire import Peer

GIVEN = ["enable_single_controller=true", "base_output_directory=gs://b/maxtext", "run_name=r"]
JAX = {"JAX_PLATFORMS": "proxy", "JAX_BACKEND_TARGET": "grpc://127.0.0.1:29000"}


def test_settings_are_read_after_a_configuration_file() -> None:
    assert trainer.settings(["base.yml", *GIVEN, "steps=3"])["steps"] == "3"


@pytest.mark.parametrize("missing", range(len(GIVEN)))
def test_a_setting_without_which_maxtext_would_go_astray_is_asked_for(missing: int) -> None:
    with pytest.raises(TrainerError, match=GIVEN[missing].partition("=")[0]):
        trainer.settings([given for index, given in enumerate(GIVEN) if index != missing])


@pytest.mark.parametrize("change", [{"JAX_PLATFORMS": "tpu"}, {"JAX_BACKEND_TARGET": "127.0.0.1:29000"}])
def test_an_environment_that_leads_to_no_proxy_is_said(change: dict[str, str]) -> None:
    assert trainer.target(JAX) == ("127.0.0.1", 29000)
    with pytest.raises(TrainerError, match="lead to no Pathways service"):
        trainer.target(JAX | change)


def train(session: Callable[[Peer], Awaitable[None]], steps: int) -> None:
    """Trains against a proxy that a test plays."""

    async def both() -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = Peer(reader, writer)
            await peer.receive()
            await session(peer)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        async with server:
            await trainer.train("127.0.0.1", server.sockets[0].getsockname()[1], steps)

    asyncio.run(both())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "SECONDS_PER_STEP", 0.01)


def test_training_waits_for_slices_and_goes_on_when_they_change(capsys: pytest.CaptureFixture[str]) -> None:
    async def session(peer: Peer) -> None:
        peer.send({"slices": {}})
        await asyncio.sleep(0.1)
        peer.send({"slices": {"0": [], "1": []}})
        await asyncio.sleep(0.1)
        peer.send({"slices": {"1": []}})
        await peer.receive()

    train(session, 100)
    said = [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert said[said.index("completed step: 1") - 1] in ("slices: 0, 1", "slices: 1"), "a step was made without a slice"
    assert "slices: 1" in said
    assert said[-1] == "completed step: 100"


def test_a_session_that_the_proxy_ends_is_an_error_with_its_reason() -> None:
    async def session(peer: Peer) -> None:
        peer.send({"error": "more than 1 slices are lost"})
        peer.close()

    with pytest.raises(TrainerError, match="more than 1 slices are lost"):
        train(session, 5)
