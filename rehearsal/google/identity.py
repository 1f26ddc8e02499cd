"""Whose request it is: access tokens of the rehearsal say it themselves. Without one it is the operator's."""

from __future__ import annotations

import base64
import binascii

# What Google's own access tokens begin with, and a mark that tells ours from them.
_PREFIX = "ya29.rehearsal-"


def token(member: str) -> str:
    """The access token of a member of IAM policies, such as serviceAccount:EMAIL."""
    return _PREFIX + base64.urlsafe_b64encode(member.encode()).decode()


def member_of(authorization: str) -> str | None:
    """The member whose token an Authorization header carries; None for the operator, who may do everything."""
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() != "bearer" or not text.startswith(_PREFIX):
        return None
    try:
        return base64.urlsafe_b64decode(text.removeprefix(_PREFIX)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
