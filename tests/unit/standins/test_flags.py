"""The stand-ins accept what Google documents for the image, and nothing else."""

from __future__ import annotations

import pytest

from rehearsal.standins.flags import FlagError, parse

DIRECTOR, GKE = "20261103-jax_0.11.1", "jax-0.10.0"
COMMON = ["--server_port=29001", "--gcs_scratch_location=gs://bucket/pathways-scratch/shared"]
MANAGER = [*COMMON, "--node_type=resource_manager", "--instance_type=tpuv6e:2x4", "--instance_count=2"]
MEMBER = [*COMMON, "--resource_manager_address=10.0.0.2:29001"]


def test_a_command_line_says_what_the_server_is() -> None:
    assert parse("server", DIRECTOR, [*MANAGER, "--enable_gcs_olm=false"]).role == "resource_manager"
    assert parse("server", DIRECTOR, MEMBER).role == "worker"
    proxy = parse("proxy_server", DIRECTOR, [*MEMBER, "--num_elastic_instances=2"])
    assert (proxy.role, proxy.port, proxy.resource_manager) == ("proxy", 29001, ("10.0.0.2", 29001))


@pytest.mark.parametrize(
    ("program", "tag", "argument", "said"),
    [
        ("server", DIRECTOR, "--serverport=1", "Unknown command line flag 'serverport'"),
        ("server", DIRECTOR, "--num_elastic_instances=2", "Unknown command line flag 'num_elastic_instances'"),
        ("proxy_server", DIRECTOR, "--enable_gcs_olm=false", "Unknown command line flag 'enable_gcs_olm'"),
        ("proxy_server", DIRECTOR, "--num_elastic_slices=2", "Did you mean: num_elastic_instances"),
        ("proxy_server", GKE, "--num_elastic_instances=2", "Did you mean: num_elastic_slices"),
        ("server", DIRECTOR, "--node_type=worker", "Illegal value 'worker' specified for flag 'node_type'"),
        ("server", DIRECTOR, "--server_port=0", "Illegal value '0'"),
        ("server", DIRECTOR, "--gcs_scratch_location=bucket", "Illegal value 'bucket'"),
        ("server", DIRECTOR, "--resource_manager_address=10.0.0.2", "Illegal value '10.0.0.2'"),
        ("server", DIRECTOR, "--instance_count", "Missing the value for the flag 'instance_count'"),
        ("server", DIRECTOR, "server_port=1", "Unexpected argument 'server_port=1'"),
        ("server", DIRECTOR, "--xla_dump_to=gs://b", "Unknown command line flag 'xla_dump_to'"),
    ],
)
def test_a_wrong_argument_ends_the_program(program: str, tag: str, argument: str, said: str) -> None:
    with pytest.raises(FlagError) as caught:
        parse(program, tag, [*MEMBER, argument])
    assert said in str(caught.value)


def test_xla_flags_belong_to_the_proxy() -> None:
    assert parse("proxy_server", GKE, [*MEMBER, "--xla_dump_to=gs://b"]).values["xla_dump_to"] == "gs://b"


def test_what_a_role_cannot_do_without_is_named() -> None:
    with pytest.raises(FlagError, match="the resource manager needs --instance_type, --instance_count"):
        parse("server", DIRECTOR, [*COMMON, "--node_type=resource_manager"])
    with pytest.raises(FlagError, match="no --node_type, needs --resource_manager_address"):
        parse("server", DIRECTOR, COMMON)
