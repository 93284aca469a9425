"""Documents: sparse fields, pages, links, cut relationships."""

import pytest
from yarl import URL

from polarion_app.embedded.documents import (
    Page,
    Resource,
    many,
    page_wanted,
    shown,
    single,
    sparse_fields,
    to_many,
    to_one,
)
from polarion_app.embedded.errors import ApiError

ITEM = Resource(
    "workitems",
    "P/P-1",
    {"id": "P-1", "title": "T", "cost": 1.5},
    {"author": to_one("users", "a"), "linkedWorkItems": to_many([])},
    {"self": "http://h/P-1"},
    "7",
)
URL_OF_LIST = URL("http://h/items?query=a%20b&page%5Bnumber%5D=2", encoded=True)


@pytest.mark.parametrize(
    ("wish", "attributes", "relationships"),
    [
        ({}, None, None),
        ({"fields[users]": "@all"}, None, None),
        ({"fields[workitems]": "@basic"}, {"id", "title"}, {"author"}),
        ({"fields[workitems]": "@all"}, {"id", "title", "cost"}, {"author", "linkedWorkItems"}),
        ({"fields[workitems]": "cost,author"}, {"cost"}, {"author"}),
        ({"fields[workitems]": "@basic,cost"}, {"id", "title", "cost"}, {"author"}),
    ],
)
def test_only_wanted_fields_are_shown(
    wish: dict[str, str], attributes: set[str] | None, relationships: set[str] | None
) -> None:
    """Attributes and relationships alike; nothing wished, nothing but id, type and links."""
    body = shown(ITEM, sparse_fields(wish))
    assert (body["type"], body["id"], body["revision"]) == ("workitems", "P/P-1", "7")
    assert (set(body["attributes"]) if "attributes" in body else None) == attributes
    assert (set(body["relationships"]) if "relationships" in body else None) == relationships


@pytest.mark.parametrize(
    ("number", "names"),
    [(1, {"self", "first", "last", "next"}), (2, {"self", "first", "last", "next", "prev"}),
     (3, {"self", "first", "last", "prev"}), (9, {"self", "first", "last", "prev"})],
)  # fmt: skip
def test_a_page_links_its_neighbours(number: int, names: set[str]) -> None:
    """`next` and `prev` are absent at the ends: clients page by them."""
    body = many(Page([ITEM], 25, 10, number), sparse_fields({}), URL_OF_LIST)
    assert set(body["links"]) == names
    assert body["meta"] == {"totalCount": 25}
    if "next" in names:
        following = URL(body["links"]["next"])
        assert following.query["page[number]"] == str(number + 1)
        assert following.query["query"] == "a b"
        assert "%5B" in body["links"]["next"]


def test_an_empty_list_is_one_page() -> None:
    body = many(Page([], 0, 10, 1), sparse_fields({}), URL_OF_LIST)
    assert (body["data"], set(body["links"])) == ([], {"self", "first", "last"})


def test_a_long_relationship_is_cut_and_says_so() -> None:
    """`meta.totalCount` only when something is missing."""
    ids = [{"type": "users", "id": str(n)} for n in range(101)]
    assert "meta" not in to_many(ids[:100])
    cut = to_many(ids)
    assert (len(cut["data"]), cut["meta"]) == (100, {"totalCount": 101})


def test_included_resources_are_shown_by_their_own_fields() -> None:
    user = Resource("users", "a", {"name": "A", "email": "a@b"})
    body = single(ITEM, sparse_fields({"fields[users]": "name"}), URL_OF_LIST, [user])
    assert body["included"] == [{"type": "users", "id": "a", "attributes": {"name": "A"}}]


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ({}, (50, 1)),
        ({"page[size]": "7", "page[number]": "3"}, (7, 3)),
        ({"page[size]": "5000"}, (100, 1)),
    ],
)
def test_a_page_is_wanted(query: dict[str, str], page: tuple[int, int]) -> None:
    assert page_wanted(query, 50, 100) == page


@pytest.mark.parametrize("text", ["0", "-1", "", "1.5", "x", "٣", "9" * 30])
def test_a_page_that_is_no_positive_number_is_refused(text: str) -> None:
    for name in ("page[size]", "page[number]"):
        with pytest.raises(ApiError) as caught:
            page_wanted({name: text}, 50, 100)
        assert caught.value.parameter == name
