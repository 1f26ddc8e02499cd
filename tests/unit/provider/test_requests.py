from __future__ import annotations

import threading

import httpx
import pytest

from rehearsal.provider.google import Google, GoogleError, Interrupted, OperationError
from tests.unit.provider.fakes import FakeGoogle, error

POOLS = "container/v1beta1/projects/p/nodePools"


@pytest.fixture
def fake() -> FakeGoogle:
    return FakeGoogle()


def test_a_refusal_is_one_sentence_with_method_resource_status_and_reason(fake: FakeGoogle) -> None:
    fake.answer("POST", POOLS, (400, error(400, "INVALID_ARGUMENT", "Node count\n must be 4.")))
    with pytest.raises(GoogleError) as caught:
        fake.google().call("POST", "container", "projects/p/nodePools", json={})
    assert str(caught.value) == "POST projects/p/nodePools: 400 INVALID_ARGUMENT: Node count must be 4."


def test_errors_that_are_not_googles_are_told_too() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(500, text="<h1>oops</h1>"))
    with pytest.raises(GoogleError, match="500 Internal Server Error: <h1>oops</h1>"):
        Google("http://google.test", transport=transport).call("GET", "iam", "x")


@pytest.mark.parametrize("status", [429, 503])
def test_overload_is_waited_out(fake: FakeGoogle, status: int) -> None:
    fake.answer("GET", POOLS, (status, error(status, "X", "later")), {"ok": 1})
    assert fake.google().call("GET", "container", "projects/p/nodePools") == {"ok": 1}


def test_a_busy_cluster_is_waited_for_and_another_bad_request_is_not(fake: FakeGoogle) -> None:
    busy = "Cluster is running incompatible operation operation-1."
    fake.answer("POST", POOLS, (400, error(400, "FAILED_PRECONDITION", busy)), {"ok": 1})
    assert fake.google().call("POST", "container", "projects/p/nodePools") == {"ok": 1}
    fake.answer("POST", POOLS, (400, error(400, "FAILED_PRECONDITION", "deletion protection")), {"ok": 1})
    with pytest.raises(GoogleError, match="deletion protection"):
        fake.google().call("POST", "container", "projects/p/nodePools")


def test_a_server_that_is_not_there_is_said_to_be_missing() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(GoogleError, match="is the rehearsal running"):
        Google("http://google.test", transport=httpx.MockTransport(refuse)).call("GET", "iam", "x")


def test_an_operation_is_polled_until_it_is_done(fake: FakeGoogle) -> None:
    fake.answer("GET", "compute/compute/v1/op", {"status": "RUNNING"}, {"status": "RUNNING"}, {"status": "DONE"})
    assert fake.google().wait("compute", "op", {"status": "PENDING"}, 60) == {"status": "DONE"}


def test_an_operation_that_is_done_at_once_is_not_polled(fake: FakeGoogle) -> None:
    fake.google().wait("serviceusage", "operations/x", {"done": True}, 60)
    assert fake.requests == []


def test_a_failed_operation_raises_what_went_wrong(fake: FakeGoogle) -> None:
    failed = {"status": "DONE", "error": {"errors": [{"code": "QUOTA", "message": "no TPUs left"}]}}
    with pytest.raises(OperationError, match="no TPUs left"):
        fake.google().wait("compute", "op", failed, 60)


def test_an_operation_that_takes_too_long_is_given_up(fake: FakeGoogle) -> None:
    fake.answer("GET", "compute/compute/v1/op", {"status": "RUNNING"})
    with pytest.raises(OperationError, match="not done after 0 seconds"):
        fake.google().wait("compute", "op", {"status": "RUNNING"}, 0.01)


def test_an_interrupt_ends_a_wait(fake: FakeGoogle) -> None:
    google = fake.google()
    polled = threading.Event()

    def running(body: object) -> dict[str, str]:
        polled.set()
        return {"status": "RUNNING"}

    fake.answer("GET", "compute/compute/v1/op", running)
    threading.Thread(target=lambda: (polled.wait(), google.interrupt())).start()
    with pytest.raises(Interrupted):
        google.wait("compute", "op", {"status": "RUNNING"}, 60)


def test_nothing_new_is_begun_after_an_interrupt(fake: FakeGoogle) -> None:
    google = fake.google()
    google.interrupt()
    with pytest.raises(Interrupted):
        google.call("POST", "container", "projects/p/nodePools")
    assert fake.requests == []
