"""`pathways plan` as a person, a program or a reader of its picture sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
import yaml
from typer.testing import CliRunner, Result

from cli import stacks
from cli.app import app

SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments], prog_name="pathways")


def stack_file(folder: Path, **sections: Any) -> str:
    """The path of a stack file with these sections over gke-v6e's."""
    document = yaml.safe_load((stacks.FOLDER / "Pulumi.gke-v6e.yaml").read_text())
    for name, section in sections.items():
        document["config"][f"pathways:{name}"] = {**document["config"].get(f"pathways:{name}", {}), **section}
    path = folder / "Pulumi.mine.yaml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


def described(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_stack_is_found_by_its_name_and_by_its_file() -> None:
    assert run("-s", "gke-v6e").stdout == run("-s", str(stacks.FOLDER / "Pulumi.gke-v6e.yaml")).stdout


def test_the_table_says_what_there_is_and_where() -> None:
    output = run("-s", "gke-v6e").stdout
    for line in [
        "gke-v6e: 2 slices of tpuv6e:4x4, 8 TPU VMs, 32 chips, in us-east5-b of project example-ml",
        "pathways-pathways-head-0-0.pathways.default.svc.cluster.local:29000",
        "gs://example-ml-gke-v6e-scratch",
        "TPUs per TPU family, family CT6E   32 chips",
        "--instance_type=tpuv6e:4x4",
        "roles/storage.objectUser",
    ]:
        assert line in output, line


def test_slices_that_are_alike_take_one_line(tmp_path: Path) -> None:
    output = run("-s", stack_file(tmp_path, slices={"count": 64})).stdout
    assert "tpu-np-0 to tpu-np-63   ct6e-standard-4t   64 x 4" in output
    assert "tpu-np-5 " not in output


def test_json_adds_up() -> None:
    found = described("-s", "gke-v5p-elastic")
    pools = found["nodePools"]
    assert sum(pool["nodes"] for pool in pools) == found["totals"]["nodes"] == 65
    assert found["totals"]["chips"] == found["slices"]["count"] * found["slices"]["chips"] == 256
    assert {container["name"]: container["copies"] for container in found["containers"]}["worker"] == 64


@pytest.mark.parametrize(
    ("capacity", "quota"),
    [
        ({"type": "onDemand"}, ("TPUs per TPU family", "CT6E")),
        ({"type": "spot"}, ("Preemptible TPU slices v6e", None)),
        ({"type": "flexStart"}, ("Preemptible TPU slices v6e", None)),
        ({"type": "reservation", "reservation": "mine"}, None),
    ],
)
def test_chips_draw_on_the_quota_of_their_capacity(
    tmp_path: Path, capacity: dict[str, str], quota: tuple[str, str | None] | None
) -> None:
    quotas = described("-s", stack_file(tmp_path, slices={"capacity": capacity}))["quotas"]
    assert [(each["name"], each["family"]) for each in quotas if each["unit"] == "chips"] == ([quota] if quota else [])


def test_what_exists_already_is_not_named_as_if_it_were_created(tmp_path: Path) -> None:
    own = described("-s", stack_file(tmp_path, network={"second": "192.168.0.0/20"}))["names"]
    assert {"network", "subnetwork", "router", "nat", "secondNetwork"} <= set(own)
    existing = {"existing": "theirs", "existingSubnetwork": "east"}
    assert not {"network", "subnetwork", "router", "nat"} & set(
        described("-s", stack_file(tmp_path, network=existing))["names"]
    )


def test_warnings_come_last_and_do_not_end_the_plan(tmp_path: Path) -> None:
    path = stack_file(tmp_path, slices={"capacity": {"type": "spot"}})
    output = run("-s", path).stdout
    assert "[capacity-spot-multi-host]" in output.partition("Warnings")[2]
    assert [warning["id"] for warning in described("-s", path)["warnings"]] == ["capacity-spot-multi-host"]


def test_a_faulty_stack_is_refused_with_every_fault_and_no_table(tmp_path: Path) -> None:
    result = run("-s", stack_file(tmp_path, slices={"topology": "4x5"}, workload={"name": "n" * 30}))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Pulumi.mine.yaml has 2 faults" in result.stderr
    assert "[slice-shape]" in result.stderr and "[jobset-name-length]" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("stack", ["nowhere", "nowhere/Pulumi.x.yaml"])
def test_a_stack_that_does_not_exist_is_said_not_to(stack: str) -> None:
    result = run("-s", stack)
    assert result.exit_code == 2
    assert stack in "".join(result.stderr.split("\n")) or "cannot be read" in result.stderr
    assert "Traceback" not in result.output


def drawing(folder: Path, **sections: Any) -> xml.Element:
    target = folder / "picture.svg"
    result = run("-s", stack_file(folder, **sections), "--svg", str(target))
    assert result.exit_code == 0, result.output
    return xml.fromstring(target.read_text())


def words(root: xml.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("slices", [1, 2, 64, 300])
def test_every_slice_is_drawn_and_labelled_inside_the_page(tmp_path: Path, slices: int) -> None:
    network = {"nodeRange": "10.0.0.0/16", "podRange": "10.16.0.0/12"}
    root = drawing(tmp_path, slices={"count": slices}, network=network)
    uses = [(float(use.get("x", 0)), float(use.get("y", 0))) for use in root.iter(f"{SVG}use")]
    assert len(set(uses)) == slices
    _, _, width, height = (float(number) for number in root.get("viewBox", "").split())
    assert all(0 < x < width and 0 < y < height for x, y in uses)
    assert {f"tpu-np-{index}" for index in range(slices)} <= set(words(root))


def test_the_picture_names_addresses_ports_and_the_bucket(tmp_path: Path) -> None:
    shown = words(drawing(tmp_path))
    assert "grpc://pathways-pathways-head-0-0.pathways.default.svc.cluster.local:29000" in shown
    assert "gs://example-ml-mine-scratch" in shown
    assert {":29000", ":29001"} <= set(shown)


def test_a_batch_client_is_drawn_inside_the_head_and_a_shared_one_outside(tmp_path: Path) -> None:
    batch = words(drawing(tmp_path, workload={"mode": "batch", "image": "client:1"}))
    assert "JAX client" in batch and "your JAX client" not in batch
    shared = words(drawing(tmp_path, workload={"mode": "service"}))
    assert "JAX clients" in shared and "IFRT proxy" not in shared


def test_text_from_a_stack_file_cannot_break_the_picture(tmp_path: Path) -> None:
    root = drawing(tmp_path, workload={"mode": "batch", "image": 'a<b>&"c:1'})
    assert 'a<b>&"c:1' in words(root)


def test_a_picture_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    result = run("-s", "gke-v6e", "--svg", str(tmp_path / "missing" / "picture.svg"))
    assert result.exit_code == 2
    assert "cannot be written" in " ".join(result.stderr.split())
