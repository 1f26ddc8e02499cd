"""Build the rehearsal's Go programs by hand and print where they are."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from rehearsal.errors import RehearsalError
from rehearsal.tools import DEFAULT, Tools, location
from rehearsal.tools.catalogue import PROGRAMS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m rehearsal.tools", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PROGRAMS)}")
    parser.add_argument("--clean", action="store_true", help="remove what was built, for every checkout")
    options = parser.parse_args()
    try:
        if options.clean:
            return _clean()
        tools = Tools.locate()
        names = options.names or list(DEFAULT)
        tools.ensure(names)
        for name in names:
            print(tools.program(name))
    except RehearsalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what is built so far is kept", file=sys.stderr)
        return 130
    return 0


def _clean() -> int:
    if os.environ.get(location.OVERRIDE):
        raise RehearsalError(f"{location.OVERRIDE} is set; remove that folder yourself")
    shutil.rmtree(location.cache(), ignore_errors=True)
    print(f"removed {location.cache()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
