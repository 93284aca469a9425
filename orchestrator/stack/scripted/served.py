"""What was served, in tokens by model: what a gateway in between must have metered."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from orchestrator.stack.scripted.answers import Tokens

KEPT = 10_000
"""So many of the newest answers can be looked at one by one."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer: what it belonged to, whether all of it went out, and what of it is billed."""

    model: str
    conversation: str
    """Empty: the scenario had none for it."""
    prompt: int
    """Which prompt of one conversation it answered: more than 1 where a run was resumed."""
    names: Mapping[str, str]
    """What the conversation had captured by then."""
    whole: bool
    tokens: Tokens

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "conversation": self.conversation,
            "prompt": self.prompt,
            "names": dict(self.names),
            "whole": self.whole,
            **_counts(self.tokens),
        }


@dataclass(slots=True)
class Count:
    """How many answers went out whole and how many didn't, and what is billed of all of them."""

    answers: int = 0
    unfinished: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def add(self, tokens: Tokens) -> None:
        """Count what is billed."""
        for name, tokens_more in _counts(tokens).items():
            setattr(self, name, getattr(self, name) + tokens_more)


@dataclass(slots=True)
class Served:
    """Counts since the start, or since it was last cleared."""

    by_model: defaultdict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    _newest: deque[Answered] = field(default_factory=lambda: deque(maxlen=KEPT))

    def begun(self, model: str) -> Count:
        """An answer is unfinished until it is finished; give back what this gives to `ended`."""
        count = self.by_model[model]
        count.unfinished += 1
        return count

    def ended(self, count: Count, answered: Answered) -> None:
        """It went out, whole or not. What was begun before a `clear` is not counted after it."""
        if self.by_model.get(answered.model) is not count:
            return
        if answered.whole:
            count.unfinished -= 1
            count.answers += 1
        count.add(answered.tokens)
        self._newest.append(answered)

    def clear(self) -> None:
        self.by_model.clear()
        self._newest.clear()

    def as_json(self) -> Mapping[str, Any]:
        """`{"models": {model: counts}, "total": counts}`."""
        models = {model: asdict(count) for model, count in sorted(self.by_model.items())}
        total = {
            each.name: sum(counts[each.name] for counts in models.values())
            for each in fields(Count)
        }
        return {"models": models, "total": total}

    def one_by_one(self, names: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        """The newest answers, oldest first, of conversations that captured these names so."""
        return [one.as_json() for one in self._newest if names.items() <= one.names.items()]


def _counts(tokens: Tokens) -> dict[str, int]:
    return {f"{kind}_tokens": count for kind, count in asdict(tokens).items()}
