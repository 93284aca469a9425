"""Rich texts as plain ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.adapters.polarion.resources import Text
from orchestrator.adapters.polarion.richtext import plain, rich

LONG = 300_000
PIECES = st.sampled_from(
    ["<", ">", "</", "<!--", "-->", "<a href='http://x'>", "</a>", "<pre>", "</pre>", "<td>", "&#",
     "&amp;", "<script>", "</script>", "<li>", "\n", " ", "x", '"', "'", "<?", "<!", "=", "<br/>"]
)  # fmt: skip


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("<div>a<br/>b<BR>c</div>", "a\nb\nc"),
        ("<p>  much \n  space </p>", "much space"),
        ("<b>bo</b>ld &amp; &lt;safe&gt; &#8364;&#x20AC;&nbsp;!", "bold & <safe> €€ !"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
        ("<p>code</p><pre>def f():\n    return 1\n\nx</pre>end", "code\ndef f():\n    return 1\n\nx\nend"),
        ("see <a href='https://h/x?a=1&amp;b=2'>this</a>!", "see this (https://h/x?a=1&b=2)!"),
        ('<a href="https://h/x">https://h/x</a>', "https://h/x"),
        ('<a href="javascript:alert(1)">this</a>', "this"),
        ("a<script>if (a<b) steal()</script>b<STYLE>p{}</STYLE>c", "abc"),
        ("a<!-- <p>hidden --> b", "a b"),
        ("a < b and c > d", "a < b and c > d"),
        ("a<p", "a"),
        ("a<!-- never ends", "a"),
        ("a<script>never ends", "a"),
        ("<![CDATA[x]]>y<?php z ?>w", "yw"),
        ("&unknown; &#99999999999999999999; &", "&unknown; &#99999999999999999999; &"),
        ("</a></pre></p>x", "x"),
    ],
)  # fmt: skip
def test_markup_is_dropped_and_its_sense_is_kept(markup: str, text: str) -> None:
    assert plain(Text(markup, "text/html")) == text


@given(st.text())
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(Text(text)) == text


@given(st.lists(PIECES | st.text(max_size=5)).map("".join))
def test_no_markup_makes_it_raise(markup: str) -> None:
    assert isinstance(plain(Text(markup, "text/html")), str)


@given(st.text(st.characters(exclude_characters="<>&", exclude_categories=["Cs"])))
def test_words_between_tags_all_come_out(text: str) -> None:
    assert plain(Text(f"<p><i>{text}</i></p>", "text/html")).split() == text.split()


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece",
    ["<", "</", "<a", "<!--", "<?", "<a b='", "&#9", "<td>", "<pre>\n", "<script></script>",
     "<a href='http://x'>", "<a href='http://x", "<a href='http://x'></a>", "<![CDATA["],
)  # fmt: skip
def test_a_crafted_text_is_read_in_no_time(piece: str) -> None:
    """The standard library's parser takes minutes for some of these, and the runner has one loop."""
    assert len(plain(Text(piece * (LONG // len(piece)), "text/html"))) <= LONG


def test_a_very_long_character_reference_is_just_text() -> None:
    """The standard library's parser raises ValueError here."""
    assert plain(Text(f"&#{'9' * 5000};", "text/html")).startswith("&#999")


def test_a_field_is_a_rich_text_whatever_it_is() -> None:
    fields = {"a": Text("x", "text/html"), "b": "y", "c": 7, "d": None}
    assert [rich(fields, name) for name in "abcde"] == [
        Text("x", "text/html"), Text("y"), Text(""), Text(""), Text(""),
    ]  # fmt: skip
