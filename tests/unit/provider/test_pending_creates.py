from __future__ import annotations

from typing import Any

from rehearsal.provider.pending import settle_pending_creates
from tests.unit.provider.fakes import POOL

PROVIDER = "urn:pulumi:s::p::pulumi:providers:gcp::default"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "x"}


def export(*pending: dict[str, Any], kind: str = "creating") -> dict[str, Any]:
    provider = {"urn": PROVIDER, "type": "pulumi:providers:gcp", "inputs": {"project": "p", "region": "us-east5"}}
    operations = [{"type": kind, "resource": resource} for resource in pending]
    return {"version": 3, "deployment": {"resources": [provider], "pending_operations": operations}}


def resource(token: str, **inputs: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:s::p::{token}::x"
    return {"urn": urn, "type": token, "custom": True, "inputs": inputs, "provider": f"{PROVIDER}::id"}


def adopted(pending: dict[str, Any]) -> str | None:
    """The id under which a pending creation is put into the state."""
    settled = settle_pending_creates(export(pending))
    added = [r for r in settled.export["deployment"]["resources"] if r["urn"] == pending["urn"]]
    assert "pending_operations" not in settled.export["deployment"]
    assert (settled.adopted, settled.dropped) == (([pending["urn"]], []) if added else ([], [pending["urn"]]))
    return added[0]["id"] if added else None


def test_a_pending_pool_gets_the_id_that_it_must_have() -> None:
    pool = resource(POOL, cluster="projects/p/locations/us-east5/clusters/c", name="n", __defaults=[])
    assert adopted(pool) == "projects/p/locations/us-east5/clusters/c/nodePools/n"


def test_project_and_region_come_from_the_provider_in_the_state() -> None:
    account = resource("gcp:serviceaccount/account:Account", accountId="nodes")
    assert adopted(account) == "projects/p/serviceAccounts/nodes@p.iam.gserviceaccount.com"


def test_grants_and_kubernetes_objects_have_ids_of_their_parts() -> None:
    grant = resource("gcp:storage/bucketIAMMember:BucketIAMMember", bucket="b", role="roles/x", member="user:a@b.c")
    assert adopted(grant) == "b/b/roles/x/user:a@b.c"
    job_set = resource("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", metadata={"namespace": "default", "name": "pw"})
    assert adopted(job_set) == "default/pw"


def test_what_cannot_be_identified_is_created_again() -> None:
    assert adopted(resource(POOL, cluster=SECRET, name="n")) is None
    assert adopted(resource("random:index/randomId:RandomId", byteLength=4)) is None
    assert adopted(resource("gcp:pubsub/topic:Topic", name="t")) is None


def test_other_pending_operations_leave_the_state_as_it_is() -> None:
    pool = resource(POOL, cluster="c", name="n")
    settled = settle_pending_creates(export(pool, kind="updating"))
    assert [r["urn"] for r in settled.export["deployment"]["resources"]] == [PROVIDER]
    assert (settled.adopted, settled.dropped) == ([], [])
