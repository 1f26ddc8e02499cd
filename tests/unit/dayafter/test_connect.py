"""`pathways connect`: the variables, the environment it starts a program in, and the bytes it forwards."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from cli.cloud import login
from cli.cloud.errors import CloudError
from cli.connect.forward import forwarded
from cli.connect.python import environment, packages
from cli.stacks import FOLDER
from pathways import stackfile
from tests.unit.dayafter.conftest import Stack, Surroundings
from tests.unit.google.test_google_cluster_director import CLUSTERS, body, finished

JAX = "0.11.1"


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["connect", *arguments], prog_name="pathways")


def venv(root: Path, jax: str) -> Path:
    """A virtual environment that has JAX of that version, as far as its metadata say."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True)
    [packages] = root.glob("lib/python*/site-packages")
    info = packages / f"jax-{jax}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: jax\nVersion: {jax}\n")
    return root


def test_a_shell_can_evaluate_the_variables() -> None:
    done = connect("-s", "gke-v6e", "--print-env", "--port", "31000")
    assert done.exit_code == 0
    script = done.stdout + 'printf "%s %s" "$JAX_PLATFORMS" "$JAX_BACKEND_TARGET"'
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "proxy grpc://127.0.0.1:31000"
    assert "--hold --port 31000" in done.stderr


def test_a_proxy_that_is_not_for_clients_from_outside_is_refused() -> None:
    done = connect("-s", "gke-v5p-elastic")
    assert done.exit_code == 3 and "pathways logs client" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "there"),
    [
        (["--", "python3", "-c", "print(1)"], "bash {}/run_client.sh python3 -c 'print(1)'"),
        ([], "bash {}/run_client.sh bash -i"),
        (["--jupyter"], "sbatch {}/run_jupyter.sh"),
    ],
)
def test_on_cluster_director_clients_run_on_the_login_node(
    cloud: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], there: str
) -> None:
    finished(cloud.double, cloud.double.call("POST", f"{CLUSTERS}?clusterId=pathways", body()))
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$4" > {tmp_path}/asked\nexit 7\n')
    ssh.chmod(0o755)
    monkeypatch.setenv(login.VARIABLE, str(ssh))
    assert connect("-s", "slurm-v6e", *arguments).exit_code == 7
    assert (tmp_path / "asked").read_text().strip() == there.format("/mnt/pathways/scripts")


def test_on_cluster_director_the_variables_are_those_that_the_service_wrote(
    cloud: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(cloud.double, cloud.double.call("POST", f"{CLUSTERS}?clusterId=pathways", body()))
    ssh, home = tmp_path / "ssh", tmp_path / "pathways"
    ssh.write_text(f'#!/bin/sh\nshift\nHOME={tmp_path} exec "$@"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv(login.VARIABLE, str(ssh))
    missing = connect("-s", "slurm-v6e", "--print-env")
    assert missing.exit_code == 3 and "pathways status -s slurm-v6e says why" in missing.stderr
    home.mkdir()
    (home / "cluster.env").write_text("# Written by job 7\nexport JAX_PLATFORMS=proxy\n")
    assert connect("-s", "slurm-v6e", "--print-env").stdout == "export JAX_PLATFORMS=proxy\n"


def test_an_environment_with_the_images_jax_is_taken(tmp_path: Path) -> None:
    assert environment(JAX, venv(tmp_path / "v", JAX), jupyter=False) == tmp_path / "v" / "bin"


def test_an_environment_with_another_jax_is_warned_of_with_the_command_that_mends_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert environment(JAX, venv(tmp_path / "v", "0.10.0"), jupyter=False) == tmp_path / "v" / "bin"
    said = capfd.readouterr().err
    assert "has JAX 0.10.0, the stack's images are for 0.11.1" in said and "pip install jax==0.11.1" in said


def test_an_environment_without_jax_is_refused(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    with pytest.raises(CloudError, match="has no JAX"):
        environment(JAX, tmp_path / "v", jupyter=False)


def test_a_kept_environment_that_somebody_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    root = venv(tmp_path / "pathways" / "venvs" / f"jax-{JAX}", "0.10.0")
    with pytest.raises(CloudError, match="has JAX 0.10.0") as caught:
        environment(JAX, None, jupyter=False)
    assert caught.value.fix == f"rm -r {root}, and it is made anew"


def test_the_default_jax_is_installed_as_the_lock_pins_it_and_another_one_by_its_number() -> None:
    settings, _ = stackfile.from_file(FOLDER / "Pulumi.gke-v6e.yaml")
    assert packages(settings.runtime.jax)[-1].endswith("requirements-client.lock")
    assert packages("0.9.0") == ["jax==0.9.0", "pathwaysutils"]


def test_a_folder_that_is_no_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CloudError, match="is no virtual environment"):
        environment(JAX, tmp_path, jupyter=False)


@contextmanager
def echo() -> Iterator[int]:
    """A server that sends everything back in upper case."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(client,), daemon=True).start()

        def answer(client: socket.socket) -> None:
            with client:
                while data := client.recv(1 << 16):
                    client.sendall(data.upper())

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def test_bytes_go_both_ways_for_several_connections_at_once() -> None:
    with echo() as far, forwarded(lambda: socket.create_connection(("127.0.0.1", far)), 0) as port:
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for number, client in enumerate(clients):
            client.sendall(f"hello {number}".encode())
        for number, client in enumerate(clients):
            assert client.recv(100) == f"HELLO {number}".encode()
            client.close()


def test_much_data_arrives_whole() -> None:
    sent = os.urandom(1 << 21).replace(b"\n", b"").lower()
    received = b""
    with (
        echo() as far,
        forwarded(lambda: socket.create_connection(("127.0.0.1", far)), 0) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        threading.Thread(target=client.sendall, args=(sent,), daemon=True).start()
        while len(received) < len(sent):
            received += client.recv(1 << 16)
    assert received == sent.upper()


def test_a_pod_that_cannot_be_reached_ends_the_connection_and_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    def dial() -> socket.socket:
        raise CloudError("network", "the pod is gone", "see status")

    with forwarded(dial, 0) as port, socket.create_connection(("127.0.0.1", port)) as client:
        assert client.recv(10) == b""
    assert "the pod is gone" in capfd.readouterr().err


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with (
            pytest.raises(CloudError, match="of this machine") as caught,
            forwarded(lambda: None, taken.getsockname()[1]),
        ):
            pass
        assert "--port" in caught.value.fix


def test_a_faulty_stack_is_refused_first(stack: Stack) -> None:
    assert connect("-s", str(stack(slices={"topology": "4x5"}))).exit_code == 2
