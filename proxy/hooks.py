"""mitmproxy's hooks, answered where they come up.

mitmproxy's server starts a task for each, which then waits for its turn to say that it is done: for a
hook that needs no waiting, that takes longer than its answer.
"""

from collections import deque
from collections.abc import Callable, Container

from mitmproxy.proxy.commands import StartHook
from mitmproxy.proxy.events import Event, HookCompleted
from mitmproxy.proxy.layer import CommandGenerator, Layer


class Answering:
    """A connection's top layer. Hooks that are `awaited` go on to the server as they came."""

    def __init__(
        self,
        layer: Layer,
        awaited: Container[type[StartHook]],
        answer: Callable[[StartHook], None],
    ) -> None:
        self._layer = layer
        self._awaited = awaited
        self._answer = answer

    def handle_event(self, event: Event) -> CommandGenerator[None]:
        """As a layer's. A layer hears that its hook is done after all that it had to say before."""
        answered: deque[StartHook] = deque()
        yield from self._sifted(event, answered)
        while answered:
            yield from self._sifted(HookCompleted(answered.popleft()), answered)

    def _sifted(self, event: Event, answered: deque[StartHook]) -> CommandGenerator[None]:
        for command in self._layer.handle_event(event):
            if not isinstance(command, StartHook) or type(command) in self._awaited:
                yield command
                continue
            self._answer(command)
            if command.blocking:
                answered.append(command)
