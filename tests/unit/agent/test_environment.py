"""A container's environment and command line."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.kubernetes.agent.environment import ConfigError, command_line, expand, quantity, variables
from tests.unit.agent.samples import ADDRESSES, container, node, nothing, pod

Json = dict[str, Any]


def of(*env: Json, **changes: Any) -> dict[str, str]:
    return variables(container(env=list(env), **changes), pod(labels={"index": "3"}), ADDRESSES, node(), nothing)


def value(name: str, text: str) -> Json:
    return {"name": name, "value": text}


def field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def test_a_variable_refers_to_those_that_stand_before_it_only() -> None:
    assert of(value("A", "1"), value("B", "$(A):$(C)"), value("C", "2"))["B"] == "1:$(C)"


def test_two_dollars_are_one_and_an_unknown_name_stays() -> None:
    assert expand("$$(A) $(A) $(B) $A $", {"A": "x"}) == "$(A) x $(B) $A $"


def test_what_a_field_holds_is_not_expanded() -> None:
    found = variables(
        container(env=[value("A", "x"), field("B", "metadata.labels['odd']")]),
        pod(labels={"odd": "$(A)"}),
        ADDRESSES,
        node(),
        nothing,
    )
    assert found["B"] == "$(A)"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.name", "worker-0-1-abcde"),
        ("metadata.labels['index']", "3"),
        ("metadata.labels['missing']", ""),
        ("metadata.annotations['jobset.sigs.k8s.io/jobset-name']", "pathways"),
        ("spec.nodeName", "tpu-0"),
        ("status.podIP", "127.200.0.4"),
    ],
)
def test_fields_of_the_pod_become_variables(path: str, expected: str) -> None:
    assert of(field("X", path))["X"] == expected


def test_a_field_that_the_downward_api_does_not_have_is_named() -> None:
    with pytest.raises(ConfigError, match=r"spec\.hostname"):
        of(field("X", "spec.hostname"))


def test_limits_are_counted_in_units_of_the_divisor_and_rounded_up() -> None:
    def limit(resource: str, divisor: str) -> Json:
        return {"name": "X", "valueFrom": {"resourceFieldRef": {"resource": resource, "divisor": divisor}}}

    limits = {"limits": {"memory": "100M", "cpu": "1500m"}}
    assert of(limit("limits.memory", "1Mi"), resources=limits)["X"] == "96"
    assert of(limit("limits.cpu", "1"), resources=limits)["X"] == "2"
    assert of(limit("limits.memory", "1Gi"))["X"] == "650", "without a limit: what the node gives to pods"


def test_config_maps_and_secrets_are_read_and_missing_ones_named() -> None:
    objects: dict[tuple[str, str], Json] = {
        ("configmaps", "settings"): {"data": {"MODE": "fast"}},
        ("secrets", "key"): {"data": {"TOKEN": "czNjcjN0"}},
    }

    def lookup(kind: str, name: str) -> Json | None:
        return objects.get((kind, name))

    env = [
        {"name": "T", "valueFrom": {"secretKeyRef": {"name": "key", "key": "TOKEN"}}},
        {"name": "O", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "NONE", "optional": True}}},
    ]
    asking = container(env=env, envFrom=[{"prefix": "P_", "configMapRef": {"name": "settings"}}])
    assert variables(asking, pod(), ADDRESSES, node(), lookup) == {"P_MODE": "fast", "T": "s3cr3t"}
    with pytest.raises(ConfigError, match='configmap "gone" not found'):
        variables(container(envFrom=[{"configMapRef": {"name": "gone"}}]), pod(), ADDRESSES, node(), lookup)


def test_a_command_replaces_the_images_and_arguments_are_expanded() -> None:
    variables = {"HEAD": "head-0.pathways"}
    args = ["--address=$(HEAD):29001"]
    assert command_line(container(args=args), ["server"], variables) == ["server", "--address=head-0.pathways:29001"]
    assert command_line(container(command=["sh"], args=["-c"]), ["server"], variables) == ["sh", "-c"]
    assert command_line(container(), ["server"], variables) == ["server"]


def test_quantities_have_decimal_and_binary_units() -> None:
    assert [quantity(text) for text in ("100m", "1", "32G", "8Gi")] == [quantity("0.1"), 1, 32 * 10**9, 8 * 2**30]
    with pytest.raises(ConfigError, match="8GB"):
        quantity("8GB")
