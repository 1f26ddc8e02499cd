"""Cloud Storage buckets."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from rehearsal.provider.paths import lookup, parse_pattern, place
from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, Refused, Resource
from rehearsal.provider.translate import api_field

_STATES = {"LIVE": True, "ARCHIVED": False}


class Bucket(Resource):
    service = "storage"

    def where(self, inputs: Properties) -> dict[str, str]:
        where = super().where(inputs)
        project = str(inputs.get("project") or self.config.project)
        if not project:
            raise Refused("project: the resource states none, and the stack has no gcp:project")
        return {**where, "project": project}

    def parse(self, identity: str) -> dict[str, str]:
        project, _, name = identity.rpartition("/")
        return {"name": name, "project": project or self.config.project}

    def path(self, where: Mapping[str, str]) -> str:
        return f"b/{quote(where['name'], safe='')}"

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        params = {"project": where["project"]}
        if inputs.get("enableObjectRetention"):
            params["enableObjectRetention"] = "true"
        return self.google.call("POST", "storage", "b", params=params, json=self.body(where, inputs))

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = super().body(where, inputs)
        rules = lookup(body, "lifecycle.rule") or []
        for rule, said in zip(rules, inputs.get("lifecycleRules") or [], strict=True):
            state = (said.get("condition") or {}).get("withState")
            if state in _STATES:
                place(rule, "condition.isLive", _STATES[state])
        return body

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        state = super().state(where, answer, stated)
        state["url"] = f"gs://{where['name']}"
        said = stated.get("lifecycleRules") or []
        for index, rule in enumerate(lookup(answer, "lifecycle.rule") or []):
            live = lookup(rule, "condition.isLive")
            asked = index < len(said) and "withState" in (said[index].get("condition") or {})
            if live is not None or asked:
                shown = {True: "LIVE", False: "ARCHIVED"}.get(live, "ANY")
                place(state["lifecycleRules"][index], "condition.withState", shown)
        return state

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """PATCH with the top-level fields that changed; null takes a field back."""
        body, patch = self.body(where, inputs), Properties()
        for change in found:
            name = str(change.path[0])
            if name in ("labels", "pulumiLabels"):
                now = self.answer(where).get("labels") or {}
                wanted = self.effective_labels(now, state, inputs)
                patch["labels"] = {**{key: None for key in now if key not in wanted}, **wanted}
            elif not self.facts.has("local", (name,)):
                field = api_field(self.facts, parse_pattern(name)).split(".")[0]
                patch[field] = body.get(field)
        if "iamConfiguration" in patch:
            patch["iamConfiguration"] = {
                **(self.answer(where).get("iamConfiguration") or {}),
                **(body.get("iamConfiguration") or {}),
            }
        if patch:
            self.google.call("PATCH", "storage", self.path(where), json=patch)

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        path = self.path(where)
        if state.get("forceDestroy"):
            self._empty(path)
        self.google.call("DELETE", "storage", path)

    def _empty(self, path: str) -> None:
        while True:
            page = self.google.call("GET", "storage", f"{path}/o", params={"versions": "true"})
            for item in page.get("items") or []:
                params = {"generation": item["generation"]} if "generation" in item else None
                self.google.call("DELETE", "storage", f"{path}/o/{quote(item['name'], safe='')}", params=params)
            if not page.get("items"):
                return
