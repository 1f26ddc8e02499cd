"""What stands in for programs of Google's nodes refuses what the real ones refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehearsal.slurm.programs import enroot, gcloud, sbatch, sudo
from tests.unit.slurm.test_description import CLUSTER

IMAGE = "docker://us-docker.pkg.dev#cloud-tpu-v2-images/pathways/server:20261103-jax_0.11.1"
CREDENTIALS = "machine us-docker.pkg.dev login oauth2accesstoken password $(gcloud auth print-access-token)\n"


class Started(BaseException):
    """Stands for the program that took the place of this one."""

    def __init__(self, program: str, arguments: list[str], environment: dict[str, str]) -> None:
        super().__init__(program)
        self.arguments, self.environment = arguments, environment


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node of a rehearsed cluster: its folder, and the environment of a job."""
    CLUSTER.save(tmp_path / "cluster.json")
    (tmp_path / "bin").mkdir()
    home = tmp_path / "home"
    (home / ".config" / "enroot").mkdir(parents=True)
    (home / ".config" / "enroot" / ".credentials").write_text(CREDENTIALS)
    for name, value in {"HOME": home, "ENROOT_DATA_PATH": tmp_path / "containers", "PYTHONPATH": "."}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(home)
    monkeypatch.setattr("socket.gethostname", lambda: "pw-tpu-1")

    def exec_(program: str, arguments: list[str], environment: dict[str, str]) -> None:
        raise Started(program, arguments, environment)

    monkeypatch.setattr("os.execve", exec_)
    monkeypatch.setattr("os.execvpe", exec_)
    return tmp_path


def run(folder: Path, *arguments: str) -> int:
    return enroot.run("enroot", list(arguments), folder)


def test_an_image_becomes_a_container_that_runs_on_the_nodes_own_address(folder: Path) -> None:
    assert run(folder, "import", "--output", "server.sqsh", IMAGE) == 0
    assert run(folder, "create", "--name", "worker", "server.sqsh") == 0
    with pytest.raises(Started) as started:
        run(folder, "start", "--rw", "--env", "TPU_WORKER_ID=1", "worker", "/pathways/server", "--server_port=29001")
    assert started.value.arguments[-2:] == ["/pathways/server", "--server_port=29001"]
    environment = started.value.environment
    assert environment["TPU_WORKER_ID"] == "1"
    assert environment["REHEARSAL_IMAGE"].endswith("/server:20261103-jax_0.11.1")
    addresses = {node.name: node.address for node in CLUSTER.nodes()}
    assert environment["REHEARSAL_ADDRESS"] == addresses["pw-tpu-1"]


def test_nothing_of_the_callers_environment_gets_into_a_container(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEGASCALE_SLICE_ID", "1")
    run(folder, "import", "-o", "i.sqsh", IMAGE)
    run(folder, "create", "-n", "c", "i.sqsh")
    with pytest.raises(Started) as started:
        run(folder, "start", "c", "/pathways/server")
    assert "MEGASCALE_SLICE_ID" not in started.value.environment


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["import", "us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server"], "Invalid image reference"),
        (["import", IMAGE.replace("/server", "/sever")], "404 Not Found"),
        (["import", IMAGE.replace("us-docker", "eu-docker")], "401 Unauthorized"),
        (["import", "--platform=tpu", IMAGE], "unrecognized arguments"),
        (["create", "--name", "c", "missing.sqsh"], "No such file or directory: missing.sqsh"),
        (["start", "missing", "/pathways/server"], "No such file or directory"),
        (["remove", "--force", "missing"], "No such file or directory"),
        (["run", "x"], "Command not found: run"),
    ],
)
def test_what_enroot_refuses_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(folder, *arguments) == 1
    assert said in capsys.readouterr().err


def test_an_image_that_is_there_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, "import", "-o", "i.sqsh", IMAGE)
    assert run(folder, "import", "-o", "i.sqsh", IMAGE) == 1
    assert "File already exists" in capsys.readouterr().err


def test_a_container_has_only_the_program_of_its_image(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, "import", "-o", "i.sqsh", IMAGE)
    run(folder, "create", "-n", "c", "i.sqsh")
    assert run(folder, "start", "c", "/pathways/proxy_server") == 1
    assert "failed to execute: /pathways/proxy_server" in capsys.readouterr().err


def test_a_layout_becomes_as_many_blocks_as_the_slice_has(folder: Path) -> None:
    for shape, nodes, blocks in [("2x4", 2, 1), ("4x4", 4, 2), ("2x2", 1, 1)]:
        with pytest.raises(Started) as started:
            sbatch.run("sbatch", [f"--nodes={nodes}", f"--layout=v6e={shape}", "job.sh"], folder)
        assert started.value.arguments[1:] == [f"--switches={blocks}", f"--nodes={nodes}", "job.sh"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layout=v6e=2x4", "--nodes=3"], "--layout=v6e=2x4 takes 2 nodes, not 3"),
        (["--layout=v6e=2x4"], "takes 2 nodes, not 1"),
        (["--layout=v6e=3x4", "--nodes=3"], "Invalid --layout specification"),
        (["--layout=v5p=2x2x2", "--nodes=2"], "this cluster has no v5p"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert sbatch.run("sbatch", [*arguments, "job.sh"], folder) == 1
    assert said in capsys.readouterr().err


def test_sudo_wants_a_password_where_the_rehearsal_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Started):
        sudo.run("sudo", ["-n", "scontrol", "--version"], folder)
    (folder / "no-sudo").touch()
    assert sudo.run("sudo", ["-n", "scontrol", "--version"], folder) == 1
    assert "a password is required" in capsys.readouterr().err


def test_gcloud_knows_the_buckets_that_exist(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "buckets").write_text("mine")
    describe = ["storage", "buckets", "describe"]
    assert gcloud.run("gcloud", [*describe, "gs://mine", "--format=value(name)"], folder) == 0
    assert gcloud.run("gcloud", [*describe, "gs://other", "--format=value(name)"], folder) == 1
    assert "gs://other not found: 404" in capsys.readouterr().err
