"""The JobSet says the same thing in every place that must agree."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from pathways import endpoints, names, plan, stackfile
from pathways.containers import WORKER_DEFAULTS

SLICES = {"accelerator": "v6e", "topology": "4x4", "count": 2, "zone": "us-east5-b"}
BATCH = {
    "mode": "batch",
    "image": "client:1",
    "command": ["python", "train.py"],
    "env": [{"name": "A", "value": "b"}],
}


def job_set(**sections: Any) -> dict[str, Any]:
    config = {"gcp:project": "example-ml", "gcp:region": "us-east5", "pathways:slices": SLICES}
    config.update({f"pathways:{name}": value for name, value in sections.items()})
    return dict(plan.make(stackfile.read(config, "s")[0]).job_set)


def pod(manifest: dict[str, Any], job: str) -> dict[str, Any]:
    replicated = next(j for j in manifest["spec"]["replicatedJobs"] if j["name"] == job)
    spec: dict[str, Any] = replicated["template"]["spec"]["template"]["spec"]
    return spec


def containers(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    pods = [pod(manifest, names.HEAD_JOB), pod(manifest, names.WORKER_JOB)]
    return {c["name"]: c for p in pods for c in [*p.get("initContainers", []), *p["containers"]]}


def flags(container: dict[str, Any]) -> dict[str, str]:
    return dict(argument.removeprefix("--").split("=", 1) for argument in container["args"])


def test_everyone_finds_the_resource_manager_at_the_port_it_serves() -> None:
    found = containers(job_set())
    served = flags(found["pathways-rm"])["server_port"]
    for name in ("pathways-proxy", "worker"):
        assert flags(found[name])["resource_manager_address"] == f"$(PATHWAYS_HEAD):{served}"


def test_the_client_finds_the_proxy_at_the_port_it_serves() -> None:
    found = containers(job_set(workload=BATCH))
    target = {v["name"]: v.get("value") for v in found["main"]["env"]}["JAX_BACKEND_TARGET"]
    assert target == f"grpc://$(PATHWAYS_HEAD):{flags(found['pathways-proxy'])['server_port']}"


def test_the_resource_manager_expects_the_slices_that_there_are() -> None:
    manifest = job_set()
    workers = manifest["spec"]["replicatedJobs"][1]
    given = flags(containers(manifest)["pathways-rm"])
    assert given["instance_count"] == str(workers["replicas"]) == "2"
    assert (
        given["instance_type"]
        == "tpuv6e:" + pod(manifest, names.WORKER_JOB)["nodeSelector"]["cloud.google.com/gke-tpu-topology"]
    )
    assert workers["template"]["spec"]["completions"] == workers["template"]["spec"]["parallelism"] == 4


def test_all_three_servers_use_one_scratch_location_and_one_tag() -> None:
    found = [containers(job_set())[name] for name in ("pathways-rm", "pathways-proxy", "worker")]
    assert {flags(container)["gcs_scratch_location"] for container in found} == {"gs://example-ml-s-scratch"}
    assert {container["image"].rpartition(":")[2] for container in found} == {"jax-0.11.1"}


def test_every_variable_is_declared_before_it_is_used() -> None:
    for container in containers(job_set(workload=BATCH)).values():
        declared: set[str] = set()
        for variable in container["env"]:
            assert set(re.findall(r"\$\((\w+)\)", variable.get("value", ""))) <= declared
            declared.add(variable["name"])
        assert set(re.findall(r"\$\((\w+)\)", " ".join(container.get("args", [])))) <= declared


def test_the_ports_of_one_host_network_pod_are_distinct() -> None:
    for job in (names.HEAD_JOB, names.WORKER_JOB):
        spec = pod(job_set(workload=BATCH), job)
        ports = [
            p["containerPort"]
            for c in [*spec.get("initContainers", []), *spec["containers"]]
            for p in c.get("ports", [])
        ]
        assert spec["hostNetwork"] and len(ports) == len(set(ports))
    assert len(set(endpoints.HEAD_PORTS)) == len(endpoints.HEAD_PORTS)


def test_a_batch_head_ends_with_its_client_and_that_is_success() -> None:
    manifest = job_set(workload=BATCH)
    head = pod(manifest, names.HEAD_JOB)
    assert [c["name"] for c in head["containers"]] == ["main"]
    assert {c["name"]: c["restartPolicy"] for c in head["initContainers"]} == {
        "pathways-proxy": "Always",
        "pathways-rm": "Always",
    }
    assert manifest["spec"]["successPolicy"]["targetReplicatedJobs"] == [names.HEAD_JOB]


def test_an_interactive_head_has_no_client_and_no_end() -> None:
    manifest = job_set()
    assert [c["name"] for c in pod(manifest, names.HEAD_JOB)["containers"]] == [
        "pathways-proxy",
        "pathways-rm",
    ]
    assert "successPolicy" not in manifest["spec"]


@pytest.mark.parametrize(("owner", "flag"), [("stack", "false"), ("pathways", None)])
def test_one_side_only_writes_the_lifecycle_rules(owner: str, flag: str | None) -> None:
    config = {
        "gcp:project": "example-ml",
        "gcp:region": "us-east5",
        "pathways:slices": SLICES,
        "pathways:scratch": {"lifecycleOwner": owner},
    }
    made = plan.make(stackfile.read(config, "s")[0])
    for name in ("pathways-rm", "worker"):
        assert flags(containers(dict(made.job_set))[name]).get("enable_gcs_olm") == flag
    assert (made.scratch.lifecycle_days is None) == (flag is None)
    assert ("storage.buckets.update" in made.scratch.permissions) == (flag is None)


def test_the_longest_allowed_job_set_name_makes_a_coordinator_label_that_kubernetes_takes() -> None:
    longest = names.longest_job_set_name()
    assert longest == 22
    assert len(names.coordinator("n" * longest)) <= 63 < len(names.coordinator("n" * (longest + 1)))


def test_a_worker_and_its_colocated_python_server_share_memory_and_the_proxy_knows_of_it() -> None:
    image = "example/sidecar:20260423-python_3.12-jax_0.11.1"
    manifest = job_set(runtime={"colocatedPython": {"python": "3.12", "image": image, "sharedMemoryGib": 64}})
    found = containers(manifest)
    worker, sidecar = found["worker"], found["colocated-python-sidecar"]
    (volume,) = [v for v in pod(manifest, names.WORKER_JOB)["volumes"] if v["name"] == "shared-memory"]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "64Gi"}
    for container in (worker, sidecar):
        (mount,) = [m for m in container["volumeMounts"] if m["name"] == "shared-memory"]
        assert {v["name"]: v.get("value") for v in container["env"]}["CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY"] == mount[
            "mountPath"
        ]
    assert flags(worker)["cloud_pathways_sidecar_shm_directory"] == "/tmp/shared-memory"
    assert flags(found["pathways-proxy"])["sidecar_name"] == "external"


def test_a_stack_s_own_variable_takes_the_place_of_a_derived_one() -> None:
    own = {"worker": {"env": [{"name": "TPU_MIN_LOG_LEVEL", "value": "3"}, {"name": "A", "value": "b"}]}}
    variables = [(v["name"], v.get("value")) for v in containers(job_set(runtime=own))["worker"]["env"]]
    assert variables.count(("TPU_MIN_LOG_LEVEL", "3")) == 1
    assert ("TPU_MIN_LOG_LEVEL", "0") not in variables
    assert variables[-1] == ("A", "b")


def test_no_flag_and_no_variable_that_the_stack_derives_may_be_given_by_hand() -> None:
    image = "example/sidecar:20260423-python_3.12-jax_0.11.1"
    whole = {
        "runtime": {"colocatedPython": {"python": "3.12", "image": image}},
        "workload": {"elastic": {"slices": 1}},
    }
    found = containers(job_set(**whole))
    for key, name in (("resourceManager", "pathways-rm"), ("proxy", "pathways-proxy"), ("worker", "worker")):
        made = [v["name"] for v in found[name]["env"] if v["name"] not in WORKER_DEFAULTS]
        args, env = found[name]["args"], [{"name": name, "value": "x"} for name in made]
        runtime = {**whole["runtime"], key: {"args": args, "env": env}}
        with pytest.raises(stackfile.StackError) as refused:
            job_set(runtime=runtime, workload=whole["workload"])
        by_id = Counter(fault.id for fault in refused.value.faults)
        assert by_id == {"extra-arguments": len(args), "component-environment": len(env)}
