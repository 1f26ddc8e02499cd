"""What stands in for programs of Google's nodes refuses what the real ones refuse."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pathways.scratch import ROLES
from rehearsal.slurm import configuration
from rehearsal.slurm.programs import enroot, gcloud, python3, sbatch, sudo
from rehearsal.slurm.surroundings import Surroundings
from tests.unit.google.running import PROJECT, REGION, Double, RecordingRuntime, serve
from tests.unit.slurm.test_description import CLUSTER

IMAGE = "docker://us-docker.pkg.dev#cloud-tpu-v2-images/pathways/server:20261103-jax_0.11.1"
ACCOUNT = "1-compute@developer.gserviceaccount.com"
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


def test_a_layout_becomes_a_wish_for_one_block(folder: Path) -> None:
    for shape, nodes, wish in [("2x4", 2, "[tpu-2-0|tpu-2-1|tpu-2-2]"), ("4x4", 4, "[tpu-4-0]"), ("2x2", 1, "v6e")]:
        with pytest.raises(Started) as started:
            sbatch.run("sbatch", [f"--nodes={nodes}", f"--layout=v6e={shape}", "job.sh"], folder)
        assert started.value.arguments[1:] == [f"--constraint={wish}", f"--nodes={nodes}", "job.sh"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layout=v6e=2x4", "--nodes=3"], "--layout=v6e=2x4 takes 2 nodes, not 3"),
        (["--layout=v6e=2x4"], "takes 2 nodes, not 1"),
        (["--layout=v6e=3x4", "--nodes=3"], "Invalid --layout specification"),
        (["--layout=v6e=4x8", "--nodes=8"], "this cluster has 0 blocks of 8 nodes"),
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


def test_gcloud_asks_the_double_for_buckets(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    describe = ["storage", "buckets", "describe"]
    with serve(tmp_path / "double", RecordingRuntime()) as (_, url):
        Surroundings(url, ACCOUNT, REGION).save(folder)
        double = Double(url, RecordingRuntime())
        double.call("POST", f"/storage/storage/v1/b?project={PROJECT}", {"name": "mine", "location": REGION})
        assert gcloud.run("gcloud", [*describe, "gs://mine", "--format=value(name)"], folder) == 1
        assert f"[{ACCOUNT}] does not have permission to access gs://mine" in capsys.readouterr().err
        policy = {"bindings": [{"role": role, "members": [f"serviceAccount:{ACCOUNT}"]} for role in ROLES]}
        double.call("PUT", "/storage/storage/v1/b/mine/iam", policy)
        assert gcloud.run("gcloud", [*describe, "gs://mine", "--format=value(name)"], folder) == 0
        assert gcloud.run("gcloud", [*describe, "gs://other", "--format=value(name)"], folder) == 1
    assert "gs://other not found: 404" in capsys.readouterr().err
    assert gcloud.run("gcloud", [*describe, "gs://mine", "--format=value(name)"], folder) == 1
    assert "does not answer" in capsys.readouterr().err


def test_the_nodes_python_is_new_enough_and_installs_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert python3.run("python3", ["--version"], folder) == 0
    venv = folder / "venv"
    assert python3.run("python3", ["-m", "venv", str(venv)], folder) == 0
    configuration.write(folder, CLUSTER)

    def python(*arguments: str) -> int:
        return subprocess.run([venv / "bin" / "python", *arguments], check=False).returncode

    assert python("-c", "import sys; sys.exit(sys.version_info < (3, 12))") == 0
    assert python("-m", "maxtext.trainers.pre_train.train") == 1
    assert "No module named maxtext" in capfd.readouterr().err
    assert python("-m", "pip", "install", "--quiet", "jax==0.11.1", "maxtext") == 0
    assert "jax==0.11.1 maxtext count as installed" in capfd.readouterr().out
    assert python("-m", "maxtext.trainers.pre_train.train") == 1
    assert "enable_single_controller= cannot be" in capfd.readouterr().err
    (folder / "images").mkdir()
    (folder / "images" / "proxy_server-1.sqsh").write_text("registry/proxy_server:20270101-jax_0.12.0\n")
    assert python("program.py") == 1
    assert "JAX 0.11.1 is installed in" in (said := capfd.readouterr().err) and "is for 0.12.0" in said


def test_a_system_python_takes_no_packages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert python3.run("python3", ["-m", "pip", "install", "jax"], folder) == 1
    assert "externally-managed-environment" in capsys.readouterr().err
