"""Nothing is dialled but what was judged, in the same task, right before."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from proxy.addresses import network
from proxy.dial import PinnedLoop, Resolver, Undialable, _judged, is_own, judge

CLIENT = "10.0.0.2"


def run[T](wanted: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=PinnedLoop) as runner:
        return runner.run(wanted)


def test_a_name_that_wasnt_judged_leads_nowhere() -> None:
    with pytest.raises(OSError, match="was not judged"):
        run(asyncio.open_connection("a.example", 80))


def test_a_name_that_was_judged_opens_no_other() -> None:
    async def dial() -> None:
        _judged.set(("a.example", ("11.0.0.1",)))
        await asyncio.open_connection("b.example", 80)

    with pytest.raises(OSError, match=r"b\.example.*not judged"):
        run(dial())


def test_the_loop_looks_no_name_up() -> None:
    async def look_up() -> None:
        _judged.set(("localhost", ("127.0.0.1",)))
        await asyncio.get_running_loop().getaddrinfo("localhost", 80)

    with pytest.raises(OSError, match="not judged"):
        run(look_up())


async def served(at: str) -> tuple[asyncio.Server, int]:
    server = await asyncio.start_server(lambda _, writer: writer.close(), at, 0)
    return server, server.sockets[0].getsockname()[1]


def test_what_is_dialled_is_the_first_judged_address_that_answers() -> None:
    async def dial() -> object:
        server, port = await served("127.0.0.2")
        async with server:
            _judged.set(("a.example", ("127.0.0.1", "127.0.0.2", "127.0.0.3")))
            _, writer = await asyncio.open_connection("a.example", port)
            writer.close()
            return writer.get_extra_info("peername")[0]

    assert run(dial()) == "127.0.0.2"


def test_a_name_none_of_whose_addresses_answers_is_not_reached() -> None:
    async def dial() -> None:
        server, port = await served("127.0.0.2")
        async with server:
            _judged.set(("a.example", ("127.0.0.1", "127.0.0.3")))
            await asyncio.open_connection("a.example", port)

    with pytest.raises(ConnectionRefusedError):
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
        run(judge(host, 80, CLIENT, Resolver(), refused=(), networks=everything))
    assert refused.value.forbidden


def test_a_name_that_leads_nowhere_is_no_forbidden_one() -> None:
    with pytest.raises(Undialable) as failed:
        run(judge(f"{'x' * 64}.example", 80, CLIENT, Resolver(), refused=(), networks=()))
    assert not failed.value.forbidden


def test_a_judgement_that_failed_leaves_none_before_it_standing() -> None:
    async def dial() -> None:
        _judged.set(("localhost", ("11.0.0.1",)))
        with contextlib.suppress(Undialable):
            await judge("localhost", 80, CLIENT, Resolver(), refused=(), networks=())
        await asyncio.open_connection("localhost", 80)

    with pytest.raises(OSError, match="was not judged"):
        run(dial())


def test_slow_names_of_one_client_keep_no_other_waiting_even_when_it_gave_them_up() -> None:
    go_on = threading.Event()

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        return [((), ("11.0.0.1", port))] if host == "a.example" or go_on.wait(10) else []

    resolver = Resolver(look_up, threads=3, share=2)

    async def slow(tasks: asyncio.TaskGroup) -> list[asyncio.Task[Any]]:
        asked = [resolver.addresses(f"slow{n}.example", 80, CLIENT) for n in range(2)]
        begun = [tasks.create_task(one) for one in asked]
        await asyncio.sleep(0)
        return begun

    async def ask() -> None:
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(5):
            for task in await slow(tasks):
                task.cancel()
            later = await slow(tasks)
            assert await resolver.addresses("a.example", 80, "10.0.0.3") == ("11.0.0.1",)
            go_on.set()
        assert [task.result() for task in later] == [("11.0.0.1",)] * 2

    try:
        run(ask())
    finally:
        go_on.set()


def test_an_address_of_this_machine_is_known_by_the_kernel() -> None:
    assert is_own("127.0.0.1")
    assert not is_own("11.99.99.99")
    if socket.has_ipv6:
        assert not is_own("2606:4700:4700::1111")
