from typing import Any

import pytest
from native.schema import fault, parameters

SCHEMA = parameters(("path",), path={"type": "string"}, limit={"type": "integer", "minimum": 1})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": "x"}, None),
        ({"path": "x", "limit": 1}, None),
        ({}, "the parameter 'path' is missing"),
        ({"path": 3}, "'path' must be of type string"),
        ({"path": "x", "limit": 0}, "'limit' must be at least 1"),
        ({"path": "x", "limit": True}, "'limit' must be of type integer"),
        ({"path": "x", "file": 1}, "there is no parameter 'file'; there are path, limit"),
    ],
)
def test_an_input_is_as_declared_or_the_model_is_told(given: Any, said: str | None) -> None:
    assert fault(SCHEMA, given) == said
