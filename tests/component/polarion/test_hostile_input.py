"""Whatever is sent, the answer is an error of the API's own shape, and tells nothing of the inside."""

import asyncio
import io
import json
from contextlib import suppress
from urllib.parse import quote

import pytest

from orchestrator.adapters.polarion import NewItem, PolarionClient
from tests.servers.polarion import PolarionServer, Reply, Wire

JSON = {"Content-Type": "application/json"}
RESOURCE = b'{"data":[{"type":"workitem_attachments"}]}'


def assert_error(reply: Reply, status: int) -> None:
    """The API's error shape, and nothing of Python, SQL or the file system."""
    assert reply.status == status, reply.body
    assert reply.error["status"] == str(status)
    assert reply.error["title"]
    for word in (b"Traceback", b"sqlite", b"SELECT", b"INSERT", b".py", b"/tmp"):
        assert word not in reply.body


def with_attributes(attributes: bytes) -> bytes:
    """A body with one work item."""
    return b'{"data":[{"type":"workitems","attributes":' + attributes + b"}]}"


def with_relationship(assignee: bytes) -> bytes:
    """A body with one task that has this for an assignee."""
    return with_attributes(b'{"type":"task"},"relationships":{"assignee":' + assignee + b"}")


def a_part(disposition: bytes, content: bytes) -> bytes:
    """A form with one part."""
    return b"--B\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n--B--\r\n" % (
        disposition,
        content,
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half an object"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"data":{}}', id="one instead of many"),
        pytest.param(b'{"data":[]}', id="none"),
        pytest.param(b'{"data":[7]}', id="a number"),
        pytest.param(b'{"data":[{"type":"users"}]}', id="another type"),
        pytest.param(with_attributes(b"[]"), id="attributes as a list"),
        pytest.param(with_attributes(b'{"title":"t"}'), id="no work item type"),
        pytest.param(with_attributes(b'{"type":{}}'), id="type as an object"),
        pytest.param(with_attributes(b'{"type":"task","title":7}'), id="title as a number"),
        pytest.param(with_attributes(b'{"type":"task","title":"a\\u0000b"}'), id="a NUL"),
        pytest.param(with_attributes(b'{"type":"task","title":"\\ud800"}'), id="half a surrogate"),
        pytest.param(with_attributes(b'{"type":"task","a\\"b":"x"}'), id="a quote in a key"),
        pytest.param(with_attributes(b'{"type":"task","customFields":{"a":1}}'), id="customFields"),
        pytest.param(with_attributes(b'{"type":"task","dueDate":"soon"}'), id="no date"),
        pytest.param(with_relationship(b"7"), id="a relationship as a number"),
        pytest.param(with_relationship(b'{"data":["x"]}'), id="an identifier as text"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b"\xff\xfe{}", id="no UTF-8"),
    ],
)  # fmt: skip
async def test_a_bad_body_is_a_400(wire: Wire, project: str, body: bytes) -> None:
    reply = await wire.ask("POST", f"/projects/{project}/workitems", data=body, headers=JSON)
    assert_error(reply, 400)
    listed = await wire.ask("GET", f"/projects/{project}/workitems")
    assert listed.json["meta"]["totalCount"] == 0


async def test_the_pointer_says_where_it_is_wrong(wire: Wire, project: str) -> None:
    """As real Polarion words it."""
    rows = [{"type": "workitems", "attributes": {"type": "task", "customFields": {"a": 1}}}]
    reply = await wire.ask("POST", f"/projects/{project}/workitems", json={"data": rows})
    assert reply.error["detail"] == "STRING expected, but was : BEGIN_OBJECT"
    assert reply.error["source"]["pointer"] == "$.data[0].attributes.customFields"


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("*foo*", id="leading wildcard"),
        pytest.param("title:*foo", id="leading wildcard in a field"),
        pytest.param("title:?oo", id="leading question mark"),
        pytest.param("((type:task", id="open brackets"),
        pytest.param("type:", id="no value"),
        pytest.param("AND", id="an operator alone"),
        pytest.param("a:b:c", id="two colons"),
        pytest.param("x:/regex.*/", id="a regular expression"),
        pytest.param("created:[yesterday TO today]", id="no dates"),
        pytest.param("created:[99999999 TO *]", id="an impossible date"),
        pytest.param("SQL:(SELECT * FROM user)", id="SQL"),
        pytest.param("(" * 3000 + "a" + ")" * 3000, id="nested without end"),
        pytest.param("NOT " * 2000 + "a", id="negated without end"),
        pytest.param('x"y:1', id="a quote in a field"),
        pytest.param("a " * 4000, id="thousands of words"),
        pytest.param("a\0b", id="a NUL"),
    ],
)
async def test_a_bad_query_is_a_400(wire: Wire, project: str, query: str) -> None:
    """CASE-112 and its kin; the error names the parameter."""
    reply = await wire.ask("GET", f"/projects/{project}/workitems?query={_quoted(query)}")
    assert_error(reply, 400)
    assert reply.error["source"]["parameter"] == "query"


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ("page%5Bsize%5D=0", "page[size]"),
        ("page%5Bsize%5D=-1", "page[size]"),
        ("page%5Bsize%5D=abc", "page[size]"),
        ("page%5Bnumber%5D=99999999999999999999999", "page[number]"),
        ("page%5Bnumber%5D=10000000", "page[number]"),
        ("sort=a%22b", "sort"),
        ("sort=~", "sort"),
        ("revision=7", "revision"),
    ],
)
async def test_a_bad_parameter_is_a_400(
    wire: Wire, project: str, parameters: str, name: str
) -> None:
    reply = await wire.ask("GET", f"/projects/{project}/workitems?{parameters}")
    assert_error(reply, 400)
    assert reply.error["source"]["parameter"] == name


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("PUT", "/projects", 405),
        ("DELETE", "/projects/AGENTS/workitems/X-1/comments/1", 405),
        ("GET", "/projects/..%2F..%2Fetc%2Fpasswd", 404),
        ("GET", "/projects/%2E%2E/workitems", 404),
        ("GET", "/projects/AGENTS%00/workitems", 400),
        ("GET", "/projects/AGENTS/workitems/%00", 400),
        ("GET", "/projects/AGENTS/workitems/AG%2F1", 404),
        ("GET", "/projects/AGENTS/workitems/100%25", 404),
        ("GET", "/projects/AGENTS/workitems/%ZZ", 404),
        ("GET", "/projects/AGENTS/workitems/%FF", 404),
        ("GET", "/projects/AGENTS/workitems/AG-1/attachments/..%2F..%2Fpasswd/content", 404),
        ("GET", "/projects/AGENTS/workitems/AG-1/comments/99999999999999999999999", 404),
        ("GET", "/users/' OR 1=1 --".replace(" ", "%20"), 404),
        ("GET", "/projects/AGENTS%27%20OR%20%271%27=%271/workitems", 404),
        ("GET", "/jobs/job-1%27", 404),
    ],
)  # fmt: skip
async def test_a_path_trick_finds_nothing(wire: Wire, method: str, path: str, status: int) -> None:
    assert_error(await wire.ask(method, path), status)


async def test_media_types_are_checked(wire: Wire, project: str) -> None:
    """406 for what can't be sent, 415 for what can't be read; CASE-109: JSON instead of multipart."""
    made = await wire.ask(
        "POST",
        f"/projects/{project}/workitems",
        json={"data": [{"type": "workitems", "attributes": {"type": "task", "title": "T"}}]},
    )
    item = f"/projects/{project}/workitems/{made.json['data'][0]['id'].split('/')[1]}"
    assert_error(await wire.ask("GET", item, headers={"Accept": "text/html"}), 406)
    assert_error(await wire.ask("GET", item, headers={"Accept": "application/vnd.api+json"}), 406)
    for accept in ("*/*", "application/json", "text/html, application/json;q=0.5"):
        assert (await wire.ask("GET", item, headers={"Accept": accept})).status == 200
    assert_error(
        await wire.ask(
            "GET", f"{item}/attachments/1-a/content", headers={"Accept": "application/json"}
        ),
        406,
    )
    text = {"Content-Type": "text/plain"}
    assert_error(await wire.ask("PATCH", item, data=b"{}", headers=text), 415)
    assert_error(await wire.ask("POST", f"{item}/attachments", json={"data": []}), 415)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"nonsense", id="no parts"),
        pytest.param(b"--B\r\n\r\n", id="a part without an end"),
        pytest.param(a_part(b'name="files"; filename="a"', b"x"), id="CASE-109 no resource part"),
        pytest.param(a_part(b'name="resource"', RESOURCE), id="no file"),
        pytest.param(a_part(b'name="resource"', b'{"data"'), id="broken resource"),
    ],
)
async def test_a_bad_form_is_refused_and_leaves_no_file(
    wire: Wire,
    admin: PolarionClient,
    server: PolarionServer,
    project: str,
    form: bytes,
) -> None:
    folder = server.home / "data" / "attachments"
    before = set(folder.iterdir())
    made = await admin.items.create(project, NewItem("task", "T"))
    path = f"/projects/{project}/workitems/{made.split('/')[1]}/attachments"
    headers = {"Content-Type": "multipart/form-data; boundary=B"}
    assert_error(await wire.ask("POST", path, data=form, headers=headers), 400)
    headers = {"Content-Type": "multipart/form-data"}
    assert_error(await wire.ask("POST", path, data=form, headers=headers), 400)
    assert set(folder.iterdir()) == before


async def test_a_body_above_the_limit_is_a_413(wire: Wire, project: str) -> None:
    """2 MiB of JSON is the limit; a byte count that lies does not help."""
    huge = json.dumps(
        {"data": [{"type": "workitems", "attributes": {"type": "task", "title": "x" * 3_000_000}}]}
    )
    reply = await wire.ask(
        "POST", f"/projects/{project}/workitems", data=io.BytesIO(huge.encode()), headers=JSON
    )
    assert_error(reply, 413)


async def test_a_connection_that_speaks_no_http_does_no_harm(
    server: PolarionServer, wire: Wire
) -> None:
    for garbage in (b"\0" * 1000 + b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 200_000):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        with suppress(OSError):  # it may hang up before it has heard everything
            writer.write(garbage)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 10)
            assert b"Traceback" not in answer
        writer.close()
    assert (await wire.ask("GET", "/user")).status == 200


async def test_a_bulk_write_is_all_or_nothing(wire: Wire, project: str) -> None:
    """The second of three rows is wrong: none is stored, and no number is lost to readers."""
    good = {"type": "workitems", "attributes": {"type": "task", "title": "T"}}
    bad = {"type": "workitems", "attributes": {"type": "task", "title": 7}}
    reply = await wire.ask(
        "POST", f"/projects/{project}/workitems", json={"data": [good, bad, good]}
    )
    assert_error(reply, 400)
    assert reply.error["source"]["pointer"] == "$.data[1].attributes.title"
    listed = await wire.ask("GET", f"/projects/{project}/workitems")
    assert listed.json["meta"]["totalCount"] == 0


def _quoted(text: str) -> str:
    return quote(text, safe="")
