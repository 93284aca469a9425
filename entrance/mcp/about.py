"""What a call is about, told by the names of its arguments [pure].

For a provider that doesn't say it itself. A name that isn't here tells nothing: then the call is about
nothing that is known, and a scope holds it for a person.
"""

from collections.abc import Mapping
from typing import Any

from entrance.tool_policy import About

PROJECT, TYPE, REPOSITORY, QUERY, ITEM = "projects", "types", "repositories", "queries", "items"
NAMES: Mapping[str, str] = {
    **dict.fromkeys(("project", "project_id", "projectid", "project_key", "projectkey"), PROJECT),
    **dict.fromkeys(("type", "item_type", "itemtype", "work_item_type", "workitemtype"), TYPE),
    **dict.fromkeys(("repo", "repository", "repo_path", "repository_url", "repo_url"), REPOSITORY),
    **dict.fromkeys(("query", "q", "lucene", "jql", "sql"), QUERY),
    **dict.fromkeys(
        ("id", "item", "item_id", "itemid", "work_item", "work_item_id", "workitemid"), ITEM
    ),
}
"""An argument's name in lower letters, and what its value names. An item is of a project: `PROJECT/ITEM`."""
DEEPEST = 20


def about(arguments: Mapping[str, Any]) -> About:
    """What the arguments name, however deep."""
    found: dict[str, set[str]] = {PROJECT: set(), TYPE: set(), REPOSITORY: set(), QUERY: set()}
    _look(arguments, found, DEEPEST)
    return About(**{name: frozenset(values) for name, values in found.items()})


def _look(value: Any, found: Mapping[str, set[str]], left: int) -> None:
    if isinstance(value, list) and left:
        for one in value:
            _look(one, found, left - 1)
    if not isinstance(value, dict | Mapping) or not left:
        return
    for name, inner in value.items():
        what = NAMES.get(str(name).lower().replace("-", "_"))
        texts = inner if isinstance(inner, list) else [inner]
        for text in (one for one in texts if isinstance(one, str) and what):
            _note(str(what), text, found)
        _look(inner, found, left - 1)


def _note(what: str, text: str, found: Mapping[str, set[str]]) -> None:
    if what != ITEM:
        found[what].add(text)
    elif "/" in text:
        found[PROJECT].add(text.partition("/")[0])
