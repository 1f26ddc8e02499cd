"""Changes that replace a resource only in some cases; the names are used by `replacesIf` in the facts."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any

from rehearsal.provider.values import UNKNOWN

# (old value, new value, old state, new inputs) -> whether this change replaces
Condition = Callable[[Any, Any, Mapping[str, Any], Mapping[str, Any]], bool]


def _turned_off(old: Any, new: Any, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    return bool(old) and not new


def _element_dropped(old: Any, new: Any, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    return new is not UNKNOWN and not set(old or ()) <= set(new or ())


def _autopilot(old: Any, new: Any, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    return bool(inputs.get("enableAutopilot"))


def _not_an_expansion(old: Any, new: Any, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    if not old or not new or new is UNKNOWN:
        return True
    before, after = ipaddress.ip_network(old, strict=False), ipaddress.ip_network(new, strict=False)
    return before.version != after.version or not before.subnet_of(after)  # type: ignore[arg-type]


CONDITIONS: Mapping[str, Condition] = {
    "turned-off": _turned_off,
    "element-dropped": _element_dropped,
    "autopilot": _autopilot,
    "not-an-expansion": _not_an_expansion,
}


def dropped_without_profile(state: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Whether leaving out a node pool's additional node networks takes them away, although Google filled them in.

    They stay only while an unchanged accelerator network profile accounts for them.
    """
    old = (state.get("networkConfig") or {}).get("acceleratorNetworkProfile")
    new = (inputs.get("networkConfig") or {}).get("acceleratorNetworkProfile")
    return not new or new != old
