"""Print what is installed in the Python that runs this file, as one JSON document.

A script, not a module of the host: it runs in the program's own interpreter, with the standard library only.
"""

import json
import platform
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any


def canonical(name: str) -> str:
    """A distribution's name as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def plugin(distribution: Distribution, name: str) -> Any:
    """The package's pulumi-plugin.json, which every SDK keeps in its top module; None when it has none."""
    path = Path(str(distribution.locate_file(f"{name.replace('-', '_')}/pulumi-plugin.json")))
    return json.loads(path.read_text()) if path.is_file() else None


def required_by(distribution: Distribution) -> set[str]:
    """Names of the distributions it needs, optional extras left out."""
    needed = set()
    for requirement in distribution.requires or []:
        name = re.match(r"[\w.-]+", requirement)
        if name and not re.search(r"\bextra\s*==", requirement):
            needed.add(canonical(name.group()))
    return needed


def main() -> None:
    found: dict[str, dict[str, Any]] = {}
    needed: set[str] = set()
    for distribution in distributions():
        name = canonical(distribution.metadata["Name"])
        if name not in found:
            found[name] = {
                "name": name,
                "version": distribution.version,
                "plugin": plugin(distribution, name),
            }
            needed |= required_by(distribution)
    packages = [{**found[name], "required": name in needed} for name in sorted(found)]
    json.dump({"executable": sys.executable, "version": platform.python_version(), "packages": packages}, sys.stdout)


if __name__ == "__main__":
    main()
