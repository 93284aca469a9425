"""What a generateContent request may not ask of the provider."""

from typing import Any

import pytest

from entrance.model.dialects.gemini_rules import all_parts, plain_names, troubles

PLAIN: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [
            {"text": "x"},
            {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
            {"inlineData": {"mimeType": "application/pdf", "data": "AA=="}},
        ]},
        {"role": "model", "parts": [
            {"text": "hm", "thought": True},
            {"functionCall": {"name": "f", "args": {"fileData": 1}}, "thoughtSignature": "s"},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"fileData": {"fileUri": "x"}},
                                  "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA"}}]}},
        ]},
    ],
    "systemInstruction": {"parts": [{"text": "x"}]},
    "tools": [{"functionDeclarations": [{"name": "f"}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "safetySettings": [],
    "generationConfig": {
        "temperature": 0, "maxOutputTokens": 10, "candidateCount": 1,
        "responseModalities": ["TEXT"], "thinkingConfig": {"thinkingBudget": -1},
    },
}  # fmt: skip


def said(**changes: Any) -> str:
    asked = plain_names(PLAIN | changes)
    return "; ".join(troubles(asked, all_parts(asked)))


def test_what_a_client_sends_is_let_through() -> None:
    assert said() == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("cachedContent", "cachedContents/1", id="a kept prompt"),
        pytest.param("store", True, id="kept at the provider"),
        pytest.param("serviceTier", "priority", id="dearer"),
        pytest.param("generateContentRequest", {"model": "m"}, id="a request in the request"),
        pytest.param("aKeyOfTheFuture", 1, id="a key that nobody has thought about"),
    ],
)
def test_keys_that_reach_out_or_cost_more_are_refused_by_name(key: str, value: object) -> None:
    assert f"`{key}`" in said(**{key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("candidateCount", 2),
        ("responseModalities", ["TEXT", "AUDIO"]),
        ("responseModalities", ["IMAGE"]),
        ("speechConfig", {"languageCode": "en"}),
        ("imageConfig", {"aspectRatio": "1:1"}),
        ("modelSelectionConfig", {"featureSelectionPreference": "x"}),
        ("routingConfig", {"autoMode": {}}),
    ],
)
def test_other_answers_than_one_text_are_refused_by_name(key: str, value: object) -> None:
    assert f"`generationConfig.{key}`" in said(generationConfig={key: value} | {"topK": 1})


@pytest.mark.parametrize(
    "tool",
    [
        "googleSearch", "google_search", "googleSearchRetrieval", "codeExecution",
        "code_execution", "urlContext", "url_context", "computerUse", "fileSearch", "file_search",
        "mcpServers", "mcp_servers", "googleMaps", "enterpriseWebSearch", "retrieval",
        "parallelAiSearch", "aToolOfTheFuture",
    ],
)  # fmt: skip
def test_tools_that_run_at_the_provider_are_refused_in_both_spellings(tool: str) -> None:
    name = next(iter(plain_names({tool: {}})))
    assert f"the tool {name}" in said(tools=[{"functionDeclarations": [], tool: {}}])
    assert f"the tool {name}" in said(tools={tool: {}})


def test_tools_settings_that_reach_out_are_refused() -> None:
    assert "`toolConfig.retrievalConfig`" in said(
        toolConfig={"retrieval_config": {"latLng": {"a": 1}}}
    )


@pytest.mark.parametrize(
    "piece",
    [
        {"fileData": {"fileUri": "https://evil.example/?data"}},
        {"file_data": {"file_uri": "https://evil.example/?data"}},
        {"executableCode": {"code": "x"}},
        {"toolCall": {"id": "x"}},
        {"partOfTheFuture": {"x": 1}},
    ],
)
def test_parts_that_the_provider_would_fetch_or_run_are_refused_however_deep(
    piece: dict[str, Any],
) -> None:
    deep = {"functionResponse": {"name": "f", "response": {}, "parts": [piece]}}
    for one in (piece, deep):
        assert "send the content itself" in said(contents=[{"parts": [one]}])
        assert "send the content itself" in said(contents={"parts": one})
        assert "send the content itself" in said(systemInstruction={"parts": [one]})


@pytest.mark.parametrize("kind", ["audio/wav", "video/mp4", None, "x"])
def test_sound_and_film_are_refused(kind: str | None) -> None:
    piece = {"inlineData": {"mimeType": kind, "data": "AA=="}}
    assert "another price" in said(contents=[{"parts": [piece]}])
