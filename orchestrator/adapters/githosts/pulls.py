"""How GitHub's API, and Gitea's after it, write a pull request."""

from collections.abc import Mapping
from typing import Any

from entrance.session import RepoGrant
from orchestrator.adapters.githosts.api import proposed
from orchestrator.adapters.githosts.found import Found
from orchestrator.ports.githosts import Proposal, Proposed


def path_of(grant: RepoGrant) -> str:
    """Where the pull requests of a repository are."""
    return f"repos/{grant.full_name}/pulls"


def body_of(wanted: Proposal) -> Mapping[str, str]:
    """What is sent to make one."""
    return {
        "title": wanted.title,
        "head": wanted.branch,
        "base": wanted.base,
        "body": wanted.body,
    }


def read(row: Any) -> Proposed:
    """One, as it is told. Raises: Malformed."""
    return proposed(row, "number", "html_url")


def found(row: Mapping[str, Any]) -> Found:
    """One of a list, with its text. Raises: Malformed."""
    return Found(read(row), str(row.get("body") or ""))
