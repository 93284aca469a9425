"""Addresses of resources, as answers link them. `base` is the REST API's own, no slash at its end."""

from urllib.parse import quote


def segment(text: str) -> str:
    """One path segment, encoded once."""
    return quote(text, safe="")


def of_item(base: str, project: str, item: str) -> str:
    return f"{base}/projects/{segment(project)}/workitems/{segment(item)}"


def portal(base: str, project: str, item: str) -> str:
    """Where a person would look at the item."""
    root = base.removesuffix("/rest/v1")
    return f"{root}/redirect/project/{segment(project)}/workitem?id={segment(item)}"
