"""What tests ask of processes that they did not start themselves."""

from __future__ import annotations

import time

from rehearsal.processes import running


def gone(pid: int) -> bool:
    """Whether a process ends. A zombie has ended: who inherited it is slow to ask for it."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not running(pid):
            return True
        time.sleep(0.02)
    return False
