"""Networks and what belongs to them, addresses and resource policies."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar

from rehearsal.provider.google import GoogleError
from rehearsal.provider.paths import lookup, place
from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, Resource, changed, relative_link
from rehearsal.provider.translate import api_field


class Compute(Resource):
    """A global or regional resource; every request but a GET answers an operation of the same scope."""

    service = "compute"

    def finish(self, where: Mapping[str, str], begun: Properties, timeout: float) -> None:
        scope = f"regions/{where['region']}" if "region" in where else "global"
        operation = f"projects/{where['project']}/{scope}/operations/{begun['name']}"
        self.google.wait("compute", operation, begun, timeout)

    def request(self, where: Mapping[str, str], method: str, path: str, body: Properties, timeout: float) -> None:
        """One request and the operation that it starts."""
        self.finish(where, self.google.call(method, "compute", path, json=body), timeout)

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        if "network" in body:
            body["network"] = relative_link(body["network"], f"projects/{where['project']}/global/networks/")
        if "subnetwork" in body:
            region = where.get("region", "")
            template = f"projects/{where['project']}/regions/{region}/subnetworks/"
            body["subnetwork"] = relative_link(body["subnetwork"], template)
        return body

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """PATCH with the fields that changed; null takes a field back."""
        patch = self.patch(where, inputs, found)
        if patch:
            self.request(where, "PATCH", self.path(where), patch, timeout)

    def patch(self, where: Mapping[str, str], inputs: Properties, found: list[Change]) -> Properties:
        """The changed fields of the resource, whole top-level fields at a time."""
        body, patch = self.body(where, inputs), {}
        for change in found:
            name = str(change.path[0])
            if not self.facts.has("unsent", (name,)) and not self.facts.has("local", (name,)):
                field = api_field(self.facts, (name,)).split(".")[0]
                patch[field] = body.get(field)
        return patch


class Network(Compute):
    pass


class Subnetwork(Compute):
    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        if "logConfig" in inputs:
            place(body, "logConfig.enable", True)
        return body

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        path, patch = self.path(where), self.patch(where, inputs, found)
        if "ipCidrRange" in patch:
            request = {"ipCidrRange": patch.pop("ipCidrRange")}
            self.request(where, "POST", f"{path}/expandIpCidrRange", request, timeout)
        if "privateIpGoogleAccess" in patch:
            request = {"privateIpGoogleAccess": bool(patch.pop("privateIpGoogleAccess"))}
            self.request(where, "POST", f"{path}/setPrivateIpGoogleAccess", request, timeout)
        if patch:
            if "logConfig" in patch and not patch["logConfig"]:
                patch["logConfig"] = {"enable": False}
            patch["fingerprint"] = self.answer(where).get("fingerprint")
            self.request(where, "PATCH", path, patch, timeout)


class Firewall(Compute):
    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        body["logConfig"] = {**body.get("logConfig", {}), "enable": "logConfig" in inputs}
        return body

    def patch(self, where: Mapping[str, str], inputs: Properties, found: list[Change]) -> Properties:
        """The API wants the name in a PATCH, too."""
        patch = super().patch(where, inputs, found)
        return {"name": where["name"], **patch} if patch else patch

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        if not lookup(answer, "logConfig.enable"):
            answer = {name: value for name, value in answer.items() if name != "logConfig"}
        return super().state(where, answer, stated)


class Router(Compute):
    pass


class ResourcePolicy(Compute):
    pass


class Address(Compute):
    """Regional or global; labels are set by a request of their own."""

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        body.pop("labels", None)
        return body

    def follow_up(self, where: Mapping[str, str], inputs: Properties, timeout: float) -> None:
        labels = self.labels(inputs, create=True)
        if labels:
            self._set_labels(where, labels, timeout)

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        if changed(found, "labels", "pulumiLabels"):
            now = self.answer(where).get("labels") or {}
            self._set_labels(where, self.effective_labels(now, state, inputs), timeout)

    def _set_labels(self, where: Mapping[str, str], labels: Mapping[str, str], timeout: float) -> None:
        request = {"labels": dict(labels), "labelFingerprint": self.answer(where).get("labelFingerprint", "")}
        self.request(where, "POST", f"{self.path(where)}/setLabels", request, timeout)


class RouterNat(Compute):
    """An entry in the `nats` of a router: every change reads the router and writes the whole list."""

    _routers: ClassVar[defaultdict[str, threading.Lock]] = defaultdict(threading.Lock)

    def path(self, where: Mapping[str, str]) -> str:
        return f"projects/{where['project']}/regions/{where['region']}/routers/{where['router']}"

    def find(self, where: Mapping[str, str]) -> Properties | None:
        router = self.google.find("compute", self.path(where)) or {}
        return next((nat for nat in router.get("nats") or [] if nat.get("name") == where["name"]), None)

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        def add(nats: list[Properties]) -> list[Properties]:
            if any(nat.get("name") == where["name"] for nat in nats):
                raise GoogleError(
                    "PATCH",
                    self.path(where),
                    409,
                    "ALREADY_EXISTS",
                    f"router {where['router']} has a NAT named {where['name']} already",
                )
            return [*nats, self.body(where, inputs)]

        self._edit(where, add, self.facts.timeout)
        return {}

    def finish(self, where: Mapping[str, str], begun: Properties, timeout: float) -> None:
        if begun:
            super().finish(where, begun, timeout)

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        if inputs.get("initialNatIps") and "natIps" not in body:
            body["natIps"] = inputs["initialNatIps"]
        if body.get("natIps") and "natIpAllocateOption" not in body:
            body["natIpAllocateOption"] = "MANUAL_ONLY"
        for subnetwork in body.get("subnetworks", []):
            template = f"projects/{where['project']}/regions/{where['region']}/subnetworks/"
            subnetwork["name"] = relative_link(subnetwork["name"], template)
        return body

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        return {**super().state(where, answer, stated), "router": stated.get("router") or where["router"]}

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        body = self.body(where, inputs)
        if found:
            self._edit(where, lambda nats: [body if n.get("name") == where["name"] else n for n in nats], timeout)

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        if self.find(where) is not None:
            self._edit(where, lambda nats: [n for n in nats if n.get("name") != where["name"]], timeout)

    def _edit(self, where: Mapping[str, str], change: Any, timeout: float) -> None:
        path = self.path(where)
        with self._routers[path]:
            nats = change(self.google.call("GET", "compute", path).get("nats") or [])
            self.request(where, "PATCH", path, {"nats": nats}, timeout)
