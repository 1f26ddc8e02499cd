"""What the engine gets to see, over gRPC."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

# Pulumi's own copy of this message cannot be loaded in a process that has Google's.
from google.rpc import status_pb2
from pulumi.runtime.proto import provider_pb2 as messages
from pulumi.runtime.proto import provider_pb2_grpc

from rehearsal.provider import server
from rehearsal.provider.google import Google
from rehearsal.provider.values import UNKNOWN, from_struct, to_struct
from tests.unit.provider.fakes import CLUSTER, CLUSTER_PATH, POOL, FakeGoogle, done

Kind = messages.PropertyDiff


@pytest.fixture
def fake() -> FakeGoogle:
    return FakeGoogle()


@pytest.fixture
def provider(fake: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> Iterator[provider_pb2_grpc.ResourceProviderStub]:
    monkeypatch.setenv(server.ADDRESS, "http://google.test")
    monkeypatch.setattr(server, "Google", lambda address: Google(address, transport=fake))
    serving = grpc.server(ThreadPoolExecutor(4))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(server.Servicer(), serving)
    port = serving.add_insecure_port("127.0.0.1:0")
    serving.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        settings = {"project": "p", "region": "us-east5", "zone": "us-east5-b"}
        stub.Configure(messages.ConfigureRequest(args=to_struct(settings)))
        yield stub
    serving.stop(None)


def urn(token: str) -> str:
    return f"urn:pulumi:s::p::pathways:gke:TpuSlices${token}::slice"


def diff(provider: Any, olds: dict[str, Any], news: dict[str, Any], **more: Any) -> messages.DiffResponse:
    return provider.Diff(messages.DiffRequest(urn=urn(POOL), olds=to_struct(olds), news=to_struct(news), **more))


def test_faults_name_the_property_and_why(provider: Any) -> None:
    inputs = to_struct({"cluster": "c", "nodeConfg": {}})
    [failure] = provider.Check(messages.CheckRequest(urn=urn(POOL), news=inputs)).failures
    assert failure.reason == f"nodeConfg: {POOL} has no such input; did you mean nodeConfig?"


def test_a_type_that_is_not_covered_is_refused_with_what_to_do(provider: Any) -> None:
    [failure] = provider.Check(messages.CheckRequest(urn=urn("gcp:pubsub/topic:Topic"))).failures
    assert failure.reason.startswith("gcp:pubsub/topic:Topic is not covered by the rehearsal's gcp provider: leave")


def test_a_look_up_is_refused_with_what_to_do(provider: Any) -> None:
    with pytest.raises(grpc.RpcError, match="getClientConfig is not covered"):
        provider.Invoke(messages.InvokeRequest(tok="gcp:organizations/getClientConfig:getClientConfig"))


def test_the_diff_says_which_property_replaces_and_how(provider: Any) -> None:
    old = {"cluster": "c", "name": "n", "placementPolicy": {"policyName": "a", "tpuTopology": "4x4"}, "version": "1"}
    new = {"cluster": "c", "name": "n", "placementPolicy": {"policyName": "b", "tpuTopology": "4x8"}, "version": "2"}
    answer = diff(provider, old, {**new, "__defaults": ["name"]})
    assert list(answer.replaces) == ["placementPolicy"]
    assert {path: entry.kind for path, entry in answer.detailedDiff.items()} == {
        "placementPolicy.policyName": Kind.UPDATE_REPLACE,
        "placementPolicy.tpuTopology": Kind.UPDATE,
        "version": Kind.UPDATE,
    }
    assert not answer.deleteBeforeReplace


def test_a_name_of_the_programs_own_means_deletion_first(provider: Any) -> None:
    answer = diff(provider, {"cluster": "c", "name": "n"}, {"cluster": "d", "name": "n", "__defaults": []})
    assert answer.deleteBeforeReplace


def test_ignored_changes_are_ignored_where_google_made_them(provider: Any) -> None:
    old = {"cluster": "c", "nodeConfig": {"spot": False, "advancedMachineFeatures": {"threadsPerCore": 1}}}
    new = {"cluster": "c", "nodeConfig": {"spot": False}}
    assert diff(provider, old, new).changes == messages.DiffResponse.DIFF_SOME
    ignored = diff(provider, old, new, ignoreChanges=["nodeConfig.advancedMachineFeatures"])
    assert ignored.changes == messages.DiffResponse.DIFF_NONE


def test_a_preview_asks_google_nothing_and_leaves_open_what_it_would_tell(provider: Any, fake: FakeGoogle) -> None:
    request = messages.CreateRequest(urn=urn(POOL), properties=to_struct({"cluster": "c", "name": "n"}), preview=True)
    expected = from_struct(provider.Create(request).properties)
    assert expected["name"] == "n"
    assert expected["version"] is UNKNOWN
    assert fake.requests == []


def test_keys_are_secret_in_the_state(provider: Any, fake: FakeGoogle) -> None:
    fake.answer("POST", CLUSTER_PATH.rsplit("/", 1)[0], done())
    fake.answer("GET", CLUSTER_PATH, {"name": "c", "masterAuth": {"clientKey": "S0VZ", "clusterCaCertificate": "Q0E="}})
    inputs = to_struct({"name": "c", "location": "us-east5", "network": "default"})
    fields = provider.Create(messages.CreateRequest(urn=urn(CLUSTER), properties=inputs)).properties.fields
    auth = fields["masterAuth"].struct_value.fields
    assert auth["clientKey"].struct_value.fields["value"].string_value == "S0VZ"
    assert auth["clusterCaCertificate"].string_value == "Q0E="
    assert "value" in fields["effectiveLabels"].struct_value.fields


def test_what_exists_but_is_not_finished_is_handed_to_the_engine(provider: Any, fake: FakeGoogle) -> None:
    fake.answer("POST", f"{CLUSTER_PATH}/nodePools", {"name": "op", "status": "RUNNING"})

    def cancelled(body: object) -> dict[str, Any]:
        provider.Cancel(messages.google_dot_protobuf_dot_empty__pb2.Empty())
        return {"name": "op", "status": "RUNNING"}

    fake.answer("GET", "container/v1beta1/projects/p/locations/us-east5/operations/op", cancelled)
    inputs = to_struct({"cluster": "c", "name": "n", "location": "us-east5"})
    with pytest.raises(grpc.RpcError) as caught:
        provider.Create(messages.CreateRequest(urn=urn(POOL), properties=inputs))
    details = dict(caught.value.trailing_metadata())["grpc-status-details-bin"]
    failed = messages.ErrorResourceInitFailed()
    status_pb2.Status.FromString(details).details[0].Unpack(failed)
    assert failed.id == "projects/p/locations/us-east5/clusters/c/nodePools/n"
    assert from_struct(failed.properties)["name"] == "n"
    assert "interrupted" in failed.reasons[0]


def test_a_resource_that_is_gone_has_no_id(provider: Any) -> None:
    request = messages.ReadRequest(urn=urn(POOL), id="projects/p/locations/us-east5/clusters/c/nodePools/n")
    assert provider.Read(request).id == ""


def test_settings_of_the_provider_are_checked(provider: Any) -> None:
    request = messages.CheckRequest(urn="urn:pulumi:s::p::pulumi:providers:gcp::d", news=to_struct({"regoin": "x"}))
    assert [f.reason for f in provider.CheckConfig(request).failures] == [
        "gcp:regoin is no setting of the gcp provider"
    ]
    good = to_struct({"project": "p", "defaultLabels": "{}", "version": "10.2.0"})
    assert not provider.CheckConfig(messages.CheckRequest(news=good)).failures


def test_the_package_schema_describes_what_is_covered(provider: Any) -> None:
    schema = provider.GetSchema(messages.GetSchemaRequest()).schema
    assert f'"{POOL}"' in schema
    assert '"gcp:container/NodePoolNodeConfig:NodePoolNodeConfig"' in schema
