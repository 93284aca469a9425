"""Files and folders, through the unmodified SDK."""

import asyncio
import io
import os
from pathlib import Path

import pytest
from opensandbox.adapters.filesystem_adapter import FilesystemAdapter
from opensandbox.exceptions import SandboxApiException
from opensandbox.models.filesystem import (
    ContentReplaceEntry,
    DirectoryListEntry,
    MoveEntry,
    SearchEntry,
    SetPermissionEntry,
    WriteEntry,
)

from tests.component.execd.daemon import HEADERS, Daemon, until

BINARY = bytes(range(256)) * 5000


@pytest.fixture(params=["chunked", "with a length"])
def files(execd: Daemon, request: pytest.FixtureRequest) -> FilesystemAdapter:
    """The SDK's two ways to send a form: direct, and as through the server's proxy."""
    config = execd.files.connection_config.model_copy(
        update={"use_server_proxy": request.param != "chunked"}
    )
    return FilesystemAdapter(config, execd.files.execd_endpoint)


async def test_what_is_written_is_read_back(execd: Daemon, files: FilesystemAdapter) -> None:
    home = str(execd.home)
    entries = [
        WriteEntry(path=f"{home}/a/b/text.txt", data="grüße\r\n--x\r\n", mode=640),
        WriteEntry(path=f"{home}/bin", data=BINARY, mode=755),
        WriteEntry(path=f"{home}/empty", data=b""),
        WriteEntry(path=f"{home}/stream", data=io.BytesIO(BINARY[:70000])),
        WriteEntry(path=f'{home}/odd "name" ü\n', data="x"),
    ]
    await files.write_files(entries)
    assert await files.read_file(f"{home}/a/b/text.txt") == "grüße\r\n--x\r\n"
    assert await files.read_bytes(f"{home}/bin") == BINARY
    assert await files.read_bytes(f"{home}/empty") == b""
    assert await files.read_bytes(f"{home}/stream") == BINARY[:70000]
    assert await files.read_file(f'{home}/odd "name" ü\n') == "x"
    assert (execd.home / "a/b/text.txt").stat().st_mode & 0o7777 == 0o640


async def test_writing_follows_a_link_and_replaces_what_was_there(
    execd: Daemon, files: FilesystemAdapter
) -> None:
    (execd.home / "target").write_text("old and longer")
    (execd.home / "link").symlink_to("target")
    await files.write_file(f"{execd.home}/link", "new")
    assert (execd.home / "link").is_symlink()
    assert (execd.home / "target").read_text() == "new"


async def test_an_upload_that_breaks_off_leaves_what_was_there(execd: Daemon) -> None:
    (execd.home / "kept").write_text("before")
    metadata = f'{{"path": "{execd.home}/kept", "mode": 644}}'.encode()
    token = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items()).encode()

    async def begun() -> bool:
        return len(list(execd.home.iterdir())) == 2

    async def cleaned() -> bool:
        return [path.name for path in execd.home.iterdir()] == ["kept"]

    async with execd.raw() as (_, writer):
        writer.write(
            b"POST /files/upload HTTP/1.1\r\n" + token + b"Content-Length: 99999\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n\r\n"
            b'--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n' + metadata + b"\r\n"
            b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + b"x" * 5000
        )
        await until(begun)
    await until(cleaned)
    assert (execd.home / "kept").read_text() == "before"


async def test_a_part_of_a_file_can_be_read(execd: Daemon) -> None:
    path = execd.home / "f"
    path.write_bytes(b"one\ntwo\nthree\nfour")
    name = str(path)
    assert await execd.files.read_bytes(name, range_header="bytes=4-6") == b"two"
    assert await execd.files.read_bytes(name, range_header="bytes=-4") == b"four"
    assert await execd.files.read_bytes(name, offset=2, limit=2) == b"two\nthree\n"
    assert await execd.files.read_bytes(name, offset=4) == b"four"
    assert await execd.files.read_bytes(name, limit=1) == b"one\n"
    assert await execd.files.read_bytes(name, offset=9) == b""
    async with execd.http.get(
        "/files/download", params={"path": name}, headers={"Range": "bytes=4-6"}
    ) as answer:
        assert (answer.status, answer.headers["Content-Range"]) == (206, "bytes 4-6/18")
    async with execd.http.get(
        "/files/download", params={"path": name}, headers={"Range": "bytes=18-"}
    ) as answer:
        assert answer.status == 416


async def test_a_large_file_passes_without_being_held_in_memory(execd: Daemon) -> None:
    large = BINARY * 40
    await execd.files.write_file(f"{execd.home}/large", large)
    stream = await execd.files.read_bytes_stream(f"{execd.home}/large")
    assert b"".join([block async for block in stream]) == large
    assert execd.rss_mib() < 45


async def test_files_are_described(execd: Daemon) -> None:
    (execd.home / "file").write_text("12345")
    (execd.home / "file").chmod(0o640)
    (execd.home / "link").symlink_to("/nowhere")
    os.mkfifo(execd.home / "fifo")
    names = [f"{execd.home}/{name}" for name in ("file", "link", "fifo", "")]
    found = await execd.files.get_file_info(names)
    assert [found[name].entry_type for name in names] == ["file", "symlink", "other", "directory"]
    file = found[names[0]]
    assert (file.size, file.mode, file.path) == (5, 640, names[0])
    assert file.modified_at.tzinfo is not None
    with pytest.raises(SandboxApiException) as missing:
        await execd.files.get_file_info([f"{execd.home}/missing"])
    assert missing.value.status_code == 404


async def test_folders_are_made_listed_and_removed(execd: Daemon) -> None:
    home = str(execd.home)
    await execd.files.create_directories([WriteEntry(path=f"{home}/d/e", mode=700)])
    assert (execd.home / "d/e").stat().st_mode & 0o777 == 0o700
    (execd.home / "d/e/f").touch()
    (execd.home / "d/a").touch()
    (execd.home / "d/l").symlink_to("e")
    entry = DirectoryListEntry(path=f"{home}/d")
    assert [e.path for e in await execd.files.list_directory(entry)] == [
        f"{home}/d/{name}" for name in ("a", "e", "l")
    ]
    deep = await execd.files.list_directory(DirectoryListEntry(path=f"{home}/d", depth=2))
    assert [e.path.removeprefix(home) for e in deep] == ["/d/a", "/d/e", "/d/e/f", "/d/l"]
    with pytest.raises(SandboxApiException, match="link"):
        await execd.files.list_directory(DirectoryListEntry(path=f"{home}/d/l"))
    await execd.files.delete_directories([f"{home}/d"])
    assert not (execd.home / "d").exists()
    await execd.files.delete_directories([f"{home}/d"])


async def test_removing_a_folder_does_not_follow_links_out_of_it(execd: Daemon) -> None:
    (execd.home / "precious").mkdir()
    (execd.home / "precious/file").touch()
    (execd.home / "d").mkdir()
    (execd.home / "d/link").symlink_to("../precious")
    await execd.files.delete_directories([f"{execd.home}/d"])
    assert (execd.home / "precious/file").exists()


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("**/*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("s/*.py", ["s/b.py"]),
        ("**", ["a.py", "s/b.py", "s/t/c.py", "s/x.txt"]),
        ("nothing", []),
    ],
)
async def test_files_are_found(execd: Daemon, pattern: str, found: list[str]) -> None:
    for name in ("a.py", "s/b.py", "s/t/c.py", "s/x.txt"):
        (execd.home / name).parent.mkdir(parents=True, exist_ok=True)
        (execd.home / name).touch()
    entries = await execd.files.search(SearchEntry(path=str(execd.home), pattern=pattern))
    assert [entry.path.removeprefix(f"{execd.home}/") for entry in entries] == found


async def test_files_are_moved_even_between_file_systems(execd: Daemon) -> None:
    (execd.home / "a").write_text("content")
    other = Path("/dev/shm") / f"execd-test-{execd.port}"  # noqa: S108  # another file system
    try:
        await execd.files.move_files([MoveEntry(src=f"{execd.home}/a", dest=str(other))])
        assert other.read_text() == "content"
        assert not (execd.home / "a").exists()
    finally:
        other.unlink(missing_ok=True)


async def test_permissions_are_set(execd: Daemon) -> None:
    (execd.home / "a").touch()
    entry = SetPermissionEntry(path=f"{execd.home}/a", mode=4750, owner=str(os.geteuid()))
    await execd.files.set_permissions([entry])
    assert (execd.home / "a").stat().st_mode & 0o7777 == 0o4750
    with pytest.raises(SandboxApiException, match="no user"):
        await execd.files.set_permissions(
            [SetPermissionEntry(path=f"{execd.home}/a", mode=644, owner="nobody-of-this-name")]
        )


async def test_text_is_replaced_and_counted(execd: Daemon) -> None:
    (execd.home / "a").write_text("x y x")
    (execd.home / "a").chmod(0o751)
    (execd.home / "b").write_bytes(b"\xff x")
    entries = [
        ContentReplaceEntry(path=f"{execd.home}/a", old_content="x", new_content="zz"),
        ContentReplaceEntry(path=f"{execd.home}/b", old_content="q", new_content=""),
    ]
    results = await execd.files.replace_contents_detailed(entries)
    assert [result.replaced_count for result in results] == [2, 0]
    assert (execd.home / "a").read_text() == "zz y zz"
    assert (execd.home / "a").stat().st_mode & 0o777 == 0o751
    await execd.files.replace_contents(entries)
    assert (execd.home / "b").read_bytes() == b"\xff x"


async def test_files_are_deleted_but_not_folders(execd: Daemon) -> None:
    (execd.home / "a").touch()
    (execd.home / "d").mkdir()
    await execd.files.delete_files([f"{execd.home}/a"])
    assert not (execd.home / "a").exists()
    for name, status in [("d", 400), ("missing", 404)]:
        with pytest.raises(SandboxApiException) as refused:
            await execd.files.delete_files([f"{execd.home}/{name}"])
        assert refused.value.status_code == status


@pytest.mark.parametrize("name", ["fifo", "folder", "device"])
async def test_only_regular_files_are_read_and_nothing_is_waited_for(
    execd: Daemon, name: str
) -> None:
    os.mkfifo(execd.home / "fifo")
    (execd.home / "folder").mkdir()
    (execd.home / "device").symlink_to("/dev/zero")
    async with asyncio.timeout(5):
        async with execd.http.get(f"/files/download?path={execd.home}/{name}") as answer:
            assert answer.status == 400
        with pytest.raises(SandboxApiException):
            await execd.files.replace_contents_detailed(
                [ContentReplaceEntry(path=f"{execd.home}/{name}", old_content="a", new_content="b")]
            )


async def test_a_long_walk_does_not_hold_up_the_rest(execd: Daemon) -> None:
    for number in range(60):
        (execd.home / f"d{number}").mkdir()
        for inner in range(100):
            (execd.home / f"d{number}/{inner}").touch()
    answered = 0
    async with asyncio.TaskGroup() as tasks:
        walk = tasks.create_task(
            execd.files.search(SearchEntry(path=str(execd.home), pattern="**/*"))
        )
        while not walk.done():
            async with execd.http.get("/ping") as answer:
                answered += answer.status == 200
    assert len(walk.result()) == 6000
    assert answered >= 5


@pytest.mark.parametrize(
    "request_",
    [
        ("GET", "/files/info", None),
        ("GET", "/files/download?path=", None),
        ("GET", "/files/download?path=%00", None),
        ("GET", "/files/search?path=/&pattern=[z-a]", None),
        ("GET", "/directories/list?path=/&depth=0", None),
        ("POST", "/files/mv", {"src": "a"}),
        ("POST", "/files/mv", [{"src": "a"}]),
        ("POST", "/files/permissions", {"x": 5}),
        ("POST", "/files/replace", {"x": {"old": ""}}),
        ("POST", "/files/upload", {}),
        ("POST", "/directories", []),
    ],
    ids=lambda r: f"{r[0]} {r[1]}",
)
async def test_what_cannot_be_meant_is_refused(
    any_execd: Daemon, request_: tuple[str, str, object]
) -> None:
    method, path, body = request_
    async with any_execd.http.request(method, path, json=body) as answer:
        assert answer.status == 400
        assert (await answer.json())["message"]
