"""For all tests: the garbage collector is made to look less often.

The SDKs of Google and Kubernetes are millions of objects that live as long as the process; walking them again and again
took a fifth of the time of the tests that need no Go program.
"""

from __future__ import annotations

import gc


def pytest_configure() -> None:
    gc.set_threshold(100_000, 50, 1000)


def pytest_sessionfinish() -> None:
    # pytest collects five times when it ends.
    gc.freeze()
