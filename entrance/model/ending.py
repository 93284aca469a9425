"""Work that must be done to its end, whoever loses patience with it."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def to_the_end[T](work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives. When this is cancelled meanwhile, the work is done all the same, then it ends.

    Raises what the work raises, or CancelledError once it is over.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:  # ours: `wait` leaves the work alone
            cancelled = error
    if cancelled is not None:
        task.exception()  # seen: there is nobody left to raise it to
        raise cancelled
    return task.result()
