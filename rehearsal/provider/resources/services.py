"""Google services that a project may use."""

from __future__ import annotations

from collections.abc import Mapping

from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, Resource


class Service(Resource):
    service = "serviceusage"

    def path(self, where: Mapping[str, str]) -> str:
        return f"projects/{where['project']}/services/{where['service']}"

    def find(self, where: Mapping[str, str]) -> Properties | None:
        """A service that is not enabled counts as gone."""
        found = super().find(where)
        return found if found and found.get("state") == "ENABLED" else None

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        """Enabling what is enabled already is no error."""
        return self.google.call("POST", self.service, f"{self.path(where)}:enable", json={})

    def finish(self, where: Mapping[str, str], begun: Properties, timeout: float) -> None:
        self.google.wait(self.service, str(begun.get("name", "")), begun, timeout)

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        return super().state(where, {}, {**stated, "service": where["service"]})

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """What can change without replacement concerns destroy only."""

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        if state.get("disableOnDestroy"):
            dependents = bool(state.get("disableDependentServices"))
            body = {"disableDependentServices": dependents}
            self.finish(
                where, self.google.call("POST", self.service, f"{self.path(where)}:disable", json=body), timeout
            )
