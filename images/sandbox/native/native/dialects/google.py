"""Google's generateContent: https://ai.google.dev/api/generate-content [pure]."""

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from native import patience
from native.conversation import Call, Message, Prompt, Reply, Result, Results
from native.dialects import Answer, Question, Request, Stop, Usage
from native.dialects.reading import count, part
from native.patience import Kind

Part = dict[str, Any]

_OURS = "unnamed-"
"""How the ids begin that calls without one get here; they don't go out."""
_STOPS: Mapping[str, Stop] = {
    "STOP": "done",
    "MAX_TOKENS": "cut",
    "MALFORMED_FUNCTION_CALL": "unusable",
    "MALFORMED_RESPONSE": "unusable",
    "UNEXPECTED_TOOL_CALL": "unusable",
    "TOO_MANY_TOOL_CALLS": "unusable",
    "OTHER": "unusable",
}
"""Whatever is not here is a refusal: safety, recitation and their like."""
_WORDS = frozenset({"text", "thought"})


class Gemini:
    """Implements `Dialect`."""

    def request(self, question: Question) -> Request:
        contents = ((_role(message), _parts(message, question)) for message in question.messages)
        body: dict[str, Any] = {
            "systemInstruction": {"parts": [{"text": question.system}]},
            "contents": [{"role": role, "parts": parts} for role, parts in contents if parts],
            "generationConfig": {"maxOutputTokens": question.max_tokens},
        }
        if question.tools:
            functions = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": tool.schema,
                }
                for tool in question.tools
            ]
            body["tools"] = [{"functionDeclarations": functions}]
        path = f"/v1beta/models/{question.model}:streamGenerateContent?alt=sse"
        return Request(path, body)

    def reader(self, question: Question) -> "GeminiReader":
        return GeminiReader(question.author)

    def kind(self, status: int, error: Mapping[str, Any]) -> Kind | None:
        told = str(error.get("message"))
        too_long = status == 400 and "token count" in told and "exceeds" in told  # noqa: PLR2004
        return "too_long" if too_long else None


class GeminiReader:
    """Implements `Reader`: calls come whole; each chunk has the usage so far."""

    def __init__(self, author: str) -> None:
        self._author = author
        self._parts: list[Part] = []
        self._usage: Mapping[str, Any] = {}
        self._reason = ""

    def feed(self, event: Mapping[str, Any]) -> None:
        if error := part(event, "error"):
            raise _trouble(error)
        self._usage = part(event, "usageMetadata") or self._usage
        self._reason = str(part(event, "promptFeedback").get("blockReason") or self._reason)
        for candidate in event.get("candidates") or ():
            for piece in part(candidate, "content").get("parts") or ():
                self._add(piece)
            self._reason = str(candidate.get("finishReason") or self._reason)

    def answer(self) -> Answer | None:
        if not self._reason:
            return None
        calls = tuple(
            Call(call.get("id") or f"{_OURS}{secrets.token_hex(8)}", call["name"], _args(call))
            for call in (piece["functionCall"] for piece in self._parts if "functionCall" in piece)
        )
        said, thought = _text(self._parts, thoughts=False), _text(self._parts, thoughts=True)
        stop = _STOPS.get(self._reason, "refused")
        if stop == "done" and not (said or calls):
            stop = "unusable"
        return Answer(
            Reply(said, calls, self._author, tuple(self._parts)),
            stop,
            _usage(self._usage),
            reasoning=thought,
            reason=self._reason,
        )

    def _add(self, piece: Part) -> None:
        """Words are put to words; what bears a signature or is no text stays a part of its own."""
        last = self._parts[-1] if self._parts else {}
        if piece.keys() <= _WORDS and not piece.get("text"):
            return
        if "text" in last and last.keys() <= _WORDS and piece.keys() == last.keys():
            self._parts[-1] = {**last, "text": last["text"] + piece["text"]}
        else:
            self._parts.append(piece)


def _args(call: Mapping[str, Any]) -> Any:
    return call.get("args") or {}


def _text(parts: list[Part], *, thoughts: bool) -> str:
    return "".join(
        str(piece.get("text", "")) for piece in parts if bool(piece.get("thought")) is thoughts
    )


def _role(message: Message) -> str:
    return "model" if isinstance(message, Reply) else "user"


def _parts(message: Message, question: Question) -> list[Part]:
    match message:
        case Prompt(text):
            return [{"text": text}]
        case Results(results):
            return [{"functionResponse": _response(result)} for result in results]
        case Reply():
            own = message.items_for(question.author)
            return list(_told(message)) if own is None else list(own)


def _response(result: Result) -> dict[str, Any]:
    key = "error" if result.is_error else "output"
    return {**_id(result.call), "name": result.name, "response": {key: result.text}}


def _told(reply: Reply) -> Iterator[Part]:
    """Another model's reply, in words and calls."""
    if reply.text:
        yield {"text": reply.text}
    for call in reply.calls:
        arguments = call.input if isinstance(call.input, dict) else {}
        yield {"functionCall": {**_id(call.id), "name": call.name, "args": arguments}}


def _id(call: str) -> dict[str, str]:
    return {} if call.startswith(_OURS) else {"id": call}


def _trouble(error: Mapping[str, Any]) -> patience.Trouble:
    return patience.of_status(count(error, "code") or 500, str(error.get("message")))


def _usage(usage: Mapping[str, Any]) -> Usage:
    """The prompt's count has in it what was cached; the answer's has not what was thought."""
    read = count(usage, "cachedContentTokenCount")
    prompt = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
    return Usage(
        input_tokens=prompt - read,
        output_tokens=count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount"),
        cache_read_tokens=read,
    )
