"""What a server asks back for: forms for a person, and words of a model."""

from typing import Any

import mcp_types as types
from pydantic import BaseModel, Field

from tests.servers.everything.content import text

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


class Told(BaseModel):
    """What a person is asked for."""

    username: str = Field(description="Your name")
    email: str = Field(description="Where you can be reached")


class Defaults(BaseModel):
    """A form whose every field has a default."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def _titled(kind: str, pairs: dict[str, str]) -> dict[str, Any]:
    return {kind: [{"const": value, "title": title} for value, title in pairs.items()]}


class Choices(BaseModel):
    """A form of every way to choose."""

    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})  # noqa: N815
    titledSingle: str = Field(  # noqa: N815
        json_schema_extra=_titled("oneOf", {"low": "Low", "medium": "Medium", "high": "High"})
    )
    untitledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}}
    )
    titledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={
            "items": _titled("anyOf", {"feature": "Feature", "bug": "Bug", "docs": "Docs"})
        }
    )
    legacyEnum: str = Field(  # noqa: N815
        json_schema_extra={
            "enum": ["small", "medium", "large"],
            "enumNames": ["Small Size", "Medium Size", "Large Size"],
        }
    )


def form(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def sample(words: str) -> types.CreateMessageRequest:
    messages = [types.SamplingMessage(role="user", content=text(words))]
    params = types.CreateMessageRequestParams(messages=messages, max_tokens=50)
    return types.CreateMessageRequest(params=params)
