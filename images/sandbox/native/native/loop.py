"""The turns: ask, run what was called, hand the results back, until the work is handed in or can't go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from native import circles, context
from native.asking import Asking
from native.compaction import Compaction
from native.conversation import Call, Prompt, Result, Results, size
from native.dialects import Answer, Stop
from native.events import Emit
from native.kept import Kept
from native.output import Outcome
from native.patience import Trouble
from native.toolbox import PREFIX, Toolbox

ENDS: Mapping[str, str] = {
    f"{PREFIX}submit_for_approval": "submitted",
    f"{PREFIX}ask_questions": "asked",
    f"{PREFIX}delegate": "delegated",
    f"{PREFIX}wait_for_decision": "held",
}
"""Tools whose success ends the run, and the reason that is given."""

NUDGES: Mapping[Stop, str] = {
    "cut": "Your answer was cut at its length limit. Go on where it stopped.",
    "unusable": "Your answer was empty or its call could not be read. Go on with the task.",
}
"""What is said after an answer without calls, when it is not the model's last word."""
_MOST_NUDGES = 5
"""So many in a row, and it is going nowhere."""
_DETAIL_CHARS = 2000
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
    """When enough is enough. `context_tokens` is the model's window."""

    max_turns: int
    context_tokens: int


class Loop:
    """One conversation."""

    def __init__(
        self,
        asking: Asking,
        toolbox: Toolbox,
        compaction: Compaction,
        *,
        emit: Emit,
        limits: Limits,
        system: str,
        conversation: Kept,
    ) -> None:
        self._asking = asking
        self._toolbox = toolbox
        self._compaction = compaction
        self._emit = emit
        self._limits = limits
        self._system = system
        self._conversation = conversation
        self._circles = circles.Circles()
        self._nudges = 0
        self._ending: Ending | None = None

    def run(self, prompt: str) -> Ending:
        """Say this, then take turns until one of them ends it."""
        self._conversation.add(Prompt(prompt))
        try:
            for _ in range(self._limits.max_turns):
                answer = self._ask()
                self._tell(answer)
                if ending := self._act(answer):
                    return ending
                self._keep_short(answer)
        except Trouble as trouble:
            return Ending("context" if trouble.kind == "too_long" else "error", str(trouble))
        return Ending("max_turns", f"not done after {self._limits.max_turns} turns")

    def _ask(self) -> Answer:
        try:
            return self._asked()
        except Trouble as trouble:
            half = size(self._conversation.messages) // 2
            if trouble.kind != "too_long" or not self._compaction.shorten(self._conversation, half):
                raise
            return self._asked()

    def _asked(self) -> Answer:
        return self._asking.ask(self._system, self._conversation.messages, self._toolbox.tools)

    def _tell(self, answer: Answer) -> None:
        if answer.reasoning:
            self._emit("reasoning", text=answer.reasoning)
        if answer.reply.text:
            self._emit("text", text=answer.reply.text)
        for call in answer.reply.calls:
            self._emit("tool_call", id=call.id, name=call.name, input=call.input)

    def _act(self, answer: Answer) -> Ending | None:
        """Do what the answer asks for; say why the run ends, if it does."""
        reply = answer.reply
        if not reply.is_empty:
            self._conversation.add(reply)
        if reply.calls:
            self._nudges = 0
            self._conversation.add(Results(self._results(reply.calls, cut=answer.stop == "cut")))
            return self._ending
        match answer.stop:
            case "refused":
                why = reply.text[:_DETAIL_CHARS] or answer.reason
                return Ending("error", f"the model refused to go on: {why}")
            case "paused":
                return None
            case "cut" | "unusable":
                return self._nudge(answer)
            case "done":
                return Ending("completed", reply.text[:_DETAIL_CHARS])

    def _nudge(self, answer: Answer) -> Ending | None:
        self._nudges += 1
        if self._nudges > _MOST_NUDGES:
            return Ending("loop", f"{_MOST_NUDGES} answers in a row were no use: {answer.reason}")
        self._conversation.add(Prompt(NUDGES[answer.stop], "loop"))
        return None

    def _results(self, calls: Sequence[Call], *, cut: bool) -> tuple[Result, ...]:
        """Run the calls; of an answer that was cut, the last one is not whole."""
        whole = calls[:-1] if cut else calls
        outcomes = list(self._toolbox.run(whole, until=self._ends_run))
        if cut:
            outcomes.append(_CUT_CALL)
        return tuple(
            self._result(call, outcome) for call, outcome in zip(calls, outcomes, strict=True)
        )

    def _ends_run(self, call: Call, outcome: Outcome) -> bool:
        reason = ENDS.get(call.name)
        if reason is None or outcome.is_error:
            return False
        self._ending = Ending(reason, outcome.text[:_DETAIL_CHARS])
        return True

    def _result(self, call: Call, outcome: Outcome) -> Result:
        times = self._circles.note(call.name, call.input, outcome.text)
        if times >= circles.STOP_AT and self._ending is None:
            self._ending = Ending("loop", f"{call.name} came {times} times with the same result")
        text = outcome.text + circles.hint(times)
        return Result(call.id, call.name, text, is_error=outcome.is_error)

    def _keep_short(self, answer: Answer) -> None:
        now = size(self._conversation.messages)
        aim = context.aim(now, answer.usage.total, self._limits.context_tokens)
        if aim is not None:
            self._compaction.shorten(self._conversation, aim)
