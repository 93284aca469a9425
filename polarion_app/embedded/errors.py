"""Errors as the REST API words them: `{"errors": [{status, title, detail, source}]}` [pure]."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any


class ApiError(Exception):
    """A request that is answered with an error. `detail` is for the caller: no internals, no secret."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str | None,
        *,
        pointer: str | None = None,
        parameter: str | None = None,
        resource: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.pointer = pointer
        self.parameter = parameter
        self.resource = resource

    def document(self) -> Mapping[str, Any]:
        """The answer's body."""
        source = None
        if self.pointer or self.parameter or self.resource:
            kind_and_id = self.resource
            source = {
                "pointer": self.pointer,
                "parameter": self.parameter,
                "resource": {"type": kind_and_id[0], "id": kind_and_id[1]} if kind_and_id else None,
            }
        error = {
            "status": str(self.status.value),
            "title": self.status.phrase,
            "detail": self.detail,
            "source": source,
        }
        return {"errors": [error]}


def bad_request(
    detail: str, *, pointer: str | None = None, parameter: str | None = None
) -> ApiError:
    """400: the caller must change the request."""
    return ApiError(HTTPStatus.BAD_REQUEST, detail, pointer=pointer, parameter=parameter)


def forbidden(detail: str) -> ApiError:
    """403: this user may not."""
    return ApiError(HTTPStatus.FORBIDDEN, detail)


def not_found(kind: str, resource_id: str) -> ApiError:
    """404 for a resource, worded with the kind's own name."""
    name = _NAMES.get(kind, kind)
    detail = (
        f"Project id {resource_id} does not exist."
        if kind == "projects"
        else f"{name} '{resource_id}' was not found."
    )
    return ApiError(HTTPStatus.NOT_FOUND, detail, resource=(kind, resource_id))


def conflict(detail: str, *, pointer: str | None = None) -> ApiError:
    """409: it is already there, or it is another one."""
    return ApiError(HTTPStatus.CONFLICT, detail, pointer=pointer)


_NAMES = {
    "workitems": "Work Item",
    "workitem_comments": "Comment",
    "workitem_attachments": "Attachment",
    "linkedworkitems": "Linked Work Item",
    "users": "User",
    "jobs": "Job",
    "tokens": "Token",
}
