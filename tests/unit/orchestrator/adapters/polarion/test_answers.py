"""What an answer means for the caller."""

import pytest

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable
from orchestrator.adapters.polarion.answers import Answer, Rejected, error_for, retry_after

HTML = b"<html><head><title>Apache Tomcat - 503</title></head><body>java.lang.Boom</body></html>"


def error_body(detail: str | None, *, parameter: str = "null") -> bytes:
    text = "null" if detail is None else f'"{detail}"'
    error = f'{{"title":"T","detail":{text},"source":{{"parameter":{parameter}}}}}'
    return f'{{"errors":[null,{error}]}}'.encode()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected), (401, Forbidden), (403, Forbidden), (404, NotFound), (405, Rejected),
        (406, Rejected), (409, Conflict), (410, NotFound), (413, Rejected), (415, Rejected),
        (429, Unavailable), (500, Unavailable), (502, Unavailable), (503, Unavailable),
        (302, Forbidden), (303, Forbidden), (418, Rejected),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(error_body("D"), id="as it should be"),
        pytest.param(error_body(None), id="null detail"),
        pytest.param(HTML, id="HTML"),
        pytest.param(b"", id="empty"),
        pytest.param(b'{"errors":null}', id="null errors"),
        pytest.param(b'{"errors":[{"source":null}]}', id="null source"),
        pytest.param(b'["x"]', id="a list"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_a_status_means_the_same_whatever_the_body(
    status: int, kind: type[SandgateError], body: bytes
) -> None:
    """CASE-107: HTML, empty or half empty error bodies are no parse failure; the status is told."""
    error = error_for(
        Answer(status, "text/html" if body == HTML else "application/json", body), "reading X"
    )
    assert type(error) is kind
    assert str(error).startswith(f"reading X: Polarion answered {status}")


def test_the_detail_is_told_and_a_page_only_by_its_title() -> None:
    assert "503: Apache Tomcat - 503" in str(error_for(Answer(503, "text/html", HTML), "x"))
    assert "java.lang" not in str(error_for(Answer(503, "text/html", HTML), "x"))
    assert str(error_for(Answer(404, "application/json", error_body("gone")), "x")).endswith(
        ": gone"
    )
    long = error_for(Answer(400, "application/json", error_body("y" * 9000)), "x")
    assert len(str(long)) < 600


def test_a_refused_workflow_action_is_a_conflict() -> None:
    """The item has moved on: whoever asked must look again."""
    body = error_body("not available", parameter='"workflowAction"')
    assert type(error_for(Answer(400, "application/json", body), "x")) is Conflict


def test_a_rejection_names_the_parameter() -> None:
    error = error_for(Answer(400, "application/json", error_body("bad", parameter='"query"')), "x")
    assert isinstance(error, Rejected)
    assert (error.status, error.parameter, error.pointer) == (400, "query", "")


def test_a_log_in_page_with_status_200_is_named() -> None:
    """It must not look like an empty answer."""
    answer = Answer(200, "text/html", b"<html><title> Log in </title>")
    with pytest.raises(Malformed, match="page 'Log in' instead of JSON"):
        answer.json("reading X")


def test_what_is_no_json_is_malformed_and_nothing_is_none() -> None:
    with pytest.raises(Malformed, match="no JSON"):
        Answer(200, "application/json", b"{").json("reading X")
    assert Answer(204, "", b"").json("x") is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 3 ", 3.0),
        ("soon", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("-1", None),
    ],
)
def test_the_wish_to_wait_is_read(header: str | None, seconds: float | None) -> None:
    assert retry_after(header) == seconds
