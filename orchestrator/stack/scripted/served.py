"""What was served, in tokens by model: what a gateway in between must have metered."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from orchestrator.stack.scripted.answers import Tokens


@dataclass(slots=True)
class Count:
    """Of whole answers, and how many answers there were that were not whole: failed, cut, left."""

    answers: int = 0
    unfinished: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def add(self, tokens: Tokens) -> None:
        """Count a whole answer."""
        self.answers += 1
        self.input_tokens += tokens.input
        self.output_tokens += tokens.output
        self.cache_read_tokens += tokens.cache_read
        self.cache_write_tokens += tokens.cache_write
        self.reasoning_tokens += tokens.reasoning

    def as_json(self) -> dict[str, int]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Served:
    """Counts since the start, or since it was last cleared."""

    def __init__(self) -> None:
        self._by_model: defaultdict[str, Count] = defaultdict(Count)

    def begun(self, model: str) -> None:
        """An answer is unfinished until it is finished."""
        self._by_model[model].unfinished += 1

    def finished(self, model: str, tokens: Tokens) -> None:
        """All of it went out."""
        count = self._by_model[model]
        count.unfinished -= 1
        count.add(tokens)

    def clear(self) -> None:
        self._by_model.clear()

    def as_json(self) -> Mapping[str, Any]:
        """`{"models": {model: counts}, "total": counts}`."""
        models = {model: count.as_json() for model, count in sorted(self._by_model.items())}
        total = {
            field.name: sum(counts[field.name] for counts in models.values())
            for field in fields(Count)
        }
        return {"models": models, "total": total}
