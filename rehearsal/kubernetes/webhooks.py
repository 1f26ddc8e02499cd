"""Certificates of webhooks, as a certificate manager handles them: one Secret, its CA in every caller."""

from __future__ import annotations

from typing import Any

from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.certificates import Authority, KeyPair, serves
from rehearsal.kubernetes.controllers import decoded, encoded

Json = dict[str, Any]
Name = tuple[str, str]
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
CONFIGURATIONS = tuple(f"{ADMISSION}/{kind}webhookconfigurations" for kind in ("mutating", "validating"))
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def serving_certificate(api: Api, secret: Name, services: list[str]) -> tuple[KeyPair, str] | None:
    """Certificate and CA (PEM) from a Secret, issued into it unless it holds one for these Services.

    `secret` is (namespace, name), `services` are names in that namespace. None while there is no Secret.
    """
    namespace, name = secret
    path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
    found = api.get(path)
    if found is None:
        return None
    data, hosts = decoded(found), [f"{service}.{namespace}.svc" for service in services]
    if not (data.get("ca.crt") and data.get("tls.key") and serves(data.get("tls.crt", ""), hosts)):
        authority = Authority.new(f"{name} ca")
        pair = authority.issue(hosts[0] if hosts else name, hosts)
        data = {"ca.crt": authority.certificate, "ca.key": authority.key}
        data |= {"tls.crt": pair.certificate, "tls.key": pair.key}
        api.patch(path, {"data": encoded(data)})
    return KeyPair(data["tls.crt"], data["tls.key"]), data["ca.crt"]


def trust(api: Api, services: set[Name], ca_pem: str) -> None:
    """Give the CA to every webhook that calls one of these (namespace, name) Services."""
    bundle = encoded({"ca": ca_pem})["ca"]
    for collection in CONFIGURATIONS:
        for item in api.items(collection, resourceVersion="0"):
            clients = (webhook["clientConfig"] for webhook in item.get("webhooks", ()))
            pointers = [
                f"/webhooks/{index}/clientConfig/caBundle"
                for index, client in enumerate(clients)
                if _calls(client, services) and client.get("caBundle") != bundle
            ]
            _set(api, f"{collection}/{item['metadata']['name']}", pointers, bundle)
    for item in api.items(DEFINITIONS, resourceVersion="0"):
        client = _conversion(item)
        if _calls(client, services) and client.get("caBundle") != bundle:
            pointer = "/spec/conversion/webhook/clientConfig/caBundle"
            _set(api, f"{DEFINITIONS}/{item['metadata']['name']}", [pointer], bundle)


def _conversion(definition: Json) -> Json:
    webhook = (definition["spec"].get("conversion") or {}).get("webhook") or {}
    client: Json = webhook.get("clientConfig") or {}
    return client


def _calls(client: Json, services: set[Name]) -> bool:
    service = client.get("service") or {}
    return (service.get("namespace"), service.get("name")) in services


def _set(api: Api, path: str, pointers: list[str], value: str) -> None:
    operations: list[Json] = [{"op": "add", "path": pointer, "value": value} for pointer in pointers]
    if operations:
        api.patch(path, operations)
