"""Runs of containers: real processes in namespaces of their own."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rehearsal.kubernetes.agent.container import UNKNOWN, Command, Exit, Run, StartError, runs, signal_all
from rehearsal.kubernetes.agent.volumes import Mount
from rehearsal.processes import running, wait_for


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "containers" / "main"
    signal_all(tmp_path)


def command(folder: Path, script: str, **changes: Any) -> Command:
    known: dict[str, Any] = {
        "argv": ["sh", "-c", script],
        "env": {"PATH": "/usr/bin:/bin"},
        "hostName": "node-0",
        "workingDir": "/",
        "log": str(folder / "main.log"),
        "mounts": [],
        "kept": [],
    }
    return Command(**(known | changes))


async def _run(folder: Path, wanted: Command) -> Exit:
    run = Run(folder / "0")
    await run.start(wanted)
    return await run.wait()


def run(folder: Path, script: str, **changes: Any) -> tuple[int, list[str]]:
    """Exit code of a script, and the lines of its log without their times."""
    end = asyncio.run(_run(folder, command(folder, script, **changes)))
    return end.code, [line.split(" ", 1)[1] for line in (folder / "main.log").read_text().splitlines()]


def test_output_is_logged_in_the_form_that_kubectl_logs_reads_and_the_code_kept(folder: Path) -> None:
    code, lines = run(folder, "echo one; echo two >&2; printf three; exit 7")
    assert code == 7
    assert sorted(lines) == ["stderr F two", "stdout F one", "stdout F three"]


def test_it_has_its_own_host_name_and_hosts_file(folder: Path, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.1.2.3 head-0.pathways\n")
    mounts: list[Mount] = [(str(hosts), "/etc/hosts", False)]
    _, lines = run(folder, "hostname; getent hosts head-0.pathways", mounts=mounts)
    assert lines[0] == "stdout F node-0"
    assert lines[1].split()[2:] == ["127.1.2.3", "head-0.pathways"]


def test_volumes_may_lie_where_this_machine_has_no_folder_and_change_nothing_there(
    folder: Path, tmp_path: Path
) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    places = ["/no-such-folder/data", "/usr/no-such-folder", "/var/run/secrets/deep/down"]
    mounts: list[Mount] = [(str(volume), place, False) for place in places]
    code, lines = run(folder, f"echo kept > {places[0]}/file; cat {places[1]}/file {places[2]}/file", mounts=mounts)
    assert (code, lines) == (0, ["stdout F kept"] * 2)
    assert (volume / "file").read_text() == "kept\n"
    assert not any(Path(place).exists() for place in places)


def test_a_read_only_volume_cannot_be_written_to(folder: Path, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    code, _ = run(folder, "touch /data/file", mounts=[(str(volume), "/data", True)])
    assert code != 0 and not list(volume.iterdir())


def test_what_is_kept_stays_visible_under_a_volume(folder: Path, tmp_path: Path) -> None:
    """A checkout may lie in /tmp, which Pathways' pods share as a volume."""
    volume, kept = tmp_path / "volume", tmp_path / "kept"
    volume.mkdir()
    kept.mkdir()
    (kept / "file").write_text("here")
    (tmp_path / "hidden").write_text("gone")
    place = str(tmp_path)
    script = f"cat {kept}/file; ls {tmp_path}"
    _, lines = run(folder, script, mounts=[(str(volume), place, False)], kept=[str(kept)])
    assert lines == ["stdout F herekept"]


def test_the_working_folder_is_made(folder: Path) -> None:
    assert run(folder, "pwd", workingDir="/workspace/job") == (0, ["stdout F /workspace/job"])
    assert not Path("/workspace/job").exists()


def test_a_program_that_does_not_exist_is_named(folder: Path) -> None:
    wanted = command(folder, "", argv=["no-such-program"])
    with pytest.raises(StartError, match='exec: "no-such-program"'):
        asyncio.run(_run(folder, wanted))


def test_sigterm_reaches_it_and_what_it_left_running_ends_with_it(folder: Path) -> None:
    async def stop() -> tuple[Exit, int]:
        run = Run(folder / "0")
        script = "sleep 1000 & trap 'exit 5' TERM; echo $!; while :; do sleep 0.05; done"
        await run.start(command(folder, script))
        while not (said := (folder / "main.log").read_text().split()):
            await asyncio.sleep(0.05)
        run.signal(signal.SIGTERM)
        return await run.wait(), int(said[-1])

    end, left = asyncio.run(stop())
    assert end.code == 5
    wait_for(lambda: not running(left), "what it had started is gone", timeout=10)


@pytest.mark.parametrize("milliseconds", [0, 10, 30, 50, 80, 120])
def test_one_that_is_called_off_while_it_starts_leaves_no_process(folder: Path, milliseconds: int) -> None:
    async def call_off() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(
                Run(folder / "0").start(command(folder, f"sleep 600 # {folder}")), milliseconds / 1000
            )
            signal_all(folder.parents[1])  # it was faster

    def left() -> list[psutil.Process]:
        processes = psutil.process_iter(["cmdline"])
        return [each for each in processes if str(folder) in " ".join(each.info["cmdline"] or ())]

    asyncio.run(call_off())
    wait_for(lambda: not left(), "no process is left", timeout=10)


def test_a_later_agent_finds_it_and_hears_how_it_ends(folder: Path) -> None:
    async def start() -> None:
        await Run(folder / "0").start(command(folder, "echo out of memory; sleep 0.5; exit 9"))

    async def find() -> Exit:
        [found] = runs(folder)
        assert found.alive
        return await found.wait()

    asyncio.run(start())
    end = asyncio.run(find())
    assert (end.code, end.reason, end.message) == (9, "Error", "out of memory")


def test_a_run_whose_shim_is_killed_is_killed_too_and_its_end_unknown(folder: Path) -> None:
    run = Run(folder / "0")

    async def lose() -> Exit:
        await run.start(command(folder, "sleep 1000"))
        assert run._shim is not None
        run._shim.kill()
        return await run.wait()

    end = asyncio.run(lose())
    assert (end.code, end.reason) == (137, UNKNOWN)
    wait_for(lambda: not running(run.pid), "the container's process is gone", timeout=10)
