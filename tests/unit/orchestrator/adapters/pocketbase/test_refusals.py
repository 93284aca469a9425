from typing import Any

import orjson
import pytest

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable
from orchestrator.adapters.pocketbase.refusals import error_of


def refusal(status: int, **fields: str) -> dict[str, Any]:
    data = {name: {"code": code, "message": "said"} for name, code in fields.items()}
    return {"status": status, "message": "It said no.", "data": data}


def batch(response: dict[str, Any]) -> dict[str, Any]:
    failed = {"code": "batch_request_failed", "message": "Failed.", "response": response}
    return {"status": 400, "message": "Batch failed.", "data": {"requests": {"3": failed}}}


TAKEN = refusal(400, task="validation_not_unique")
BAD = refusal(400, cost_usd="validation_invalid_format")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        pytest.param(400, TAKEN, Conflict, id="a value that is taken"),
        pytest.param(400, BAD, Malformed, id="a value that the schema refuses"),
        pytest.param(400, refusal(400), Unavailable, id="a write that failed for no field's fault"),
        pytest.param(401, refusal(401), Forbidden, id="no token"),
        pytest.param(403, refusal(403), Forbidden, id="a token too old"),
        pytest.param(404, refusal(404), NotFound, id="no record"),
        pytest.param(409, refusal(409), Conflict, id="another version"),
        pytest.param(422, refusal(422), Malformed, id="what our hook can't do"),
        pytest.param(429, refusal(429), Unavailable, id="too many requests"),
        pytest.param(500, refusal(500), Unavailable, id="a fault of its own"),
        pytest.param(503, None, Unavailable, id="no body at all"),
        pytest.param(302, ["?"], Malformed, id="something else answers there"),
        pytest.param(400, batch(TAKEN), Conflict, id="a batch with a value that is taken"),
        pytest.param(400, batch(BAD), Malformed, id="a batch with a bad value"),
        pytest.param(400, batch(refusal(403)), Forbidden, id="a batch with a token too old"),
        pytest.param(400, batch({"data": []}), Unavailable, id="a batch that says nothing more"),
    ],
)
def test_a_refusal_is_the_error_that_its_caller_can_act_on(
    status: int, body: Any, kind: type[SandgateError]
) -> None:
    raw = b"" if body is None else orjson.dumps(body)
    assert type(error_of("GET /x", status, raw)) is kind


def test_the_message_says_what_was_asked_and_which_fields_are_to_blame() -> None:
    error = error_of("POST /x", 400, orjson.dumps(batch(BAD)))
    assert str(error) == (
        "PocketBase refused POST /x with 400: It said no. (cost_usd: validation_invalid_format)"
    )
