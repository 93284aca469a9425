"""Tools that answer with what they want to know first, as servers of the modern era do."""

import json
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context

from tests.servers.everything.forms import NAME, OK, form, sample

Input = str | types.InputRequiredResult


def wants(requests: dict[str, Any], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def said(answer: Any, key: str) -> str:
    content = getattr(answer, "content", None)
    return str(content.get(key)) if isinstance(content, dict) else "?"


async def test_input_required_result_elicitation(ctx: Context) -> Input:
    """Input required result elicitation."""
    answers = ctx.input_responses or {}
    if "user_name" in answers:
        return f"Hello, {said(answers['user_name'], 'name')}!"
    return wants({"user_name": form("What is your name?", NAME)})


async def test_input_required_result_sampling(ctx: Context) -> Input:
    """Input required result sampling."""
    answers = ctx.input_responses or {}
    if "capital_question" in answers:
        content = getattr(answers["capital_question"], "content", None)
        return f"Model said: {getattr(content, 'text', '?')}"
    return wants({"capital_question": sample("What is the capital of France?")})


async def test_input_required_result_list_roots(ctx: Context) -> Input:
    """Input required result list roots."""
    answers = ctx.input_responses or {}
    if "client_roots" in answers:
        return f"{len(getattr(answers['client_roots'], 'roots', ()))} roots"
    return wants({"client_roots": types.ListRootsRequest()})


async def test_input_required_result_request_state(ctx: Context) -> Input:
    """Input required result request state."""
    if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "nonce":
        return "state-ok: it was confirmed"
    return wants({"confirm": form("Please confirm", OK)}, "nonce")


async def test_input_required_result_multiple_inputs(ctx: Context) -> Input:
    """Input required result multiple inputs."""
    requests = {
        "user_name": form("What is your name?", NAME),
        "greeting": sample("Say hello"),
        "client_roots": types.ListRootsRequest(),
    }
    if requests.keys() <= (ctx.input_responses or {}).keys():
        return "All inputs received."
    return wants(requests, "several")


async def test_input_required_result_multi_round(ctx: Context) -> Input:
    """Input required result multi round."""
    state = json.loads(ctx.request_state or "{}")
    answers = ctx.input_responses or {}
    if state.get("round") == 2 and "step2" in answers:
        return f"{state['name']} likes {said(answers['step2'], 'color')}."
    if state.get("round") == 1 and "step1" in answers:
        schema = {"type": "object", "properties": {"color": {"type": "string"}}}
        kept = json.dumps({"round": 2, "name": said(answers["step1"], "name")})
        return wants({"step2": form("Step 2: which colour?", schema)}, kept)
    return wants({"step1": form("Step 1: what is your name?", NAME)}, '{"round": 1}')


async def test_input_required_result_tampered_state(ctx: Context) -> Input:
    """Input required result tampered state."""
    if ctx.request_state is None:
        return wants({"confirm": form("Please confirm", OK)}, "round-1")
    return f"state-ok: {ctx.request_state}"


async def test_input_required_result_capabilities(ctx: Context) -> types.InputRequiredResult:
    """Input required result capabilities."""
    can = ctx.client_capabilities
    requests: dict[str, Any] = {}
    if can is None or can.sampling is not None:
        requests["sample"] = sample("Say hello")
    if can is None or can.elicitation is not None:
        requests["ask"] = form("What is your name?", NAME)
    return wants(requests, "by what the client can")


WANTING = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_tampered_state,
    test_input_required_result_capabilities,
)
