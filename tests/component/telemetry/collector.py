"""A collector of OTLP over HTTP that keeps the spans that it gets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.servers.posts import Post, taking_posts


class Collector:
    """What was sent, span by span."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.port = 0

    def take(self, post: Post) -> int:
        message = ExportTraceServiceRequest.FromString(post.body)
        self.headers.append({name.lower(): value for name, value in post.headers.items()})
        for each in message.resource_spans:
            self.resources.append({a.key: a.value.string_value for a in each.resource.attributes})
            for scope in each.scope_spans:
                self.spans.extend(scope.spans)
        return 200


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect inside the block."""
    kept = Collector()
    with taking_posts(kept.take) as kept.port:
        yield kept
