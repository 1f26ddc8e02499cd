"""Functions of the provider: what a program may look up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rehearsal.provider.google import Google
from rehearsal.provider.resources.base import Config, Refused

Answer = dict[str, Any]
Function = Callable[[Google, Config, Mapping[str, Any]], Answer]


def invoke(token: str, google: Google | None, config: Config, arguments: Mapping[str, Any]) -> Answer:
    """The answer of a function. Raises Refused for one that no rehearsal covers."""
    function = _FUNCTIONS.get(token)
    if function is None:
        raise Refused(
            f"{token} is not covered by the rehearsal's gcp provider: state what it would look up in the stack instead"
        )
    if google is None:
        raise Refused(f"the provider was asked for {token} before it was configured")
    return function(google, config, arguments)


def _default_service_account(google: Google, config: Config, arguments: Mapping[str, Any]) -> Answer:
    """The account that VMs of a project act as when nothing else is said."""
    project = str(arguments.get("project") or config.project)
    if not project:
        raise Refused("project: the function is told none, and the stack has no gcp:project")
    found = google.call("GET", "compute", f"projects/{project}")
    email = found["defaultServiceAccount"]
    name = f"projects/{project}/serviceAccounts/{email}"
    return {
        "id": name,
        "name": name,
        "email": email,
        "member": f"serviceAccount:{email}",
        "displayName": "Compute Engine default service account",
        "project": project,
        # An account's id is told by IAM, which has no record of Google's own accounts in a rehearsal.
        "uniqueId": str(found["id"]),
    }


_FUNCTIONS: dict[str, Function] = {
    "gcp:compute/getDefaultServiceAccount:getDefaultServiceAccount": _default_service_account,
}
