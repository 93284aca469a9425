"""A collector of OTLP over HTTP that keeps the spans that it gets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """What was sent, span by span."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.port = 0

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        message = ExportTraceServiceRequest.FromString(body)
        self.headers.append(headers)
        for each in message.resource_spans:
            self.resources.append({a.key: a.value.string_value for a in each.resource.attributes})
            for scope in each.scope_spans:
                self.spans.extend(scope.spans)


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect inside the block."""
    kept = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.take(body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield kept
        server.shutdown()
        thread.join(5)
