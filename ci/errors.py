"""The error of a step."""


class StepError(Exception):
    """A step that cannot be done: a sentence for the log, and the exit code that the pipeline sees."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
