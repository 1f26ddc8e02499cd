"""Service accounts, custom roles, and grants of a role to a member."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import ClassVar
from urllib.parse import quote

import tenacity

from rehearsal.provider.google import GoogleError
from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, Refused, Resource, changed


class Account(Resource):
    service = "iam"

    def where(self, inputs: Properties) -> dict[str, str]:
        project = str(inputs.get("project") or self.config.project)
        return super().where({**inputs, "email": f"{inputs.get('accountId')}@{project}.iam.gserviceaccount.com"})

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        body = {"accountId": inputs["accountId"], "serviceAccount": self._shown(inputs)}
        try:
            return self.google.call("POST", "iam", self.collection(where), json=body)
        except GoogleError as error:
            if error.status == 409 and inputs.get("createIgnoreAlreadyExists"):
                return {}
            raise

    def follow_up(self, where: Mapping[str, str], inputs: Properties, timeout: float) -> None:
        if inputs.get("disabled"):
            self.google.call("POST", "iam", f"{self.path(where)}:disable", json={})

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        state = super().state(where, answer, stated)
        return {**state, "accountId": where["email"].split("@")[0], "member": f"serviceAccount:{where['email']}"}

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        fields = [name for name in ("displayName", "description") if changed(found, name)]
        if fields:
            body = {"serviceAccount": {"displayName": "", "description": "", **self._shown(inputs)}}
            self.google.call("PATCH", "iam", self.path(where), json={**body, "updateMask": ",".join(fields)})
        if changed(found, "disabled"):
            verb = "disable" if inputs.get("disabled") else "enable"
            self.google.call("POST", "iam", f"{self.path(where)}:{verb}", json={})

    def _shown(self, inputs: Properties) -> Properties:
        return {name: inputs[name] for name in ("displayName", "description") if name in inputs}


class CustomRole(Resource):
    service = "iam"

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        path, role = self.path(where), self.body(where, inputs)
        found = super().find(where)
        if found is None:
            body = {"roleId": where["roleId"], "role": role}
            return self.google.call("POST", "iam", self.collection(where), json=body)
        if not found.get("deleted"):
            raise Refused(f"{path} already exists: import it into the stack, or delete it in the cloud")
        self.google.call("POST", "iam", f"{path}:undelete", json={})
        return self.google.call("PATCH", "iam", path, json=role)

    def find(self, where: Mapping[str, str]) -> Properties | None:
        """A deleted role can be read for seven days more, and counts as gone."""
        found = super().find(where)
        return None if found is None or found.get("deleted") else found

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        return {"deleted": False, **super().state(where, answer, stated), "roleId": where["roleId"]}

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        if changed(found, "title", "description", "stage", "permissions"):
            self.google.call("PATCH", "iam", self.path(where), json=self.body(where, inputs))

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        if self.find(where) is not None:
            super().remove(where, state, timeout)


class Member(Resource):
    """One member of one role: every change reads the whole policy and writes it back with its etag."""

    owner = "project"  # the property that names what the policy belongs to
    _policies: ClassVar[defaultdict[str, threading.Lock]] = defaultdict(threading.Lock)

    def get_policy(self, owner: str) -> Properties:
        raise NotImplementedError

    def set_policy(self, owner: str, policy: Properties) -> Properties:
        raise NotImplementedError

    def identity(self, where: Mapping[str, str]) -> str:
        title = f"/{where['title']}" if where.get("title") else ""
        return super().identity(where) + title

    def where(self, inputs: Properties) -> dict[str, str]:
        condition = inputs.get("condition") or {}
        owner = str(inputs[self.owner]).removeprefix("b/")
        return {self.owner: owner, "role": inputs["role"], "member": inputs["member"], **_condition(condition)}

    def known(self, identity: str, properties: Properties) -> dict[str, str]:
        """From the properties where there are any: roles and members may hold the slashes that separate an id."""
        return self.where(properties) if properties.get(self.owner) else self.parse(identity)

    def parse(self, identity: str) -> dict[str, str]:
        owner, _, rest = identity.removeprefix("b/").partition(" ")
        role, _, rest = rest.partition(" ")
        member, _, title = rest.partition(" ")
        if not member:
            raise Refused(
                f"{identity!r} is no id to import a {self.facts.token} by; it is written "
                f"{' or '.join(self.facts.imports)}"
            )
        return {self.owner: owner, "role": role, "member": member, **_condition({"title": title})}

    def find(self, where: Mapping[str, str]) -> Properties | None:
        try:
            policy = self.get_policy(where[self.owner])
        except GoogleError as error:
            if error.status == 404:
                return None
            raise
        binding = next((b for b in policy.get("bindings") or [] if self._matches(b, where)), None)
        if binding is None or _index(binding, where["member"]) is None:
            return None
        return {"etag": policy.get("etag"), "condition": binding.get("condition")}

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        def grant(bindings: list[Properties]) -> None:
            binding = next((b for b in bindings if self._matches(b, where)), None)
            if binding is None:
                condition = {"condition": inputs["condition"]} if inputs.get("condition") else {}
                bindings.append({"role": where["role"], "members": [where["member"]], **condition})
            elif _index(binding, where["member"]) is None:
                binding["members"].append(where["member"])

        self._edit(where, grant)
        return {}

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        owner = stated.get(self.owner) or where[self.owner]
        told = {self.owner: owner, "role": where["role"], "member": stated.get("member") or where["member"]}
        condition = {"condition": answer["condition"]} if answer.get("condition") else {}
        return {**told, **condition, "etag": answer.get("etag") or ""}

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """Every input replaces: there is nothing to send."""

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        def revoke(bindings: list[Properties]) -> None:
            for binding in [b for b in bindings if self._matches(b, where)]:
                index = _index(binding, where["member"])
                if index is not None:
                    del binding["members"][index]
                if not binding["members"]:
                    bindings.remove(binding)

        self._edit(where, revoke)

    def location(self, where: Mapping[str, str]) -> Properties:
        return {}

    def _edit(self, where: Mapping[str, str], change: Callable[[list[Properties]], None]) -> None:
        """Read, change and write; again from the start when somebody else wrote in between."""

        def conflict(error: BaseException) -> bool:
            return isinstance(error, GoogleError) and error.status in (409, 412)

        owner = where[self.owner]
        with self._policies[f"{self.service}/{owner}"]:
            for attempt in tenacity.Retrying(
                retry=tenacity.retry_if_exception(conflict),
                wait=tenacity.wait_random_exponential(multiplier=0.05, max=2),
                stop=tenacity.stop_after_attempt(20),
                reraise=True,
            ):
                with attempt:
                    policy = self.get_policy(owner)
                    bindings = policy.setdefault("bindings", [])
                    change(bindings)
                    if any(binding.get("condition") for binding in bindings):
                        policy["version"] = 3
                    self.set_policy(owner, policy)

    def _matches(self, binding: Properties, where: Mapping[str, str]) -> bool:
        title = (binding.get("condition") or {}).get("title", "")
        return binding.get("role") == where["role"] and title == where.get("title", "")


class ProjectMember(Member):
    service = "cloudresourcemanager"

    def get_policy(self, owner: str) -> Properties:
        options = {"options": {"requestedPolicyVersion": 3}}
        return self.google.call("POST", self.service, f"projects/{owner}:getIamPolicy", json=options)

    def set_policy(self, owner: str, policy: Properties) -> Properties:
        body = {"policy": policy, "updateMask": "bindings,etag,auditConfigs"}
        return self.google.call("POST", self.service, f"projects/{owner}:setIamPolicy", json=body)


class AccountMember(Member):
    service = "iam"
    owner = "serviceAccountId"

    def get_policy(self, owner: str) -> Properties:
        params = {"options.requestedPolicyVersion": 3}
        return self.google.call("POST", self.service, f"{owner}:getIamPolicy", params=params)

    def set_policy(self, owner: str, policy: Properties) -> Properties:
        return self.google.call("POST", self.service, f"{owner}:setIamPolicy", json={"policy": policy})


class BucketMember(Member):
    service = "storage"
    owner = "bucket"

    def get_policy(self, owner: str) -> Properties:
        params = {"optionsRequestedPolicyVersion": 3}
        return self.google.call("GET", self.service, f"b/{quote(owner, safe='')}/iam", params=params)

    def set_policy(self, owner: str, policy: Properties) -> Properties:
        return self.google.call("PUT", self.service, f"b/{quote(owner, safe='')}/iam", json=policy)


def _condition(condition: Mapping[str, str]) -> dict[str, str]:
    return {"title": condition["title"]} if condition.get("title") else {}


def _index(binding: Properties, member: str) -> int | None:
    """Members are compared without regard to case."""
    members = [str(m).casefold() for m in binding.get("members") or []]
    return members.index(member.casefold()) if member.casefold() in members else None
