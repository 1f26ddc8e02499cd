"""Errors as Google's APIs answer them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class GoogleError(Exception):
    """A refused request. `reason` is the short word in `errors[]` that older clients read."""

    def __init__(self, code: int, status: str, reason: str, message: str, details: list[Json] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or []

    def body(self) -> Json:
        """The JSON of the answer: what all services share, and the `errors` list of the older ones."""
        error: Json = {
            "code": self.code,
            "message": self.message,
            "status": self.status,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
        }
        if self.details:
            error["details"] = self.details
        return {"error": error}


def invalid(message: str, reason: str = "badRequest") -> GoogleError:
    return GoogleError(400, "INVALID_ARGUMENT", reason, message)


def failed_precondition(message: str) -> GoogleError:
    return GoogleError(400, "FAILED_PRECONDITION", "failedPrecondition", message)


def denied(message: str) -> GoogleError:
    return GoogleError(403, "PERMISSION_DENIED", "forbidden", message)


def not_found(message: str) -> GoogleError:
    return GoogleError(404, "NOT_FOUND", "notFound", message)


def already_exists(message: str) -> GoogleError:
    return GoogleError(409, "ALREADY_EXISTS", "alreadyExists", message)


def conflict(message: str) -> GoogleError:
    return GoogleError(409, "ABORTED", "conflict", message)


def condition_not_met(message: str) -> GoogleError:
    return GoogleError(412, "FAILED_PRECONDITION", "conditionNotMet", message)


def unimplemented(message: str) -> GoogleError:
    return GoogleError(501, "UNIMPLEMENTED", "notImplemented", message)


def unavailable(message: str) -> GoogleError:
    return GoogleError(503, "UNAVAILABLE", "backendError", message)


def bad_fields(violations: list[tuple[str, str]]) -> GoogleError:
    """A body that does not fit its schema: (field path, what is wrong) each."""
    detail = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": field, "description": text} for field, text in violations],
    }
    message = "\n".join(text for _, text in violations)
    return GoogleError(400, "INVALID_ARGUMENT", "badRequest", message, [detail])
