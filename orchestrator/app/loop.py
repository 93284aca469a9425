"""The event loop of a process that passes things on all day, and its garbage collector."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import uvloop

_YOUNG_OBJECTS, _COLLECTIONS = 50_000, 20
"""How many objects come to be before a look at them, and looks before one at those that stayed.

Python's own 2,000 are there after a call or two, and the look comes in the middle of one.
"""


def run[Result](main: Coroutine[Any, Any, Result]) -> Result:
    """Run until it is over; what it returns.

    On uvloop: most of the work is the loop's own, and this one does it in half the time. What is
    loaded by now stays for good, so the garbage collector never looks at it again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _COLLECTIONS, _COLLECTIONS)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
