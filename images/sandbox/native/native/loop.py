"""The turns: ask, run what was called, hand the results back, until the work is handed in or can't go on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from native import circles, context, patience
from native.events import Emit
from native.model import Answer
from native.output import Outcome
from native.patience import Trouble
from native.toolbox import PREFIX, Block, Toolbox

ENDS: Mapping[str, str] = {
    f"{PREFIX}submit_for_approval": "submitted",
    f"{PREFIX}ask_questions": "asked",
    f"{PREFIX}delegate": "delegated",
}
"""Tools whose success ends the run, and the reason that is given."""

_DETAIL_CHARS = 2000
_GO_ON = "Your answer was cut at its length limit. Go on where it stopped."
_CUT_CALL = Outcome(
    "Not run: the answer was cut at its length limit before this call was complete. Make it smaller.",
    is_error=True,
)


@dataclass(frozen=True)
class Ending:
    """Why the loop ended: `reason` is one of the event's, `detail` a text for people."""

    reason: str
    detail: str


@dataclass(frozen=True)
class Limits:
    """When enough is enough."""

    max_turns: int
    context_tokens: int


class AsksModel(Protocol):
    """What the loop needs of `model.Model`."""

    def ask(
        self, system: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> Answer: ...


class Loop:
    """One conversation."""

    def __init__(
        self,
        model: AsksModel,
        toolbox: Toolbox,
        *,
        emit: Emit,
        limits: Limits,
        system: str,
        prompt: str,
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._emit = emit
        self._limits = limits
        self._system = system
        self._messages: list[dict[str, Any]] = [_user([{"type": "text", "text": prompt}])]
        self._circles = circles.Circles()
        self._ending: Ending | None = None

    def run(self) -> Ending:
        """Take turns until one of them ends it."""
        try:
            for _ in range(self._limits.max_turns):
                answer = self._ask()
                self._tell(answer)
                if ending := self._act(answer):
                    return ending
                self._keep_short(answer)
        except Trouble as trouble:
            return Ending("context" if _is_too_long(trouble) else "error", str(trouble))
        return Ending("max_turns", f"not done after {self._limits.max_turns} turns")

    def _ask(self) -> Answer:
        try:
            return self._ask_patiently()
        except Trouble as trouble:
            if not _is_too_long(trouble):
                raise
            if not context.shorten(self._messages, context.size(self._messages) // 2):
                raise
            return self._ask_patiently()

    def _ask_patiently(self) -> Answer:
        tools = self._toolbox.declared()
        return patience.persist(
            lambda: self._model.ask(self._system, self._messages, tools), self._emit
        )

    def _tell(self, answer: Answer) -> None:
        for block in answer.blocks:
            if block["type"] == "text" and block["text"]:
                self._emit("text", text=block["text"])
        used = answer.usage
        self._emit(
            "usage",
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cache_read_tokens=used.cache_read_tokens,
            cache_write_tokens=used.cache_write_tokens,
        )
        for call in _calls(answer):
            self._emit("tool_call", id=call["id"], name=call["name"], input=call["input"])

    def _act(self, answer: Answer) -> Ending | None:
        """Do what the answer asks for; say why the run ends, if it does."""
        if answer.blocks:
            self._messages.append({"role": "assistant", "content": answer.blocks})
        calls = _calls(answer)
        if calls:
            self._messages.append(
                _user(self._results(calls, cut=answer.stop_reason == "max_tokens"))
            )
            return self._ending
        if answer.stop_reason == "refusal":
            return Ending("error", f"the model refused to go on: {_words(answer)}")
        if answer.stop_reason == "max_tokens" and answer.blocks:
            self._messages.append(_user([{"type": "text", "text": _GO_ON}]))
            return None
        if answer.stop_reason == "pause_turn":
            return None
        return Ending("completed", _words(answer))

    def _results(self, calls: list[Block], *, cut: bool) -> list[dict[str, Any]]:
        """Run the calls; of an answer that was cut, the last one is not whole."""
        whole = calls[:-1] if cut else calls
        outcomes = list(self._toolbox.run(whole, until=self._ends_run))
        if cut:
            outcomes.append(_CUT_CALL)
        return [self._result(call, outcome) for call, outcome in zip(calls, outcomes, strict=True)]

    def _ends_run(self, call: Block, outcome: Outcome) -> bool:
        reason = ENDS.get(call["name"])
        if reason is None or outcome.is_error:
            return False
        self._ending = Ending(reason, outcome.text[:_DETAIL_CHARS])
        return True

    def _result(self, call: Block, outcome: Outcome) -> dict[str, Any]:
        times = self._circles.note(call["name"], call["input"], outcome.text)
        if times >= circles.STOP_AT and self._ending is None:
            self._ending = Ending("loop", f"{call['name']} came {times} times with the same result")
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": outcome.text + circles.hint(times),
            "is_error": outcome.is_error,
        }

    def _keep_short(self, answer: Answer) -> None:
        size = context.size(self._messages)
        aim = context.aim(size, answer.usage.total, self._limits.context_tokens)
        if aim is not None:
            context.shorten(self._messages, aim)


def _is_too_long(trouble: Trouble) -> bool:
    return trouble.status == 413 or (trouble.status == 400 and "too long" in str(trouble))  # noqa: PLR2004


def _calls(answer: Answer) -> list[Block]:
    return [block for block in answer.blocks if block["type"] == "tool_use"]


def _words(answer: Answer) -> str:
    texts = [block["text"] for block in answer.blocks if block["type"] == "text"]
    return "\n".join(texts)[:_DETAIL_CHARS]


def _user(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "user", "content": content}
