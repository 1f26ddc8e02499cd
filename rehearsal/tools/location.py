"""Where built programs lie: a user cache that every checkout with the same pins shares."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from rehearsal.home import Home
from rehearsal.tools import catalogue

OVERRIDE = "PATHWAYS_TOOLS"
"""Names the folder to use instead, as it is."""


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """$PATHWAYS_TOOLS, else this checkout's folder in the user's cache, else, unwritable, in the rehearsal's."""
    if override := environ.get(OVERRIDE):
        return Path(override).resolve()
    shared = cache(environ) / digest()
    return shared if _writable(shared) else Home.default().root / "tools" / digest()


def cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Parent of the folders of all checkouts."""
    base = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home()) / ".cache"
    return Path(base) / "pulumi-pathways" / "tools"


def digest(sources: Path = catalogue.SOURCES) -> str:
    """Sixteen hexadecimal digits that change with every pin, source and build setting."""
    content = hashlib.sha256()
    settings = (catalogue.BUILD_FLAGS, sorted(catalogue.BUILD_ENVIRONMENT.items()), catalogue.PROGRAMS)
    content.update(repr(settings).encode())
    for path in sorted(path for name in ("go.mod", "go.sum", "*.go") for path in sources.rglob(name)):
        content.update(f"{path.relative_to(sources)}\n".encode())
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


def _writable(path: Path) -> bool:
    existing = next(parent for parent in (path, *path.parents) if parent.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
