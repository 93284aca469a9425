"""Tools that ask back in the middle of a call, as servers of the handshake era do."""

import mcp_types as types
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from tests.servers.everything.content import text
from tests.servers.everything.forms import Choices, Defaults, Told


async def test_sampling(prompt: str, ctx: Context) -> str:
    """Sampling."""
    result = await ctx.session.create_message(
        [types.SamplingMessage(role="user", content=text(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {getattr(result.content, 'text', 'none')}"


async def asked(ctx: Context, message: str, schema: type[BaseModel]) -> str:
    result = await ctx.elicit(message=message, schema=schema)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"action={result.action}, content={content}"


async def test_elicitation(message: str, ctx: Context) -> str:
    """Elicitation."""
    return f"User response: {await asked(ctx, message, Told)}"


async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Elicitation sep1034 defaults."""
    return f"Elicitation completed: {await asked(ctx, 'Who are you?', Defaults)}"


async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Elicitation sep1330 enums."""
    return f"Elicitation completed: {await asked(ctx, 'Choose', Choices)}"


async def test_missing_capability(ctx: Context) -> str:
    """Missing capability."""
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs sampling",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "The client can sample."


ASKING = (
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_missing_capability,
)
