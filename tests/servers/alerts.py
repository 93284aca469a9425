"""A webhook in a thread: it takes every POST, and remembers what it was told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.servers.posts import Post, taking_posts


@dataclass(frozen=True, slots=True)
class Alerts:
    """Where it is, and what it was told."""

    url: str
    told: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def alerts_server() -> Iterator[Alerts]:
    """Serves until the block ends."""
    told: list[dict[str, Any]] = []

    def take(post: Post) -> int:
        told.append(json.loads(post.body))
        return 204

    with taking_posts(take) as port:
        yield Alerts(f"http://127.0.0.1:{port}/alerts", told)
