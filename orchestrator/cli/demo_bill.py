"""What the demo's run was charged, against what the scripted model says it served: to the token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from entrance.model.prices import PriceList
from entrance.model.tokens import Tokens
from entrance.ports import Usage
from orchestrator.cli.codes import CommandFailed

_ANSWERS_S = 10.0


@dataclass(frozen=True, slots=True)
class Bill:
    """The same run from both sides of the door."""

    spent: Usage
    served: Usage

    @property
    def equal(self) -> bool:
        return self.spent == self.served


def bill_of(
    usage: Mapping[str, Any], answers: Sequence[Mapping[str, Any]], prices: PriceList, provider: str
) -> Bill:
    """Put a run's usage, as the API has it, beside the answers that were served to it."""
    spent = Usage(
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cache_read_tokens=usage["cache_read_tokens"],
        cache_write_tokens=usage["cache_write_tokens"],
        cost_usd=Decimal(usage["cost_usd"]),
        calls=usage["calls"],
    )
    charged = (_charged(answer, prices, provider) for answer in answers)
    return Bill(spent, sum(charged, start=Usage()))


def _charged(answer: Mapping[str, Any], prices: PriceList, provider: str) -> Usage:
    """One answer at its price; one that was not billed was no call."""
    tokens = Tokens(
        input=answer["input_tokens"],
        output=answer["output_tokens"],
        cache_read=answer["cache_read_tokens"],
        cache_write=answer["cache_write_tokens"],
    )
    if tokens == Tokens():
        return Usage()
    return tokens.as_usage(prices.cost(f"{provider}:{answer['model']}", tokens))


def served_answers(model_url: str, key_file: Path, item: str) -> Sequence[Mapping[str, Any]]:
    """What the scripted model served to the task's runs. Raises: CommandFailed."""
    try:
        answer = httpx.get(
            f"{model_url}/served/answers",
            params={"item": item},
            headers={"Authorization": f"Bearer {key_file.read_text().strip()}"},
            timeout=_ANSWERS_S,
            trust_env=False,
        )
        answer.raise_for_status()
        found: Sequence[Mapping[str, Any]] = answer.json()["answers"]
    except (httpx.HTTPError, KeyError, ValueError) as error:
        raise CommandFailed(f"the scripted model doesn't say what it served: {error}") from error
    return found
