"""`pathways preflight`: what it prints, how it ends, and what it says where nobody can be asked."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from cli.cloud.google import Google
from rehearsal.google.tokens import write_key_file
from tests.unit.dayafter.conftest import Stack, Surroundings


def preflight(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["preflight", *arguments], prog_name="pathways")


def test_it_ends_well_and_says_what_google_said(cloud: Surroundings) -> None:
    done = preflight("-s", "gke-v6e")
    assert done.exit_code == 0, done.output
    assert "✓ us-east5-b is up" in done.stdout and "are fine." in done.stdout


def test_what_stands_against_it_comes_first_with_its_fix_and_ends_with_1(cloud: Surroundings) -> None:
    cloud.fault("zone-down")
    done = preflight("-s", "gke-v6e")
    assert done.exit_code == 1
    first, second = done.stdout.splitlines()[:2]
    assert first == "✗ us-east5-b is DOWN  [zone-up]" and second.startswith("    fix: ")


def test_json_holds_every_finding(cloud: Surroundings) -> None:
    cloud.fault("quota")
    done = preflight("-s", "gke-v6e", "--json")
    found = {each["id"]: each for each in json.loads(done.stdout)["findings"] if each["severity"] == "error"}
    assert done.exit_code == 1
    assert set(found["quota-suffices"]) == {"id", "severity", "evidence", "fix"}


def test_strict_ends_with_1_for_a_warning(cloud: Surroundings) -> None:
    cloud.fault("api-disabled")
    assert preflight("-s", "gke-v6e").exit_code == 0
    assert preflight("-s", "gke-v6e", "--strict").exit_code == 1


@pytest.mark.parametrize("grpc", [True, False], ids=["grpc", "rest"])
def test_gke_answers_over_grpc_and_over_rest(cloud: Surroundings, monkeypatch: pytest.MonkeyPatch, grpc: bool) -> None:
    if not grpc:
        monkeypatch.delenv("PATHWAYS_GRPC_ENDPOINT_CONTAINER")
    done = preflight("-s", "gke-v6e", "--json")
    answer = {each["id"]: each for each in json.loads(done.stdout)["findings"]}
    assert "REGULAR in us-east5: 1.35.4-gke.1204000" in answer["gke-version-offered"]["evidence"]


def test_without_credentials_it_says_how_to_get_some(
    cloud: Surroundings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    done = preflight("-s", "gke-v6e")
    assert done.exit_code == 3
    assert "error: There are no credentials" in done.stderr
    assert "fix: gcloud auth application-default login" in done.stderr


def test_revoked_credentials_are_a_sentence(cloud: Surroundings) -> None:
    cloud.fault("credentials")
    done = preflight("-s", "gke-v6e")
    assert done.exit_code == 3 and done.exception is None or isinstance(done.exception, SystemExit)
    assert "Token has been expired or revoked" in done.stderr and "Traceback" not in done.output


def test_an_unreachable_google_is_a_sentence(cloud: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Google.__init__, "__defaults__", (10, 0.5, 0))
    # Port 1 of loopback: nobody listens there.
    monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SERVICEUSAGE", "http://127.0.0.1:1/")
    done = preflight("-s", "gke-v6e")
    assert done.exit_code == 3
    assert "Service Usage cannot be reached" in done.stderr and "HTTPS_PROXY" in done.stderr


@pytest.mark.parametrize("command", ["preflight", "status", "logs", "events", "connect"])
def test_a_token_service_that_does_not_answer_is_one_sentence(
    cloud: Surroundings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setattr(Google.__init__, "__defaults__", (0.3, 0.3, 0))
    with socket.create_server(("127.0.0.1", 0)) as mute:
        write_key_file(tmp_path / "key.json", f"http://127.0.0.1:{mute.getsockname()[1]}")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
        done = CliRunner().invoke(app, [command, "-s", "gke-v6e"], prog_name="pathways")
    assert done.exit_code == 3, done.output
    assert done.stderr.startswith("error: Google's token service did not answer in time.\n  fix: try again")


def test_where_nothing_could_be_asked_it_ends_with_3(cloud: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Google.__init__, "__defaults__", (10, 0.5, 0))
    cloud.fault("unavailable")
    done = preflight("-s", "gke-v6e", "--json")
    assert done.exit_code == 3
    assert {each["severity"] for each in json.loads(done.stdout)["findings"]} == {"unknown"}


def test_a_faulty_stack_file_ends_with_2_before_anybody_is_asked(stack: Stack) -> None:
    done = preflight("-s", str(stack(slices={"topology": "4x5"})))
    assert done.exit_code == 2
    assert "v6e has no topology 4x5" in done.stderr
