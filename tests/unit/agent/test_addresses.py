"""Loopback addresses that stand for those of the API."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from rehearsal.errors import RehearsalError
from rehearsal.kubernetes.agent.addresses import Loopback, pod_address


def claimed(folder: Path) -> Loopback:
    folder.mkdir(exist_ok=True)
    made = Loopback(folder)
    made.claim()
    return made


def test_every_node_pod_and_load_balancer_has_an_address_of_its_own(tmp_path: Path) -> None:
    loopback = claimed(tmp_path)
    shown = ["10.128.0.2", "10.128.0.3", "10.131.255.254", "10.64.0.1", "10.64.1.1"]
    found = [loopback.of(address) for address in shown]
    assert len(set(found)) == len(shown)
    assert all(IPv4Address(address).is_loopback for address in found)
    assert [loopback.of(address) for address in shown] == found


def test_two_rehearsals_share_no_address(tmp_path: Path) -> None:
    one, other = claimed(tmp_path / "one"), claimed(tmp_path / "other")
    assert one.of("10.128.0.2") != other.of("10.128.0.2")


def test_a_later_agent_has_the_addresses_of_the_earlier_one(tmp_path: Path) -> None:
    first = claimed(tmp_path)
    before = [first.of("10.128.0.2"), first.of("10.64.0.1")]
    first.close()
    second = claimed(tmp_path)
    assert [second.of("10.128.0.2"), second.of("10.64.0.1")] == before


def test_a_block_that_someone_else_has_taken_is_said(tmp_path: Path) -> None:
    first = claimed(tmp_path)
    with pytest.raises(RehearsalError, match="claims its loopback addresses"):
        claimed(tmp_path)
    first.close()


def test_a_pods_own_address_lies_above_those_that_kwok_gives() -> None:
    assert pod_address("10.64.1.0/24", set()) == "10.64.1.128"
    assert pod_address("10.64.1.0/24", {"10.64.1.128"}) == "10.64.1.129"
