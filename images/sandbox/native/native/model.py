"""Asks the model through the entrance, which swaps the run token for the real key."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2

from native import patience, retry_after, sse
from native.conversation import Message
from native.dialects import Answer, Declared, Dialect, Question, Reader
from native.dialects.reading import part
from native.patience import Trouble
from native.text import clean

_ERROR_CHARS = 500


class Model:
    """One model behind the entrance. `name` is `provider:model`."""

    def __init__(
        self, client: httpx2.Client, dialect: Dialect, name: str, *, max_tokens: int
    ) -> None:
        self._client = client
        self._dialect = dialect
        self._name = name
        self._max_tokens = max_tokens

    def ask(self, system: str, messages: Sequence[Message], tools: Sequence[Declared]) -> Answer:
        """Ask once, streamed.

        Raises:
            Trouble: it did not answer, or not to the end.
        """
        model = self._name.partition(":")[2]
        question = Question(self._name, model, system, messages, tools, self._max_tokens)
        reader = self._dialect.reader(question)
        with _translated():
            self._stream(question, reader)
            answer = reader.answer()
        if answer is None:
            raise Trouble("the answer ended early", "away")
        return answer

    def _stream(self, question: Question, reader: Reader) -> None:
        request = self._dialect.request(question)
        url = f"/model/{self._name.partition(':')[0]}{request.path}"
        headers = {"Content-Type": "application/json", **request.headers}
        body = _encoded(request.body)
        with self._client.stream("POST", url, content=body, headers=headers) as response:
            if not response.is_success:
                raise self._refused(response)
            try:
                for event in sse.events(response.iter_bytes()):
                    reader.feed(event)
            except httpx2.HTTPError:
                if reader.answer() is None:  # else the break came after the end
                    raise

    def _refused(self, response: httpx2.Response) -> Trouble:
        body = response.read()
        try:
            error = part(json.loads(body), "error")
        except ValueError:
            error = {}
        text = body[:_ERROR_CHARS].decode("utf-8", "replace").strip()
        return patience.of_status(
            response.status_code,
            str(error.get("message") or text or response.reason_phrase),
            retry_after_s=retry_after.seconds(response.headers, error),
            kind=self._dialect.kind(response.status_code, error),
        )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except httpx2.HTTPError as error:
        reason = f"{type(error).__name__} {error}".strip()
        raise Trouble(f"the model can't be reached: {reason}", "away") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Trouble(f"the answer can't be read: {error!r}", "busy") from error


def _encoded(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which providers refuse
        return json.dumps(clean(body), ensure_ascii=False).encode()
