"""What a generateContent request may not ask for, so that the provider is no second door [pure].

No search, no code that runs there, no URLs, no stored files and caches; one answer, in text; no
sound and film, which are billed at other prices. Names come in two spellings, `maxOutputTokens` and
`max_output_tokens`; `plain_names` makes them one before anything is judged.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    if isinstance(value, list):
        return [plain_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain: dict[str, Any] = {}
    for key, item in value.items():
        name = _camel(key)
        plain[name] = item if isinstance(item, str) or _is_own(name) else plain_names(item)
    if len(plain) != len(value):
        raise ValueError("a name is given twice, in two spellings")
    return plain


def troubles(asked: Mapping[str, Any], pieces: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Why a request is not let through: sentences that its sender can act on; none if it is.

    `pieces`: what `all_parts` finds in it.
    """
    yield from key_troubles(asked, PLAIN_KEYS, PLAIN_VALUES)
    config = {
        key: value
        for key, value in part(asked, "generationConfig").items()
        if (key, value) != ("responseModalities", ["TEXT"])
    }
    yield from key_troubles(config, CONFIG_KEYS, CONFIG_VALUES, "generationConfig.")
    yield from key_troubles(part(asked, "toolConfig"), TOOL_CONFIG_KEYS, {}, "toolConfig.")
    for tool in _one_or_more(asked.get("tools")):
        for key, value in tool.items():
            if key not in TOOL_KEYS and value is not None:
                yield f"the tool {key:.60} is not let through: it runs at the provider"
    for piece in pieces:
        yield from _part_troubles(piece)


def pictures(pieces: Iterable[Mapping[str, Any]]) -> list[int]:
    """The lengths of a request's pictures, in bytes of its body."""
    inline = [part(piece, "inlineData") for piece in pieces if "inlineData" in piece]
    return [
        len(data)
        for blob in inline
        if str(blob.get("mimeType")).startswith("image/")
        and isinstance(data := blob.get("data"), str)
    ]


def all_parts(asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Every part of every content, and of the functions' results."""
    found: list[Mapping[str, Any]] = []
    for holder in (asked.get("contents"), asked.get("systemInstruction")):
        for content in _one_or_more(holder):
            for piece in _one_or_more(content.get("parts")):
                found.append(piece)
                if "functionResponse" in piece:
                    found += parts(part(piece, "functionResponse").get("parts"))
    return found


def _one_or_more(holder: Any) -> Sequence[Mapping[str, Any]]:
    return [holder] if isinstance(holder, dict) else parts(holder)


def _part_troubles(piece: Mapping[str, Any]) -> Sequence[str]:
    unknown = [key for key, value in piece.items() if key not in PART_KEYS and value not in EMPTY]
    if unknown:
        return [
            f"a part with `{unknown[0]:.60}` is not let through: send the content itself, in the part"
        ]
    blob = part(piece, "inlineData") if "inlineData" in piece else {}
    if blob and not str(blob.get("mimeType")).startswith(MIME_TYPES):
        return [f"{blob.get('mimeType')!s:.60} is not let through: it has another price"]
    return ()


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name) if "_" in name else name


def _is_own(name: str) -> bool:
    return name in _OWN or name.endswith("JsonSchema")
