"""What the rules of all dialects share: allow-lists of keys, and of what the client brings along [pure].

RULES: what is not named in a table is refused. A new key of an API is let through by adding it to
a table, with a thought about it: does the provider reach out, look something up or keep something
for the run, call another model, or bill it at another price?

A conversation has thousands of parts: what is asked of each is answered by a list, empty for most.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

EMPTY: tuple[Any, ...] = (None, [], "", {})
"""Values that ask for nothing, whatever the key."""


def key_troubles(
    asked: Mapping[str, Any],
    plain: Collection[str],
    values: Mapping[str, frozenset[Any]],
    where: str = "",
) -> Iterator[str]:
    """Why keys are not let through: `plain` ones are, those in `values` with these values only."""
    for key, value in asked.items():
        if key in plain or value in EMPTY:
            continue
        name = f"{where}{key}"[:80]
        allowed = values.get(key)
        if allowed is None:
            yield f"the key `{name}` is not let through this gateway: leave it out"
        elif not _is_one_of(value, allowed):
            words = ", ".join(sorted(str(one).lower() for one in allowed))
            yield f"`{name}` may only be {words} here: anything else is kept, runs or costs more"


def kind_troubles(holder: Mapping[str, Any], allowed: Collection[str], what: str) -> Sequence[str]:
    """Why a typed object is not let through."""
    kind = holder.get("type")
    if isinstance(kind, str) and kind in allowed:
        return ()
    return [f"the {what} type {kind!s:.60} is not let through: it runs or is kept at the provider"]


def link_troubles(holder: Mapping[str, Any], links: Collection[str]) -> Sequence[str]:
    """Why an object is not let through that has the provider fetch something."""
    fetched = [key for key in links if key in holder and not _is_at_hand(holder[key])]
    return [f"`{key}` is not let through: send the content itself" for key in fetched]


def picture_bytes(link: Any) -> int:
    """How long a picture is that stands in the request itself; 0 for none."""
    return len(link) if isinstance(link, str) and link.startswith("data:image/") else 0


def _is_at_hand(link: Any) -> bool:
    return link in EMPTY or (isinstance(link, str) and link.startswith("data:"))


def _is_one_of(value: Any, allowed: frozenset[Any]) -> bool:
    """True is not 1 here, although Python says so; and lists are none of them."""
    return any(type(value) is type(one) and value == one for one in allowed)
