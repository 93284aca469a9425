"""What a generateContent request may not ask for, so that the provider is no second door [pure].

No search, no code that runs there, no URLs, no stored files and caches; one answer, in text; no
sound and film, which are billed at other prices. Names come in two spellings, `maxOutputTokens` and
`max_output_tokens`; `plain_names` makes them one before anything is judged.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from entrance.model.dialects.reading import part, parts
from entrance.model.dialects.rules import EMPTY, key_troubles

PLAIN_KEYS = frozenset(
    {"contents", "generationConfig", "safetySettings", "systemInstruction", "toolConfig", "tools"}
)
PLAIN_VALUES: Mapping[str, frozenset[Any]] = {
    "serviceTier": frozenset({"standard", "flex", "STANDARD", "FLEX"}),
    "store": frozenset({False}),
}
CONFIG_KEYS = frozenset(
    {
        "_responseJsonSchema",
        "frequencyPenalty",
        "logprobs",
        "maxOutputTokens",
        "mediaResolution",
        "presencePenalty",
        "responseJsonSchema",
        "responseLogprobs",
        "responseMimeType",
        "responseSchema",
        "seed",
        "stopSequences",
        "temperature",
        "thinkingConfig",
        "topK",
        "topP",
    }
)
CONFIG_VALUES: Mapping[str, frozenset[Any]] = {"candidateCount": frozenset({1})}
TOOL_KEYS = frozenset({"functionDeclarations"})
TOOL_CONFIG_KEYS = frozenset({"functionCallingConfig"})
PART_KEYS = frozenset(
    {
        "functionCall",
        "functionResponse",
        "inlineData",
        "mediaResolution",
        "text",
        "thought",
        "thoughtSignature",
    }
)
MIME_TYPES = ("application/pdf", "image/", "text/")

_SNAKE = re.compile(r"(?<=[a-z0-9])_([a-z])")
_OWN = frozenset({"args", "response", "parameters", "parametersJsonSchema", "responseSchema"})
"""Where the agent's own words begin: what stands below is not ours to read."""


def plain_names(value: Any) -> Any:
    """The request with its names in one spelling. Raises: ValueError when two become one."""
    match value:
        case list():
            return [plain_names(item) for item in value]
        case dict():
            named = {_camel(key): (key, item) for key, item in value.items()}
            if len(named) != len(value):
                raise ValueError("a name is given twice, in two spellings")
            return {
                name: item if _is_own(name) else plain_names(item)
                for name, (_, item) in named.items()
            }
        case _:
            return value


def troubles(asked: Mapping[str, Any]) -> Iterator[str]:
    """Why a request is not let through: sentences that its sender can act on; none if it is."""
    yield from key_troubles(asked, PLAIN_KEYS, PLAIN_VALUES)
    config = {
        key: value
        for key, value in part(asked, "generationConfig").items()
        if (key, value) != ("responseModalities", ["TEXT"])
    }
    yield from key_troubles(config, CONFIG_KEYS, CONFIG_VALUES, "generationConfig.")
    yield from key_troubles(part(asked, "toolConfig"), TOOL_CONFIG_KEYS, {}, "toolConfig.")
    tools = asked.get("tools")
    for tool in parts([tools] if isinstance(tools, dict) else tools):
        for key, value in tool.items():
            if key not in TOOL_KEYS and value is not None:
                yield f"the tool {key:.60} is not let through: it runs at the provider"
    for piece in all_parts(asked):
        yield from _part_troubles(piece)


def pictures(asked: Mapping[str, Any]) -> list[int]:
    """The lengths of a request's pictures, in bytes of its body."""
    inline = (part(piece, "inlineData") for piece in all_parts(asked))
    return [
        len(data)
        for blob in inline
        if str(blob.get("mimeType")).startswith("image/")
        and isinstance(data := blob.get("data"), str)
    ]


def all_parts(asked: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every part of every content, and of the functions' results."""
    contents = asked.get("contents")
    instruction = asked.get("systemInstruction")
    for holder in (contents, instruction):
        for content in parts([holder] if isinstance(holder, dict) else holder):
            pieces = content.get("parts")
            for piece in parts([pieces] if isinstance(pieces, dict) else pieces):
                yield piece
                yield from parts(part(piece, "functionResponse").get("parts"))


def _part_troubles(piece: Mapping[str, Any]) -> Iterator[str]:
    for key, value in piece.items():
        if key not in PART_KEYS and value not in EMPTY:
            yield f"a part with `{key:.60}` is not let through: send the content itself, in the part"
    blob = part(piece, "inlineData")
    if blob and not str(blob.get("mimeType")).startswith(MIME_TYPES):
        yield f"{blob.get('mimeType')!s:.60} is not let through: it has another price"


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name)


def _is_own(name: str) -> bool:
    return name in _OWN or name.endswith("JsonSchema")
