"""A model provider: its name at the door, where it is, which secret opens it."""

from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

DialectName = Literal["anthropic", "openai", "google"]


def dialect_of(provider: str) -> DialectName:
    """What a provider speaks when nobody says: its own name, or as Anthropic does."""
    return next((name for name in get_args(DialectName) if name == provider), "anthropic")


@dataclass(frozen=True, slots=True)
class Provider:
    """`name` is its path at the door (`/model/<name>`) and the first half of `provider:model`.

    `base_url`: what the dialect's paths (`/v1/messages`) are put behind. `secret`: its name in the
    vault, which must be bound to this base URL's host. Raises: ValueError on a URL that won't do.
    """

    name: str
    base_url: str
    secret: str
    dialect: DialectName = "anthropic"

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise ValueError(f"provider {self.name}: the base URL must be http(s)://host[:port]")
        if parts.query or parts.fragment:
            raise ValueError(f"provider {self.name}: the base URL must have no query")

    def url(self, path: str) -> str:
        """The URL of one of the dialect's paths."""
        return self.base_url.rstrip("/") + path
