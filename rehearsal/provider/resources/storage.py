"""Cloud Storage buckets and objects."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from rehearsal.provider.check import DEFAULTS
from rehearsal.provider.paths import Path, lookup, parse_pattern, place
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


class BucketObject(Resource):
    """An object whose content the program states as text."""

    service = "storage"

    def path(self, where: Mapping[str, str]) -> str:
        return f"b/{quote(where['bucket'], safe='')}/o/{quote(where['name'], safe='')}"

    def known(self, identity: str, properties: Properties) -> dict[str, str]:
        """The id cannot be taken apart: names of buckets and of objects may have hyphens."""
        if not properties.get("bucket"):
            raise Refused(f"{identity}: an object cannot be imported")
        return {name: str(properties[name]) for name in ("bucket", "name")}

    def changes(self, state: Properties, inputs: Properties, ignored: Iterable[Path] = ()) -> list[Change]:
        """Content that somebody else has replaced shows as a change of `detectMd5hash`, as with the real provider."""
        found = super().changes(state, inputs, ignored)
        content, known = inputs.get("content"), state.get("md5hash")
        if not found and isinstance(content, str) and known and known != _md5(content):
            found.append(Change(("detectMd5hash",), "update", False))
        return found

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        """One upload of the object's settings and its content."""
        if not isinstance(inputs.get("content"), str):
            raise Refused("source: the rehearsal uploads text only; state it as content")
        fields = {**self.body(where, inputs), "name": where["name"]}
        boundary = uuid.uuid4().hex
        kind = inputs.get("contentType") or "text/plain; charset=utf-8"
        parts = [("application/json; charset=UTF-8", json.dumps(fields)), (str(kind), str(inputs["content"]))]
        text = "".join(f"--{boundary}\r\nContent-Type: {type_}\r\n\r\n{part}\r\n" for type_, part in parts)
        body = f"{text}--{boundary}--\r\n".encode()
        path = f"b/{quote(where['bucket'], safe='')}/o"
        params = {"uploadType": "multipart", "name": where["name"]}
        content = (body, f"multipart/related; boundary={boundary}")
        return self.google.call("POST", "storageUpload", path, params=params, content=content)

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        state = {**super().state(where, answer, stated), "bucket": where["bucket"], "name": where["name"]}
        if "md5hash" in state:
            state["md5hexhash"] = base64.b64decode(state["md5hash"]).hex()
        return state

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """Whatever can change in place, the object is uploaded again."""
        if any(not self.facts.has("local", (str(change.path[0]),)) or change.path[0] in _UPLOADED for change in found):
            self.begin(where, {name: value for name, value in inputs.items() if name != DEFAULTS})


_UPLOADED = ("content", "detectMd5hash", "sourceMd5hash")


def _md5(content: str) -> str:
    return base64.b64encode(hashlib.md5(content.encode(), usedforsecurity=False).digest()).decode()
