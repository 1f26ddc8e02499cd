"""Files and processes of a control plane, without its programs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from rehearsal.errors import RehearsalError
from rehearsal.home import Home
from rehearsal.kubernetes.control_plane import ControlPlane
from rehearsal.kubernetes.runtime import KubernetesRuntime
from rehearsal.tools import Tools

KEY = "example-ml_us-east5_pathways"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "rehearsal")


@pytest.fixture
def plane(home: Home, tmp_path: Path) -> ControlPlane:
    return ControlPlane(KEY, home, Tools(tmp_path / "tools"))


def prepared(plane: ControlPlane) -> dict[str, str]:
    """The plane's files after a start that ends at the first missing program."""
    with pytest.raises(RehearsalError):
        plane.start()
    return {path.name: path.read_text() for path in plane.folder.iterdir()}


def test_a_missing_program_is_named_with_the_fix(plane: ControlPlane, tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match=f"{tmp_path}/tools/bin/etcd is missing; build the tools"):
        plane.start()


def test_keys_and_ports_outlive_a_restart(plane: ControlPlane, home: Home) -> None:
    before = prepared(plane)
    assert prepared(ControlPlane(KEY, home, Tools(Path("/nowhere")))) == before


def test_secrets_are_readable_by_their_owner_only(plane: ControlPlane) -> None:
    prepared(plane)
    for name in ("tokens.csv", "server.key", "service-accounts.key", "kubeconfig"):
        assert stat.S_IMODE((plane.folder / name).stat().st_mode) == 0o600


def test_the_rehearsals_bearer_token_is_an_administrator(plane: ControlPlane, home: Home) -> None:
    files = prepared(plane)
    assert files["tokens.csv"].split(",")[0] == home.token.read_text()
    assert '"system:masters"' in files["tokens.csv"]
    user = yaml.safe_load(files["kubeconfig"])["users"][0]["user"]
    assert Path(user["tokenFile"]) == home.token


def test_two_clusters_have_ports_of_their_own(plane: ControlPlane, home: Home) -> None:
    prepared(plane)
    other = ControlPlane(f"{KEY}-2", home, Tools(Path("/nowhere")))
    prepared(other)
    assert not set(vars(plane.ports).values()) & set(vars(other.ports).values())


def test_deleting_a_cluster_removes_its_files_and_can_be_repeated(plane: ControlPlane, home: Home) -> None:
    prepared(plane)
    runtime = KubernetesRuntime(home, Tools(Path("/nowhere")))
    runtime.delete(KEY)
    runtime.delete(KEY)
    assert not plane.folder.exists()


def test_reviving_without_any_cluster_starts_nothing(home: Home) -> None:
    KubernetesRuntime(home, Tools(Path("/nowhere"))).revive()
    assert not home.processes.exists()


def test_nodes_for_a_cluster_that_does_not_exist_are_refused(home: Home) -> None:
    runtime = KubernetesRuntime(home, Tools(Path("/nowhere")))
    with pytest.raises(RehearsalError, match="create the cluster first"):
        runtime.apply_pool(KEY, {"name": "cpu-np"}, {"us-east5-b": 1}, "example-ml", "us-east5")
    runtime.delete_pool(KEY, "cpu-np")


def test_by_name_the_api_server_has_a_certificate_of_an_authority_that_is_not_the_clusters(
    plane: ControlPlane, home: Home
) -> None:
    files = prepared(plane)
    [public] = home.trust.iterdir()
    assert plane.dns.partition(":")[0] == "localhost"
    by_name = x509.load_pem_x509_certificate(files["dns.crt"].encode())
    by_name.verify_directly_issued_by(x509.load_pem_x509_certificate(public.read_bytes()))
    with pytest.raises(ValueError):
        by_name.verify_directly_issued_by(x509.load_pem_x509_certificate(files["ca.crt"].encode()))
    plane.delete()
    assert list(home.trust.iterdir()) == []
