"""After an update that was cut off: its lock, its plugins and what it had begun."""

from __future__ import annotations

import contextlib
import json
import socket
from pathlib import Path

import psutil

from rehearsal.home import Home
from rehearsal.processes import running

# Set for the CLI and all it starts, to the rehearsal's folder: a user's own shell never has it.
UPDATE_OF = "REHEARSAL_UPDATE_OF"


def stale_locks(home: Home, stack: str) -> list[Path]:
    """Locks of the stack whose update no longer runs on this machine."""
    found = []
    for path in (home.backend / ".pulumi" / "locks").rglob(f"{stack}/*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            lock = json.loads(path.read_text())
            if lock["hostname"] == socket.gethostname() and not running(lock["pid"]):
                found.append(path)
    return found


def end_stragglers(home: Home) -> None:
    """End the plugins and programs that a killed CLI left running; the engine ends its own otherwise."""
    left = [process for process in psutil.process_iter() if _orphaned(process, home)]
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(left, timeout=5)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _orphaned(process: psutil.Process, home: Home) -> bool:
    with contextlib.suppress(psutil.Error):
        if process.environ().get(UPDATE_OF) == str(home.root):
            return all(ancestor.name() != "pulumi" for ancestor in [process, *process.parents()])
    return False
