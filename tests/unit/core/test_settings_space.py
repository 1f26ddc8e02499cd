"""Over the whole space of stack files: what the checks accept can be built, and what they refuse is explained."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings

from pathways import endpoints, manifests, names, plan, quotas, stackfile
from pathways.faults import StackError
from pathways.node_pools import TpuPool
from pathways.plan import Plan
from tests.settings_space import Config, accepted, anything, stacks

INT32_MAX = 2**31 - 1
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")

over_the_space = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def pods(made: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every pod template, with the longest name that a pod of it has."""
    job_set = made.job_set["metadata"]["name"]
    for job in made.job_set["spec"]["replicatedJobs"]:
        spec = job["template"]["spec"]
        name = f"{job_set}-{job['name']}-{job['replicas'] - 1}-{spec['completions'] - 1}-abcde"
        yield name, spec["template"]
    for manifest in manifests.of_client(made):
        yield manifest["metadata"]["name"] + "-abcde", manifest["spec"]["template"]


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def flags(container: dict[str, Any]) -> dict[str, str]:
    return dict(each.removeprefix("--").partition("=")[::2] for each in container.get("args", []))


@over_the_space
@given(stacks())
def test_what_is_accepted_makes_manifests_that_are_json(config: Config) -> None:
    made = accepted(config)
    for manifest in [*manifests.of(made), *manifests.of_client(made)]:
        assert json.loads(json.dumps(manifest)) == manifest


@over_the_space
@given(stacks())
def test_every_name_is_within_its_limit(config: Config) -> None:
    made = accepted(config)
    derived = made.names
    assert len(derived.cluster) <= 40
    assert 6 <= len(derived.service_account) <= 30
    assert 3 <= len(derived.bucket) <= 63
    assert len(derived.scratch_role) <= 64
    assert all(len(pool) <= 40 for pool in (derived.head_pool, *derived.tpu_pools))
    google = [derived.network, derived.subnetwork, derived.router, derived.nat, derived.workload_policy]
    google += [derived.second_network, f"{derived.second_network}-{made.settings.region}"]
    assert all(DNS_LABEL.fullmatch(name) for name in google)
    for manifest in [*manifests.of(made), *manifests.of_client(made)]:
        assert DNS_LABEL.fullmatch(manifest["metadata"]["name"])
    for name, _ in pods(made):
        assert DNS_LABEL.fullmatch(name), name


@over_the_space
@given(stacks())
def test_every_label_value_is_one_that_kubernetes_takes(config: Config) -> None:
    made = accepted(config)
    workload = made.settings.workload
    values = [names.coordinator(workload.name, workload.subdomain)]
    for manifest in [*manifests.of(made), *manifests.of_client(made)]:
        values += manifest["metadata"].get("labels", {}).values()
        values += manifest.get("spec", {}).get("nodeLabels", {}).values()
    for _, pod in pods(made):
        values += [*pod["spec"]["nodeSelector"].values(), *pod.get("metadata", {}).get("labels", {}).values()]
    assert [value for value in values if not LABEL_VALUE.fullmatch(value)] == []


@over_the_space
@given(stacks())
def test_ports_agree_and_no_two_of_one_node_are_the_same(config: Config) -> None:
    made = accepted(config)
    manager = endpoints.RESOURCE_MANAGER_PORT
    assert made.endpoints.resource_manager.endswith(f":{manager}")
    for _, pod in pods(made):
        ports = [port["containerPort"] for each in containers(pod) for port in each.get("ports", [])]
        assert pod["spec"]["hostNetwork"] and len(ports) == len(set(ports))
        for container in containers(pod):
            given_flags = flags(container)
            if "server_port" in given_flags:
                assert int(given_flags["server_port"]) in [port["containerPort"] for port in container["ports"]]
            if "resource_manager_address" in given_flags:
                assert given_flags["resource_manager_address"].endswith(f":{manager}")
    if made.proxy_service:
        assert {port["targetPort"] for port in made.proxy_service["spec"]["ports"]} == {endpoints.PROXY_PORT}


@over_the_space
@given(stacks())
def test_variables_mounts_and_numbers_are_ones_that_kubernetes_takes(config: Config) -> None:
    made = accepted(config)
    for _, pod in pods(made):
        volumes = {volume["name"] for volume in pod["spec"].get("volumes", [])}
        for container in containers(pod):
            variables = [variable["name"] for variable in container.get("env", [])]
            assert len(variables) == len(set(variables))
            mounts = container.get("volumeMounts", [])
            assert {mount["name"] for mount in mounts} <= volumes
            assert len({mount["mountPath"] for mount in mounts}) == len(mounts)
    for job in made.job_set["spec"]["replicatedJobs"]:
        spec = job["template"]["spec"]
        assert job["replicas"] * spec["parallelism"] <= INT32_MAX
        assert 0 <= spec["backoffLimit"] <= INT32_MAX


@over_the_space
@given(stacks())
def test_the_pools_hold_exactly_the_slices(config: Config) -> None:
    made = accepted(config)
    workers = made.job_set["spec"]["replicatedJobs"][1]
    assert len(made.tpu_pools) == len(set(made.names.tpu_pools)) == workers["replicas"]
    for pool in made.tpu_pools:
        assert isinstance(pool, TpuPool)
        assert pool.nodes == made.shape.vms == workers["template"]["spec"]["completions"]
        assert (pool.placement == "none") == (pool.nodes == 1)
        assert pool.zone.startswith(made.settings.region)
        assert not (pool.spot and pool.flex_start)
        assert (pool.reservation.name is not None) == (pool.reservation.consume == "SPECIFIC_RESERVATION")
        assert not (pool.reservation.name and (pool.spot or pool.flex_start))
    assert all(quota.amount > 0 for quota in quotas.of(made))


@over_the_space
@given(stacks())
def test_what_is_refused_says_where_why_and_what_to_do(config: Config) -> None:
    try:
        stackfile.read(config, "stack")
    except StackError as error:
        for fault in error.faults:
            assert fault.path.startswith(("pathways:", "gcp:")) and fault.reason and fault.fix


@settings(over_the_space, max_examples=150)
@given(anything())
def test_whatever_stands_in_a_stack_file_there_is_a_plan_or_an_explanation(config: Config) -> None:
    try:
        found, _ = stackfile.read(config, "stack")
        plan.make(found)
    except StackError as error:
        assert all(fault.reason and fault.fix for fault in error.faults)
