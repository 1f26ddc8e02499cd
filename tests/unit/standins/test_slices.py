"""An instance type says which devices a JAX program sees."""

from __future__ import annotations

import pytest

from rehearsal.standins.slices import InstanceType


@pytest.mark.parametrize(
    ("instance_type", "hosts", "devices", "kind"),
    [
        ("tpuv6e:2x4", 2, 8, "TPU v6 lite"),
        ("tpuv6e1t:2x4", 1, 8, "TPU v6 lite"),
        ("tpuv5:4x4x4", 16, 64, "TPU v5"),
        ("tpu7x:2x2x2", 2, 16, "TPU7x"),
    ],
)
def test_an_instance_type_says_which_hosts_and_devices_a_slice_has(
    instance_type: str, hosts: int, devices: int, kind: str
) -> None:
    parsed = InstanceType.parse(instance_type)
    found = parsed.devices(0)
    assert parsed.hosts == hosts
    assert parsed.devices_per_slice == len(found) == devices
    assert {device.kind for device in found} == {kind}
    assert len({(device.coords, device.core) for device in found}) == devices


def test_devices_lie_as_their_hosts_do() -> None:
    second = [device for device in InstanceType.parse("tpuv6e:4x4").devices(0) if device.host == 1]
    assert [device.coords for device in second] == [(2, 0, 0), (3, 0, 0), (2, 1, 0), (3, 1, 0)]


def test_devices_and_processes_are_counted_over_all_slices() -> None:
    third = InstanceType.parse("tpuv6e:2x4").devices(2)
    assert [device.id for device in third] == list(range(16, 24))
    assert [device.process for device in third] == [4] * 4 + [5] * 4


@pytest.mark.parametrize("instance_type", ["tpuv6e:3x4", "v6e:2x4", "tpuv6e", "tpuv6e1t:4x4"])
def test_an_instance_type_that_does_not_exist_is_refused(instance_type: str) -> None:
    with pytest.raises(ValueError, match="unsupported instance type"):
        InstanceType.parse(instance_type)
