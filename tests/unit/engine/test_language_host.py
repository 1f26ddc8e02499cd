"""The language host as the engine meets it: over its protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import language_pb2

from rehearsal.home import CHECKOUT
from tests.processes import gone
from tests.unit.engine.conftest import Host


def wait_for_file(path: Path) -> str:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.02)
    return path.read_text()


def test_a_program_is_told_the_stack_and_its_configuration(host: Host, tmp_path: Path) -> None:
    request = host.program(tmp_path)
    request.config["p:slices"] = '{"count":2}'
    request.configSecretKeys.append("p:token")
    request.monitor_address, request.dryRun, request.organization = "monitor:2", True, "org"
    assert host.client.Run(request) == language_pb2.RunResponse()
    record = json.loads((tmp_path / "record.json").read_text())
    options = dict(zip(record["argv"][:-1:2], record["argv"][1::2], strict=True))
    assert options == {
        "--monitor": "monitor:2",
        "--engine": "engine:1",
        "--project": "p",
        "--root_directory": str(tmp_path),
        "--stack": "s",
        "--pwd": str(tmp_path),
        "--dry_run": "true",
        "--parallel": "4",
        "--organization": "org",
    }
    assert record["argv"][-1] == str(tmp_path / "program.json")
    assert json.loads(record["env"]["PULUMI_CONFIG"]) == {"p:slices": '{"count":2}'}
    assert json.loads(record["env"]["PULUMI_CONFIG_SECRET_KEYS"]) == ["p:token"]
    assert record["env"]["VIRTUAL_ENV"] == sys.prefix


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ({"code": 0}, language_pb2.RunResponse()),
        ({"code": 32}, language_pb2.RunResponse(bail=True)),
        ({"code": 3}, language_pb2.RunResponse(error="Program exited with non-zero exit code: 3")),
        ({"signal": 9}, language_pb2.RunResponse(error="Program was ended by signal 9 (SIGKILL)")),
    ],
)
def test_how_a_program_ended_is_what_the_engine_reports(
    host: Host, tmp_path: Path, ending: dict[str, int], expected: language_pb2.RunResponse
) -> None:
    assert host.client.Run(host.program(tmp_path, **ending)) == expected


def test_a_virtualenv_that_is_missing_is_named_with_what_makes_it(host: Host, tmp_path: Path) -> None:
    request = host.program(tmp_path)
    request.info.options.update({"virtualenv": "venv"})
    error = host.client.Run(request).error
    assert f"{tmp_path}/venv, which does not exist" in error
    assert "pulumi install" in error


def test_a_toolchain_that_is_not_served_is_refused_by_name(host: Host, tmp_path: Path) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        host.client.GetRequiredPackages(
            language_pb2.GetRequiredPackagesRequest(info=host.info(tmp_path, toolchain="poetry"))
        )
    assert "toolchain: poetry is not served" in caught.value.details()


def test_the_type_checker_stops_a_program_with_what_it_found(host: Host, tmp_path: Path) -> None:
    request = host.program(tmp_path)
    request.info.options.update({"typechecker": "mypy"})
    (tmp_path / "wrong.py").write_text("count: int = 'two'\n")
    error = host.client.Run(request).error
    assert error.startswith("mypy failed:")
    assert "wrong.py:1" in error
    assert not (tmp_path / "record.json").exists()


def test_cancel_ends_the_program_and_its_run(tmp_path: Path) -> None:
    host = Host(tmp_path)
    try:
        run = host.client.Run.future(host.program(tmp_path, sleep=60))
        pid = json.loads(wait_for_file(tmp_path / "record.json"))["pid"]
        host.client.Cancel(Empty())
        assert run.code() is grpc.StatusCode.CANCELLED
        assert gone(pid)
    finally:
        host.close()


def test_an_interrupted_host_ends_its_program_and_prints_no_traceback(tmp_path: Path) -> None:
    host = Host(tmp_path)
    run = host.client.Run.future(host.program(tmp_path, sleep=60))
    pid = json.loads(wait_for_file(tmp_path / "record.json"))["pid"]
    # The engine interrupts the whole process group.
    os.killpg(host.process.pid, signal.SIGINT)
    assert host.process.wait(timeout=20) == 0
    assert gone(pid)
    assert host.stderr == ""
    assert run.code() is not grpc.StatusCode.OK


def test_a_host_whose_engine_was_killed_leaves_with_its_program(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "host = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)\n"
        "print(host.pid, host.stdout.readline().strip(), flush=True)\n"
        "time.sleep(60)\n"
    )
    argv = [sys.executable, "-m", "rehearsal.engine", "--use-executor", "none"]
    with subprocess.Popen(
        [sys.executable, str(script), *argv], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdout is not None
        pid = int(engine.stdout.readline().split()[0])
        engine.kill()
    assert gone(pid)


def test_a_host_whose_engine_was_gone_before_it_began_leaves_at_once(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    argv = [sys.executable, "-m", "rehearsal.engine", "--use-executor", "none"]
    with (tmp_path / "stderr").open("w") as stderr:
        host = subprocess.Popen(argv, cwd=CHECKOUT, stdout=writer, stderr=stderr)
    os.close(writer)
    try:
        assert host.wait(timeout=60) == 0
    finally:
        host.kill()
        host.wait()
    assert (tmp_path / "stderr").read_text() == ""


def test_it_listens_on_loopback_only(host: Host) -> None:
    listening = {
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{host.process.pid}/net/{table}").read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{host.port:04X}") and line.split()[3] == "0A"
    }
    # 127.0.0.1 as the kernel writes it, or as an IPv6 socket holds it.
    loopback = {f"0100007F:{host.port:04X}", f"0000000000000000FFFF00000100007F:{host.port:04X}"}
    assert listening
    assert listening <= loopback


def test_a_plugin_runs_with_the_arguments_and_variables_it_is_given(host: Host, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['COLOUR'], os.getcwd())\n"
        "print('oops', file=sys.stderr)\nsys.exit(7)\n"
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    request = language_pb2.RunPluginRequest(
        kind="resource",
        pwd=str(elsewhere),
        args=["engine:1", "--flag"],
        env=["COLOUR=red=dark"],
        info=host.info(tmp_path),
    )
    answers = list(host.client.RunPlugin(request))
    assert b"".join(answer.stdout for answer in answers) == (f"['engine:1', '--flag'] red=dark {elsewhere}\n".encode())
    assert b"".join(answer.stderr for answer in answers) == b"oops\n"
    assert answers[-1].exitcode == 7


def test_a_plugin_ends_when_the_engine_lets_go_of_it(host: Host, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    request = language_pb2.RunPluginRequest(kind="resource", pwd=str(tmp_path), info=host.info(tmp_path))
    answers = host.client.RunPlugin(request)
    pid = int(next(answers).stdout)
    answers.cancel()
    assert gone(pid)


def test_a_policy_pack_starts_through_the_policy_runner(host: Host, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import sys\nprint('pack', sys.argv[1:])\n")
    request = language_pb2.RunPluginRequest(kind="analyzer", args=["engine:1"], info=host.info(tmp_path))
    answers = list(host.client.RunPlugin(request))
    output = b"".join(answer.stdout for answer in answers)
    assert output == f"pack ['engine:1', '{tmp_path}']\n".encode()
    assert answers[-1].exitcode == 0


@pytest.mark.parametrize("name", ["GeneratePackage", "GenerateProgram", "GenerateProject", "Link", "Pack"])
def test_what_is_not_served_says_so(host: Host, name: str) -> None:
    request = getattr(language_pb2, f"{name}Request")()
    with pytest.raises(grpc.RpcError) as caught:
        getattr(host.client, name)(request)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "install the official Pulumi" in caught.value.details()
