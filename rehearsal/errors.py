"""The one error a person sees from a rehearsal."""


class RehearsalError(Exception):
    """A rehearsal cannot go on. The message says what, where and how to fix it, and is all the user sees."""
