"""Cluster Director's clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, Resource

_BY_ID = ("computeResources", "networkResources", "storageResources")


class Cluster(Resource):
    """A cluster whose networks, compute and storage are sets of entries with ids, and maps in the API."""

    service = "hypercomputecluster"

    def finish(self, where: Mapping[str, str], begun: Properties, timeout: float) -> None:
        self.google.wait(self.service, str(begun["name"]), begun, timeout)

    def settle(self, where: Mapping[str, str], timeout: float) -> None:
        def resting(found: Properties | None) -> bool:
            return found is None or not found.get("reconciling")

        self.google.until(lambda: self.google.find(self.service, self.path(where)), resting, timeout)

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        params = {"clusterId": where["clusterId"]}
        body = self.body(where, inputs)
        return self.google.call("POST", self.service, self.collection(where), params=params, json=body)

    def location(self, where: Mapping[str, str]) -> Properties:
        return {**super().location(where), "clusterId": where["clusterId"]}

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        """The API's maps have no order: entries are in that of `stated`, so that they compare one by one."""
        for field in _BY_ID:
            ids = [str(entry.get("id")) for entry in stated.get(field) or []]
            if field in answer:
                answer = {**answer, field: _ordered(answer[field], ids)}
        return {"reconciling": False, **super().state(where, answer, stated)}

    def read(self, identity: str, inputs: Properties, state: Properties) -> tuple[str, Properties, Properties] | None:
        """The program's order counts, where it is another than that of the state."""
        stated = dict(state)
        for field in _BY_ID:
            if state.get(field) and inputs.get(field):
                ids = [str(entry.get("id")) for entry in inputs[field]]
                by_id = {str(entry.get("id")): entry for entry in state[field]}
                stated[field] = list(_ordered(by_id, ids).values())
        return super().read(identity, inputs, stated)

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """One PATCH with the top-level fields that changed, named in its mask.

        What the planner did not notice is not sent either: an entry that keeps its id keeps its content.
        """
        kept = {field: _kept(state.get(field) or [], inputs[field]) for field in _BY_ID if inputs.get(field)}
        body, fields = self.body(where, {**inputs, **kept}), set()
        for change in found:
            name = str(change.path[0])
            if name in ("labels", "pulumiLabels"):
                now = self.answer(where).get("labels") or {}
                body["labels"] = self.effective_labels(now, state, inputs)
                fields.add("labels")
            elif not self.facts.has("local", (name,)):
                fields.add(name)
        if fields:
            params = {"updateMask": ",".join(sorted(fields))}
            patch = {field: body[field] for field in sorted(fields) if field in body}
            self.finish(
                where, self.google.call("PATCH", self.service, self.path(where), params=params, json=patch), timeout
            )


def _ordered(entries: Mapping[str, Any], ids: list[str]) -> dict[str, Any]:
    """The entries in the order of `ids`, and those that it does not name after them."""
    return {id: entries[id] for id in [*ids, *entries] if id in entries}


def _kept(before: list[Any], wanted: list[Any]) -> list[Any]:
    """The wanted entries, with the content they had where their id is not new."""
    known = {entry.get("id"): entry for entry in before}
    return [known.get(entry.get("id"), entry) for entry in wanted]
