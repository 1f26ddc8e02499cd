"""Writes docs/policies.md from the rules: `python -m policies.document > docs/policies.md`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from policies.pack import MODULES
from policies.rule import Rule, rules_of

ENVIRONMENTS = Path(__file__).resolve().parent / "environments"

HEAD = """\
# Policies

Rules on what is about to be made, by this program or by any other: they look at resources, not at our settings.
This page is written from the rules themselves (`python -m policies.document > docs/policies.md`).

```
pulumi preview --policy-pack policies --policy-pack-config policies/environments/production.json
```

An environment's configuration is a JSON file that names rules. A rule is given a level, or an object of
`enforcementLevel` and parameters:

| Level | A stack that breaks the rule |
|---|---|
| `mandatory` | is refused |
| `remediate` | is corrected where a correction is safe (marked below), and refused otherwise |
| `advisory` | is told so |
| `disabled` | is not looked at |

`"all": "mandatory"` sets the level of all rules that are not named. The level below holds where nothing else is said.
A value that only the update will know breaks no rule in a preview; the update itself judges it.

`policies/environments/` holds two to begin with; who may change them decides what the environments may hold, so give
them an owner (`CODEOWNERS`). `ci/environments.yaml` says which stacks belong to which environment.
"""


def render() -> str:
    """The page."""
    return "\n".join([HEAD, *_overview(), *(line for module in MODULES for line in _module(module))]).rstrip() + "\n"


def _overview() -> Iterator[str]:
    environments = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(ENVIRONMENTS.glob("*.json"))}
    yield f"| Rule | Level | {' | '.join(environments)} |"
    yield f"|---|---|{'---|' * len(environments)}"
    for module in MODULES:
        for rule in rules_of(module):
            levels = [_level(rule, config) for config in environments.values()]
            yield f"| [`{rule.name}`](#{rule.name}) | {rule.level} | {' | '.join(levels)} |"
    yield ""


def _level(rule: Rule, config: dict[str, object]) -> str:
    stated = config.get(rule.name)
    level = stated.get("enforcementLevel") if isinstance(stated, dict) else stated
    found = level or config.get("all") or rule.level
    return f"**{found}**" if found != rule.level else str(found)


def _module(module: ModuleType) -> Iterator[str]:
    documentation = (module.__doc__ or "").strip()
    yield f"## {module.TITLE}"
    yield ""
    yield " ".join(documentation.split())
    yield ""
    for rule in rules_of(module):
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.name}"
    yield ""
    yield rule.description
    yield ""
    facts = [f"Severity {rule.severity.value}", "whole stack" if rule.stack_body else "each resource"]
    if rule.remedy:
        facts.append("can be corrected (`remediate`)")
    yield f"{', '.join(facts)}. To fix it: {rule.fix[0].lower()}{rule.fix[1:]}."
    yield ""
    for name, schema in rule.parameters.items():
        default = f", default `{json.dumps(schema['default'])}`" if "default" in schema else ""
        yield f"- `{name}` ({schema['type']}{default}): {schema['description']}"
    if rule.parameters:
        yield ""


if __name__ == "__main__":
    print(render(), end="")
