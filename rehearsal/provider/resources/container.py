"""GKE clusters and node pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.provider.paths import lookup, place
from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, Refused, Resource, changed, kinds, relative_link
from rehearsal.provider.resources.pools import pool_changes, pool_numbers
from rehearsal.provider.translate import api_field

_SCOPES = "https://www.googleapis.com/auth/"
# What GKE's nodes get when the program says nothing about their scopes.
DEFAULT_SCOPES = [
    _SCOPES + name
    for name in (
        "devstorage.read_only",
        "logging.write",
        "monitoring",
        "service.management.readonly",
        "servicecontrol",
        "trace.append",
    )
]
_MOVING = ("PROVISIONING", "RECONCILING", "STOPPING")


class Container(Resource):
    """What clusters and node pools share: operations of a location, and a status to wait for."""

    service = "container"

    def finish(self, where: Mapping[str, str], begun: Properties, timeout: float) -> None:
        location = f"projects/{where['project']}/locations/{where['location']}"
        self.google.wait("container", f"{location}/operations/{begun['name']}", begun, timeout)

    def settle(self, where: Mapping[str, str], timeout: float) -> None:
        def resting(found: Properties | None) -> bool:
            return found is None or found.get("status") not in _MOVING

        self.google.until(lambda: self.google.find("container", self.path(where)), resting, timeout)

    def put(self, where: Mapping[str, str], path: str, body: Properties, timeout: float, method: str = "PUT") -> None:
        """One request of an update, and the operation that it starts."""
        self.finish(where, self.google.call(method, "container", path, json=body), timeout)


class Cluster(Container):
    unfinished = ("removeDefaultNodePool",)

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        return self.google.call("POST", "container", self.collection(where), json={"cluster": self.body(where, inputs)})

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        if inputs.get("nodeVersion") and inputs.get("nodeVersion") != inputs.get("minMasterVersion"):
            raise Refused("nodeVersion: a new cluster takes it only when it equals minMasterVersion")
        body = super().body(where, inputs)
        body.pop("currentNodeVersion", None)
        project, region = where["project"], _region(where["location"])
        body["network"] = relative_link(body["network"], f"projects/{project}/global/networks/")
        if "subnetwork" in body:
            template = f"projects/{project}/regions/{region}/subnetworks/"
            body["subnetwork"] = relative_link(body["subnetwork"], template)
        body.setdefault("autopilot", {}).setdefault("enabled", False)
        if not body["autopilot"]["enabled"]:
            body.setdefault("autoscaling", {}).setdefault("enableNodeAutoprovisioning", False)
        mode = inputs.get("networkingMode") or ("ROUTES" if inputs.get("clusterIpv4Cidr") else "VPC_NATIVE")
        policy = {"useIpAliases": True} if mode == "VPC_NATIVE" else {"useIpAliases": False, "useRoutes": True}
        place(body, "ipAllocationPolicy", policy)
        authorized = "controlPlaneEndpointsConfig.ipEndpointsConfig.authorizedNetworksConfig"
        if lookup(body, authorized) is not None:
            place(body, f"{authorized}.enabled", True)
        if "nodeConfig" not in body and "nodePools" not in body:
            body["nodeConfig"] = {"oauthScopes": DEFAULT_SCOPES}
        exclusions = _exclusions(inputs)
        if exclusions:
            place(body, "maintenancePolicy.window.maintenanceExclusions", exclusions)
        if where["location"] != region and body.get("locations"):
            body["locations"] = sorted({*body["locations"], where["location"]})
        return body

    def follow_up(self, where: Mapping[str, str], inputs: Properties, timeout: float) -> None:
        if inputs.get("removeDefaultNodePool"):
            self._remove_default_pool(where, timeout)

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        state = super().state(where, answer, stated)
        aliases = lookup(answer, "ipAllocationPolicy.useIpAliases")
        state["networkingMode"] = "VPC_NATIVE" if aliases else "ROUTES"
        state.setdefault("releaseChannel", {"channel": "UNSPECIFIED"})
        if "masterAuth" in state:
            issued = bool(state["masterAuth"].get("clientCertificate"))
            state["masterAuth"]["clientCertificateConfig"] = {"issueClientCertificate": issued}
        if "nodeLocations" in state:
            state["nodeLocations"] = [zone for zone in state["nodeLocations"] if zone != where["location"]]
        return state

    def imported_defaults(self) -> Properties:
        return {"deletionProtection": True}

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        path, body = self.path(where), self.body(where, {**inputs, "nodeVersion": None})
        if changed(found, "removeDefaultNodePool") and inputs.get("removeDefaultNodePool"):
            self._remove_default_pool(where, timeout)
        for field, value in self._desired(body, found):
            update: Properties = {}
            place(update, field, value)
            self.put(where, path, {"update": update}, timeout)
        if changed(found, "nodeVersion"):
            update = {"desiredNodeVersion": inputs.get("nodeVersion"), "desiredNodePoolId": "default-pool"}
            self.put(where, path, {"update": update}, timeout)
        if changed(found, "enableLegacyAbac"):
            self.put(where, f"{path}:setLegacyAbac", {"enabled": bool(inputs.get("enableLegacyAbac"))}, timeout, "POST")
        if changed(found, "networkPolicy"):
            policy = body.get("networkPolicy") or {"enabled": False}
            self.put(where, f"{path}:setNetworkPolicy", {"networkPolicy": policy}, timeout, "POST")
        if changed(found, "maintenancePolicy"):
            policy = body.get("maintenancePolicy") or {}
            version = lookup(self.answer(where), "maintenancePolicy.resourceVersion")
            if version:
                policy["resourceVersion"] = version
            self.put(where, f"{path}:setMaintenancePolicy", {"maintenancePolicy": policy}, timeout, "POST")
        if changed(found, "resourceLabels", "pulumiLabels"):
            now = self.answer(where)
            wanted = self.effective_labels(now.get("resourceLabels") or {}, state, inputs)
            request = {"resourceLabels": wanted, "labelFingerprint": now.get("labelFingerprint", "")}
            self.put(where, f"{path}:setResourceLabels", request, timeout, "POST")
        for verb, suffix, request in pool_changes(self.facts, "nodeConfig", body.get("nodeConfig") or {}, found):
            self.put(where, f"{path}/nodePools/default-pool{suffix}", request, timeout, verb)

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        if state.get("deletionProtection", True):
            raise Refused(
                f"{self.path(where)} cannot be deleted while deletionProtection is true; set it to false and "
                "run `pulumi up` first"
            )
        super().remove(where, state, timeout)

    def _desired(self, body: Properties, found: list[Change]) -> list[tuple[str, Any]]:
        """The fields of `update` that carry the changes, one request each."""
        wanted = []
        for pattern, field in self.facts.maps["updates"].items():
            seen = kinds(found, ".".join(pattern))
            value = lookup(body, api_field(self.facts, pattern))
            if pattern[0] in ("nodeConfig", "nodePools") or not seen or (value is None and seen == {"add"}):
                continue
            wanted.append((field, value if value is not None else _nothing(field)))
        endpoints = (
            "masterAuthorizedNetworksConfig",
            "privateClusterConfig.enablePrivateEndpoint",
            "privateClusterConfig.masterGlobalAccessConfig",
        )
        if changed(found, *endpoints) and not changed(found, "controlPlaneEndpointsConfig"):
            config = body.get("controlPlaneEndpointsConfig")
            wanted += [("desiredControlPlaneEndpointsConfig", config)] if config else []
        return wanted

    def _remove_default_pool(self, where: Mapping[str, str], timeout: float) -> None:
        pool = f"{self.path(where)}/nodePools/default-pool"
        if self.google.find("container", pool) is not None:
            self.put(where, pool, {}, timeout, "DELETE")


class NodePool(Container):
    def misplaced(self, inputs: Properties) -> list[str]:
        by_name = isinstance(inputs.get("cluster"), str) and "/" not in inputs["cluster"]
        return super().misplaced(inputs) if by_name else []

    def where(self, inputs: Properties) -> dict[str, str]:
        """A cluster given by its id says project and location, too."""
        parts = str(inputs.get("cluster", "")).split("/")
        if len(parts) >= 6:
            of_cluster = {"project": parts[-5], "location": parts[-3], "cluster": parts[-1]}
            return super().where({**inputs, **of_cluster})
        return super().where(inputs)

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        if self.find(where) is not None:
            raise Refused(
                f"resource already exists - {self.path(where)}: import it into the stack, or delete it in the cloud"
            )
        return self.google.call(
            "POST", "container", self.collection(where), json={"nodePool": self.body(where, inputs)}
        )

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        if "nodeCount" in inputs:
            body["initialNodeCount"] = int(inputs["nodeCount"])
        if "autoscaling" in body:
            body["autoscaling"]["enabled"] = True
        config = body.setdefault("config", {"oauthScopes": DEFAULT_SCOPES})
        if "oauthScopes" in config:
            config["oauthScopes"] = [s if s.startswith("https://") else _SCOPES + s for s in config["oauthScopes"]]
        if "accelerators" in config:
            config["accelerators"] = [a for a in config["accelerators"] if a.get("acceleratorCount") != "0"]
        return body

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        state = super().state(where, answer, stated)
        said = str(stated.get("cluster") or "")
        state["cluster"] = said if said.rsplit("/", 1)[-1] == where["cluster"] else where["cluster"]
        config = state.get("nodeConfig", {})
        if "taints" in config:
            # Taints that GKE adds itself show up among the effective ones only.
            own = {taint.get("key") for taint in lookup(stated, "nodeConfig.taints") or []}
            config["taints"] = [taint for taint in config["taints"] if taint.get("key") in own]
            if not config["taints"]:
                del config["taints"]
        numbers = pool_numbers(self.google, answer, count=not stated.get("ignoreNodeCountChanges"))
        return {**state, **numbers}

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        path, body = self.path(where), self.body(where, inputs)
        cluster = path.split("/nodePools/")[0]
        of_cluster: Properties = {}
        if changed(found, "autoscaling"):
            of_cluster["desiredNodePoolAutoscaling"] = body.get("autoscaling") or {"enabled": False}
        if changed(found, "nodeConfig.imageType"):
            of_cluster["desiredImageType"] = body["config"].get("imageType")
        if changed(found, "nodeConfig.nodeImageConfigs"):
            image = body["config"].get("nodeImageConfig") or {}
            of_cluster |= {"desiredImage": image.get("image"), "desiredImageProject": image.get("imageProject")}
        for field, value in of_cluster.items():
            update = {"desiredNodePoolId": where["name"], field: value}
            self.put(where, cluster, {"update": update}, timeout)
        if changed(found, "nodeCount") and inputs.get("nodeCount") is not None:
            self.put(where, f"{path}:setSize", {"nodeCount": int(inputs["nodeCount"])}, timeout, "POST")
        if changed(found, "management"):
            management = {"management": body.get("management") or {}}
            self.put(where, f"{path}:setManagement", management, timeout, "POST")
        for verb, suffix, request in pool_changes(self.facts, "", body, found):
            self.put(where, path + suffix, request, timeout, verb)


def _region(location: str) -> str:
    """The region of a region or zone."""
    return location.rsplit("-", 1)[0] if location.count("-") == 2 else location


def _exclusions(inputs: Properties) -> Properties:
    """Maintenance exclusions: a list in Pulumi, keyed by their names in the API."""
    listed = lookup(inputs, "maintenancePolicy.maintenanceExclusions") or []
    keyed = {}
    for entry in listed:
        window = {k: entry[k] for k in ("startTime", "endTime") if k in entry}
        options = {"maintenanceExclusionOptions": entry["exclusionOptions"]} if "exclusionOptions" in entry else {}
        keyed[entry["exclusionName"]] = {**window, **options}
    return keyed


def _nothing(field: str) -> Any:
    """How a request says that a setting is taken back."""
    if field.endswith((".enabled", "PrivateNodes")):
        return False
    return [] if field.endswith(("Locations", "allowlistPaths")) else {}
