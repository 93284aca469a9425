"""Nothing is dialled but what was judged, in the same task, right before."""

import asyncio
import contextlib
import socket
from collections.abc import Coroutine
from typing import Any

import pytest

from proxy.addresses import network
from proxy.dial import PinnedLoop, Undialable, _judged, is_own, judge


def run[T](wanted: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=PinnedLoop) as runner:
        return runner.run(wanted)


def test_a_name_that_wasnt_judged_leads_nowhere() -> None:
    with pytest.raises(OSError, match="was not judged"):
        run(asyncio.open_connection("a.example", 80))


def test_a_name_that_was_judged_opens_no_other() -> None:
    async def dial() -> None:
        _judged.set(("a.example", ("11.0.0.1",)))
        loop = asyncio.get_running_loop()
        assert [one[4] for one in await loop.getaddrinfo("a.example", 443)] == [("11.0.0.1", 443)]
        await asyncio.open_connection("b.example", 80)

    with pytest.raises(OSError, match=r"b\.example.*not judged"):
        run(dial())


def test_what_another_task_has_judged_counts_for_that_one_only() -> None:
    async def judging() -> None:
        _judged.set(("a.example", ("11.0.0.1",)))

    async def dial() -> None:
        await asyncio.gather(judging())
        await asyncio.open_connection("a.example", 80)

    with pytest.raises(OSError, match="was not judged"):
        run(dial())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_this_machine_is_never_judged_dialable(host: str) -> None:
    everything = (network("0.0.0.0/0"), network("::/0"))
    with pytest.raises(Undialable) as refused:
        run(judge(host, 80, refused=(), networks=everything))
    assert refused.value.forbidden


def test_a_name_that_leads_nowhere_is_no_forbidden_one() -> None:
    with pytest.raises(Undialable) as failed:
        run(judge(f"{'x' * 64}.example", 80, refused=(), networks=()))
    assert not failed.value.forbidden


def test_a_judgement_that_failed_leaves_none_before_it_standing() -> None:
    async def dial() -> None:
        _judged.set(("localhost", ("11.0.0.1",)))
        with contextlib.suppress(Undialable):
            await judge("localhost", 80, refused=(), networks=())
        await asyncio.open_connection("localhost", 80)

    with pytest.raises(OSError, match="was not judged"):
        run(dial())


def test_an_address_of_this_machine_is_known_by_the_kernel() -> None:
    assert is_own("127.0.0.1")
    assert not is_own("11.99.99.99")
    if socket.has_ipv6:
        assert not is_own("2606:4700:4700::1111")
