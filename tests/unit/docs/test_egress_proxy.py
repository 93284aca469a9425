"""The page about the egress proxy names every refusal and every outcome, as they are."""

import re
from pathlib import Path
from typing import get_args

from proxy.decision import Cause
from proxy.records import Result

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "egress-proxy.md").read_text()


def test_every_cause_is_there_with_its_status() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \|", PAGE, re.MULTILINE)
    assert dict(rows) == {str(cause): str(int(cause.status)) for cause in Cause}


def test_every_result_is_there() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^0-9]", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(get_args(Result))
