"""The same plain question in every dialect, without an SDK: for what no SDK would send or survive."""

from dataclasses import dataclass
from typing import Any

_TOOLS = ("bash", "read", "write", "edit")
_WORDS = "go"


@dataclass(frozen=True, slots=True)
class Question:
    """Where to ask and what; `streamed` and `whole` are path and body."""

    streamed: tuple[str, Any]
    whole: tuple[str, Any]

    def asked(self, *, stream: bool) -> tuple[str, Any]:
        return self.streamed if stream else self.whole


def _in_body(path: str, body: dict[str, Any]) -> Question:
    return Question((path, {**body, "stream": True}), (path, body))


_MESSAGES = [{"role": "user", "content": _WORDS}]
_GEMINI = {
    "contents": [{"role": "user", "parts": [{"text": _WORDS}]}],
    "tools": [{"functionDeclarations": [{"name": name} for name in _TOOLS]}],
}


def questions(model: str) -> dict[str, Question]:
    """By dialect, to a model of this name."""
    at_gemini = f"/v1beta/models/{model}"
    return {
        "anthropic": _in_body(
            "/v1/messages",
            {
                "model": model,
                "max_tokens": 9,
                "messages": _MESSAGES,
                "tools": [{"name": name, "input_schema": {}} for name in _TOOLS],
            },
        ),
        "responses": _in_body(
            "/v1/responses",
            {
                "model": model,
                "input": _WORDS,
                "tools": [{"type": "function", "name": name} for name in _TOOLS],
            },
        ),
        "chat": _in_body(
            "/v1/chat/completions",
            {
                "model": model,
                "messages": _MESSAGES,
                "tools": [{"type": "function", "function": {"name": name}} for name in _TOOLS],
            },
        ),
        "gemini": Question(
            (f"{at_gemini}:streamGenerateContent?alt=sse", _GEMINI),
            (f"{at_gemini}:generateContent", _GEMINI),
        ),
    }


QUESTIONS = questions("m")
