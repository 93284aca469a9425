import pytest

from orchestrator.stack.apt_sources import KEYRING, Source, debian_sources, suite_of

DEB822 = """\
Types: deb
# a comment
URIs: http://archive.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.example/security
Suites: bookworm-security
 bookworm-proposed-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://other.example/node
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/other.gpg

Enabled: no
Types: deb
URIs: http://archive.example/off
Suites: bookworm
Components: main
"""
ONE_LINE = """\
# deb http://archive.example/commented bookworm main
deb http://archive.example/debian bookworm main contrib # trailing
deb-src http://archive.example/debian bookworm main
deb [arch=amd64 signed-by=/k/debian-archive-bookworm.gpg] http://archive.example/b bookworm-security main
deb [signed-by=/k/tools.gpg] http://tools.example tools-bookworm main
deb [signed-by=/k/vendor.gpg] http://vendor.example bookworm main
deb http://archive.example/debian sid main
"""


def test_debians_own_deb822_entries_are_found_and_no_others() -> None:
    assert debian_sources({"debian.sources": DEB822}, "bookworm") == [
        Source("http://archive.example/debian", "bookworm", KEYRING),
        Source("http://archive.example/debian", "bookworm-updates", KEYRING),
        Source("http://archive.example/security", "bookworm-security", KEYRING),
    ]


def test_debians_own_one_line_entries_are_found_and_no_others() -> None:
    assert debian_sources({"sources.list": ONE_LINE}, "bookworm") == [
        Source("http://archive.example/debian", "bookworm", KEYRING),
        Source("http://archive.example/b", "bookworm-security", "/k/debian-archive-bookworm.gpg"),
    ]


def test_an_entry_that_stands_twice_is_taken_once() -> None:
    line = "deb http://archive.example/debian bookworm main\n"
    assert len(debian_sources({"a.list": line, "b.list": line}, "bookworm")) == 1


def test_an_entry_is_written_with_its_keyring() -> None:
    source = Source("http://archive.example/debian", "bookworm", KEYRING)
    assert str(source) == f"deb [signed-by={KEYRING}] http://archive.example/debian bookworm main"


@pytest.mark.parametrize(
    ("os_release", "suite"),
    [
        pytest.param("ID=debian\nVERSION_CODENAME=trixie\n", "trixie", id="a Debian"),
        pytest.param('ID=debian\nVERSION_CODENAME="trixie"\n', "trixie", id="quoted"),
        pytest.param("ID=ubuntu\nVERSION_CODENAME=noble\n", "bookworm", id="another system"),
        pytest.param("ID=debian\n", "bookworm", id="a Debian without a code name"),
        pytest.param("", "bookworm", id="nothing known"),
    ],
)
def test_the_suite_is_this_debians_or_the_default(os_release: str, suite: str) -> None:
    assert suite_of(os_release) == suite
