"""Certificates of webhooks."""

from __future__ import annotations

from rehearsal.kubernetes.certificates import serves
from rehearsal.kubernetes.controllers import decoded
from rehearsal.kubernetes.webhooks import serving_certificate, trust
from tests.unit.kubernetes import samples
from tests.unit.kubernetes.fake_api import FakeApi

SECRET = "/api/v1/namespaces/jobset-system/secrets/jobset-webhook-server-cert"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = ("jobset-system", "jobset-webhook-server-cert")
SERVICES = {("jobset-system", "jobset-webhook-service")}


def test_an_empty_secret_is_filled_with_a_certificate_for_the_service() -> None:
    fake = FakeApi({SECRET: samples.secret()})
    issued = serving_certificate(fake.api, NAME, ["jobset-webhook-service"])
    assert issued is not None
    pair, ca = issued
    assert serves(pair.certificate, ["jobset-webhook-service.jobset-system.svc"])
    kept = decoded(fake.objects[SECRET])
    assert (kept["tls.crt"], kept["tls.key"], kept["ca.crt"]) == (pair.certificate, pair.key, ca)


def test_a_certificate_that_is_good_already_is_used_as_it_is() -> None:
    fake = FakeApi({SECRET: samples.secret()})
    first = serving_certificate(fake.api, NAME, ["jobset-webhook-service"])
    assert serving_certificate(fake.api, NAME, ["jobset-webhook-service"]) == first
    assert serving_certificate(fake.api, NAME, ["another-service"]) != first


def test_without_the_secret_there_is_no_certificate() -> None:
    assert serving_certificate(FakeApi().api, NAME, ["jobset-webhook-service"]) is None


def test_every_webhook_of_the_service_gets_the_authority_and_others_are_left_alone() -> None:
    fake = FakeApi(
        {
            f"{MUTATING}/ours": samples.webhook_configuration() | {"metadata": {"name": "ours"}},
            f"{MUTATING}/theirs": samples.webhook_configuration("other") | {"metadata": {"name": "theirs"}},
        }
    )
    trust(fake.api, SERVICES, "PEM")
    ours, theirs = fake.objects[f"{MUTATING}/ours"], fake.objects[f"{MUTATING}/theirs"]
    assert [w["clientConfig"]["caBundle"] for w in ours["webhooks"]] == ["UEVN", "UEVN"]
    assert not any("caBundle" in w["clientConfig"] for w in theirs["webhooks"])


def test_conversion_webhooks_of_resource_definitions_get_the_authority_too() -> None:
    client = {"service": {"namespace": "jobset-system", "name": "jobset-webhook-service"}}
    spec = {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": client}}}
    fake = FakeApi({f"{DEFINITIONS}/a": {"metadata": {"name": "a"}, "spec": spec}})
    trust(fake.api, SERVICES, "PEM")
    webhook = fake.objects[f"{DEFINITIONS}/a"]["spec"]["conversion"]["webhook"]
    assert webhook["clientConfig"]["caBundle"] == "UEVN"


def test_nothing_is_written_where_the_authority_is_known() -> None:
    fake = FakeApi({f"{MUTATING}/ours": samples.webhook_configuration() | {"metadata": {"name": "ours"}}})
    trust(fake.api, SERVICES, "PEM")
    before = list(fake.log)
    trust(fake.api, SERVICES, "PEM")
    assert fake.log == before
