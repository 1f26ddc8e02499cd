"""Access tokens: Google's token endpoint, and the key file that makes google-auth ask this one.

Source: OAuth 2.0 for service accounts (JWT bearer grant, RFC 7523), as google-auth speaks it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rehearsal.google import faults, identity
from rehearsal.google.cloud import Cloud

PATH = "/token"
LIFETIME_SECONDS = 3600
PROJECT = "example-ml"
ACCOUNT = f"rehearsal@{PROJECT}.iam.gserviceaccount.com"


def write_key_file(path: Path, base_url: str, account: str = ACCOUNT) -> None:
    """Write Application Default Credentials whose tokens come from the double. An existing file keeps its key.

    ACCOUNT is the operator's; the tokens of any other account are good for what policies grant it.
    """
    known = json.loads(path.read_text()) if path.exists() else {}
    content = {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": "rehearsal",
        "private_key": known.get("private_key") or _key(),
        "client_email": account,
        "client_id": "0",
        "token_uri": base_url + PATH,
    }
    if content != known:
        path.touch(mode=0o600)
        path.write_text(json.dumps(content, indent=1))


async def answer(cloud: Cloud, request: Request) -> Response:
    """The token of whoever asserts to be somebody; none while the caller's credentials are revoked.

    The operator's is the one that every rehearsed cluster accepts.
    """
    revoked = any(fault.name == "credentials" for fault in await run_in_threadpool(faults.active, cloud))
    if revoked:
        text = "Token has been expired or revoked."
        return JSONResponse({"error": "invalid_grant", "error_description": text}, 400)
    account = _issuer((await request.body()).decode())
    token = cloud.token if account == ACCOUNT else identity.token(f"serviceAccount:{account}")
    return JSONResponse({"access_token": token, "expires_in": LIFETIME_SECONDS, "token_type": "Bearer"})


def _issuer(form: str) -> str:
    """The account that an assertion, a JSON Web Token, says it is of; nobody lies to a double."""
    [assertion] = parse_qs(form).get("assertion", [""])
    claims = assertion.split(".")[1] if assertion.count(".") == 2 else ""
    try:
        found = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    except ValueError:
        return ACCOUNT
    return str(found.get("iss", ACCOUNT))


def _key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()
