"""POST /files/upload: a form of pairs, `metadata` (JSON: path, mode, owner, group) then `file`.

Each file is written beside its place and moved there when complete: an upload that breaks off
leaves no half file.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from execd.errors import Refused, invalid
from execd.files import replacing, set_permissions, write_all
from execd.multipart import Event, Form, PartBegins, PartData

MAX_METADATA = 64 * 1024
MAX_FILES = 5000


async def receive(form: Form, chunks: AsyncIterator[bytes]) -> int:
    """Write the files of a form; return how many.

    Raises: Refused 400 for a form that is not made of such pairs, OSError.
    """
    events = _events(form, chunks)
    count = 0
    async for event in events:
        if not isinstance(event, PartBegins):
            continue  # the rest of a part that nobody wants
        if event.name != "metadata":
            raise invalid(f"the form's field {event.name[:64]!r} does not follow a metadata field")
        metadata = await _metadata(events)
        following = await anext(events, None)
        if not (isinstance(following, PartBegins) and following.name == "file"):
            raise invalid("each metadata field must be followed by a file field")
        await _store(metadata, events)
        count += 1
        if count > MAX_FILES:
            raise Refused(413, "TOO_MANY_FILES", f"more than {MAX_FILES} files in one form")
    if not form.finished or not count:
        raise invalid("the form is not complete")
    return count


async def _events(form: Form, chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    async for chunk in chunks:
        for event in form.feed(chunk):
            yield event


async def _metadata(events: AsyncIterator[Event]) -> dict[str, Any]:
    raw = b""
    async for event in events:
        if not isinstance(event, PartData):
            break
        raw += event.data
        if len(raw) > MAX_METADATA:
            raise invalid("a metadata field is too long")
    try:
        metadata = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise invalid("a metadata field is not JSON") from error
    path = metadata.get("path") if isinstance(metadata, dict) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise invalid("a metadata field names no path")
    return dict(metadata)


async def _store(metadata: dict[str, Any], events: AsyncIterator[Event]) -> None:
    with replacing(metadata["path"], with_parents=True) as fd:
        set_permissions(fd, metadata)
        async for event in events:
            if not isinstance(event, PartData):
                return
            write_all(fd, event.data)
        raise invalid("the form is not complete")
