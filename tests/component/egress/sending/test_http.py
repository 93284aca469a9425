"""The log is sent on by HTTP, each batch once and under its own key."""

import orjson
import pytest
from pydantic import SecretStr

from entrance.errors import Forbidden, Malformed
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.http import Body, HttpTarget
from tests.component.egress.sending.exporting import SMALL, Kept, sent
from tests.fakes.egress_log import FakeEgressLog
from tests.servers import collector as collectors
from tests.servers.posts import Post, Said, taking_posts


@pytest.mark.parametrize("body", ["ndjson", "array"])
def test_batches_by_http(log: FakeEgressLog, cursor: CursorFile, body: Body) -> None:
    with collectors.http() as got:
        target = HttpTarget(got.url, {"Authorization": SecretStr("Bearer of-the-tests")}, body)
        sent(log, target, cursor, form="jsonl", batch_bytes=SMALL)
        target.close()
    found = [
        one["seq"]
        for post in got.got
        for one in (
            orjson.loads(post.body)
            if body == "array"
            else map(orjson.loads, post.body.splitlines())
        )
    ]
    assert found == [1, 2, 3, 4, 5, 6, 7]
    assert len(got.got) > 1
    assert {post.headers["Authorization"] for post in got.got} == {"Bearer of-the-tests"}
    assert len({post.headers["Idempotency-Key"] for post in got.got}) == len(got.got)


def test_a_server_in_trouble_gets_each_batch_once_in_the_end(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    with collectors.http() as got:
        got.answers = [503, 429, 204, 500, 502]
        target = HttpTarget(got.url, {})
        sent(log, target, cursor, form="jsonl", batch_bytes=SMALL)
        target.close()
    found = [orjson.loads(line)["seq"] for post in got.got for line in post.body.splitlines()]
    assert found == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("status", "kind"), [(401, Forbidden), (403, Forbidden), (400, Malformed), (302, Malformed)]
)
def test_a_server_that_does_not_want_it_is_not_asked_again(
    log: FakeEgressLog, cursor: CursorFile, status: int, kind: type[Exception]
) -> None:
    with collectors.http() as got:
        got.answers = [status]
        target = HttpTarget(got.url + "?key=secret", {})
        with pytest.raises(kind, match=str(status)) as caught:
            sent(log, target, cursor)
        target.close()
        assert "secret" not in str(caught.value)
        kept = Kept()
        sent(log, kept, cursor)
    assert kept.seqs == [1, 2, 3, 4, 5, 6, 7]


def test_an_answer_that_is_too_long_is_not_read_to_its_end(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    said, got = Said(64 << 20), list[Post]()

    def take(post: Post) -> int:
        got.append(post)
        return 200

    with taking_posts(take, said) as port:
        target = HttpTarget(f"http://127.0.0.1:{port}/in", {})
        sent(log, target, cursor)
        target.close()
    assert got
    assert said.broken_off == len(got)
