"""`pathways render` prints manifests that kubectl can take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from cli.app import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["render", *arguments], prog_name="pathways")


def manifests(*arguments: str) -> list[dict[str, Any]]:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def test_the_namespace_and_the_queues_come_before_the_job_set_that_waits_in_them() -> None:
    kinds = [manifest["kind"] for manifest in manifests("-s", "gke-tpu7x-production")]
    assert kinds[:3] == ["Namespace", "ServiceAccount", "PriorityClass"]
    assert kinds[3:] == ["ResourceFlavor", "ResourceFlavor", "ClusterQueue", "LocalQueue", "JobSet"]


def test_the_way_to_the_proxy_is_rendered_where_the_stack_asks_for_one() -> None:
    kinds = [manifest["kind"] for manifest in manifests("-s", "gke-v6e-reserved")]
    assert kinds == ["JobSet", "NetworkPolicy", "Service"]


def test_one_kind_can_be_had_alone_in_any_case() -> None:
    assert [each["kind"] for each in manifests("-s", "gke-v6e-reserved", "--kind", "service")] == ["Service"]


def test_a_client_of_a_shared_service_gets_a_proxy_of_its_own() -> None:
    (job,) = manifests("-s", "gke-v6e-shared", "--kind", "Job", "--client", "alice", "--slices", "2")
    assert job["metadata"]["name"] == "shared-proxy-alice"
    assert job["spec"]["backoffLimit"] == 0
    pod = job["spec"]["template"]["spec"]
    assert pod["hostNetwork"] is True
    (proxy,) = pod["containers"]
    assert proxy["resources"]["limits"] == {"cpu": "16", "memory": "100G"}
    assert "--virtual_slices=tpuv6e:4x4,tpuv6e:4x4" in proxy["args"]
    (job_set,) = manifests("-s", "gke-v6e-shared", "--kind", "JobSet")
    head = job_set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert [container["name"] for container in head["containers"]] == ["pathways-rm"]
    assert "--resource_manager_address=shared-pathways-head-0-0.shared:29001" in proxy["args"]
    assert pod["nodeSelector"] == head["nodeSelector"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "Pod"], ["gke-v6e-shared", "has", "none.", "JobSet,", "Job."]),
        (["--client", "A!"], ["does", "not", "fit"]),
        (["--client", "a" * 60], ["does", "not", "fit"]),
        (["--slices", "9"], ["has", "4", "slices,", "not", "9."]),
    ],
)
def test_a_wrong_option_ends_with_a_sentence_and_no_manifest(arguments: list[str], words: list[str]) -> None:
    result = run("-s", "gke-v6e-shared", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert set(words) <= set(result.stderr.split())


def test_warnings_stay_out_of_the_manifests(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    slices = {"accelerator": "v6e", "topology": "4x4", "zone": "us-east5-b", "capacity": {"type": "spot"}}
    config = {"gcp:project": "example-ml", "gcp:region": "us-east5", "pathways:slices": slices}
    path.write_text(yaml.safe_dump({"config": config}))
    result = run("-s", str(path))
    assert "capacity-spot-multi-host" in result.stderr
    assert [each["kind"] for each in yaml.safe_load_all(result.stdout)] == ["JobSet"]
