"""One comment on a pull request, updated in place.

GitHub REST API: https://docs.github.com/rest/issues/comments
"""

from __future__ import annotations

from typing import Any

import httpx

from ci.errors import StepError
from cli.report.markdown import GITHUB_LIMIT, MARKER


def put(body: str, api: str, repository: str, number: int, token: str) -> str:
    """Write the report's comment, or update the one there is; its address. Raises StepError."""
    if not body.startswith(MARKER) or len(body) > GITHUB_LIMIT:
        raise StepError("This is no report for a comment: write it with `pathways report --markdown FILE`.")
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    transport = httpx.HTTPTransport(retries=3)
    try:
        with httpx.Client(
            base_url=f"{api}/repos/{repository}", headers=headers, timeout=30, transport=transport
        ) as github:
            mine = _mine(github, number)
            if mine is None:
                answer = github.post(f"/issues/{number}/comments", json={"body": body})
            else:
                answer = github.patch(f"/issues/comments/{mine}", json={"body": body})
            answer.raise_for_status()
            return str(answer.json()["html_url"])
    except httpx.HTTPStatusError as error:
        status, path = error.response.status_code, error.request.url.path
        raise StepError(
            f"GitHub answered {status} to {error.request.method} {path}: {error.response.text[:300]}"
        ) from error
    except httpx.TransportError as error:
        raise StepError(f"GitHub cannot be reached: {error}") from error


def _mine(github: httpx.Client, number: int) -> int | None:
    """The id of the comment that an earlier run wrote; of several, the first."""
    page: str | None = f"/issues/{number}/comments?per_page=100"
    while page:
        answer = github.get(page)
        answer.raise_for_status()
        comments: list[dict[str, Any]] = answer.json()
        for comment in comments:
            if str(comment.get("body", "")).startswith(MARKER):
                return int(comment["id"])
        page = answer.links.get("next", {}).get("url")
    return None
