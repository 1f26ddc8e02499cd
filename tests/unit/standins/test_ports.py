"""The ports that a container declares, against those that its server opens."""

from __future__ import annotations

import pytest

from rehearsal.standins import ports

OPENED = {29001: "--server_port", 29002: "the one after it"}
DECLARED = [{"containerPort": 29001, "protocol": "TCP"}, {"containerPort": 29002}]


def declared(*changed: dict[str, object]) -> dict[str, str]:
    return {ports.VARIABLE: ports.told(changed)}


def test_ports_that_are_declared_as_they_are_opened_are_well() -> None:
    ports.check(OPENED, declared(*DECLARED))


def test_where_there_is_no_container_there_is_nothing_to_declare() -> None:
    ports.check(OPENED, {})


@pytest.mark.parametrize(
    ("container", "said"),
    [
        ([DECLARED[1]], r"port 29001/TCP \(--server_port\) is not among the container's ports, which are 29002/TCP:"),
        ([], r"port 29001/TCP \(--server_port\) is not among the container's ports, which are none:"),
        ([{**DECLARED[0], "protocol": "UDP"}, DECLARED[1]], "which are 29001/UDP, 29002/TCP"),
        (
            [*DECLARED, {"containerPort": 29003}],
            r"ports have 29003/TCP, and this server opens 29001/TCP \(--server_port",
        ),
    ],
)
def test_a_port_that_differs_is_named(container: list[dict[str, object]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ports.check(OPENED, declared(*container))
