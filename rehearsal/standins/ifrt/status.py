"""Failures as the protocol tells them: a canonical code and a sentence."""

from __future__ import annotations

# Of the canonical codes those that are told here. Source: google/rpc/code.proto.
INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED, INTERNAL, DATA_LOSS = 3, 5, 12, 13, 15


class StatusError(Exception):
    """What a request ends with that cannot be fulfilled."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def not_served(what: str) -> StatusError:
    """The end of a request for what a real proxy can do and this one cannot. `what` is a plural."""
    return StatusError(UNIMPLEMENTED, f"The rehearsed Pathways has no {what}; the real one does.")


def lost(slice_index: int) -> StatusError:
    """What became of work on a lost slice. pathwaysutils takes this code for the loss of a slice."""
    return StatusError(DATA_LOSS, f"Slice {slice_index} is lost.")
