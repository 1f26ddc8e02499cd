"""What a client in a pod has to find."""

from __future__ import annotations

import pytest

from rehearsal.kubernetes.agent.clients import check_of
from rehearsal.kubernetes.agent.environment import ConfigError
from tests.unit.agent.samples import container, pod


def servers(instance_type: str, *proxy: str, count: str = "2") -> list[dict[str, object]]:
    stated = ["--node_type=resource_manager", f"--instance_count={count}", f"--instance_type={instance_type}"]
    return [container("pathways-rm", args=stated), container("pathways-proxy", args=list(proxy))]


def test_the_check_expects_what_the_resource_manager_was_told() -> None:
    found = check_of(pod(container("main"), initContainers=servers("tpuv6e:4x4"))) or []
    assert {"--slices=2", "--devices=32"} <= set(found) and "--elastic" not in found


def test_of_a_chip_with_two_devices_it_expects_both() -> None:
    assert "--devices=128" in (check_of(pod(initContainers=servers("tpu7x:2x4x4", count="2"))) or [])


def test_an_elastic_client_waits_for_slices_that_are_missing() -> None:
    assert "--elastic" in (check_of(pod(initContainers=servers("tpuv6e:4x4", "--num_elastic_instances=1"))) or [])


def test_a_client_without_servers_beside_it_has_no_check() -> None:
    assert check_of(pod(container("main"))) is None


@pytest.mark.parametrize(("instance_type", "count"), [("tpuv6e:4x5", "2"), ("tpuv6e:4x4", "two")])
def test_flags_that_make_no_sense_are_named(instance_type: str, count: str) -> None:
    with pytest.raises(ConfigError, match=f"--instance_count={count}, --instance_type={instance_type}"):
        check_of(pod(initContainers=servers(instance_type, count=count)))
