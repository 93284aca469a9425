"""Asks the model with patience, and says what each answer took."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from native import patience
from native.conversation import Message
from native.dialects import Answer, Declared
from native.events import Emit


class AsksModel(Protocol):
    """What is needed of `model.Model`."""

    def ask(
        self, system: str, messages: Sequence[Message], tools: Sequence[Declared]
    ) -> Answer: ...


class Asking:
    """One model, asked again where that may help."""

    def __init__(self, model: AsksModel, emit: Emit) -> None:
        self._model = model
        self._emit = emit

    def ask(self, system: str, messages: Sequence[Message], tools: Sequence[Declared]) -> Answer:
        """Ask until there is an answer or patience is over; each try that fails is a `retry` event.

        Raises:
            Trouble: no waiting helps, or it took too long.
        """
        answer = patience.persist(lambda: self._model.ask(system, messages, tools), self._emit)
        self._emit("usage", **asdict(answer.usage))
        return answer
