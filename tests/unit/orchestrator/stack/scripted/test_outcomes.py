"""What a text tells of how a call ended, where the protocol has no word for it."""

import pytest

from orchestrator.stack.scripted.dialects.outcomes import outcome
from orchestrator.stack.scripted.request import Result

HEAD = "Chunk ID: 015dbc\nWall time: 0.0000 seconds\n{}\nOriginal token count: 0\nOutput:\n"
WALL = "Wall time: 0 seconds\nOutput:\n"

SCRIPT = "Script completed\nWall time 0.4 seconds\nOutput:\n\n"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(HEAD.format("Process exited with code 0") + "a\nb", Result("a\nb"), id="ran"),
        pytest.param(
            HEAD.format("Process exited with code 1"), Result("", is_error=True), id="failed"
        ),
        pytest.param(
            HEAD.format("Process running with session ID 4242") + "a",
            Result("a", is_error=None, session=4242),
            id="still running",
        ),
        pytest.param(f"Exit code: 0\n{WALL}Success.", Result("Success."), id="patched"),
        pytest.param(f"Exit code: 1\n{WALL}no", Result("no", is_error=True), id="not patched"),
        pytest.param(
            "apply_patch verification failed: no",
            Result("apply_patch verification failed: no", is_error=True),
            id="no patch",
        ),
        pytest.param("Wall time: 0.01 seconds\nOutput:", Result("", is_error=None), id="gateway"),
        pytest.param(f"{SCRIPT}Wall time: 0 seconds\nProcess exited with code 1\nOutput:\nno",
                     Result("no", is_error=True), id="a script's command"),
        pytest.param(f"{SCRIPT}{{}}", Result("{}", is_error=None), id="a script's words"),
        pytest.param(SCRIPT.replace("completed", "failed") + "Error: x",
                     Result("Error: x", is_error=True), id="a script that failed"),
        pytest.param(SCRIPT.replace("completed", "running with cell ID 8"),
                     Result("", is_error=None, session=8), id="a script that runs on"),
        pytest.param("Exit code 3\nx", Result("Exit code 3\nx", is_error=True), id="native shell"),
        pytest.param("Error: x", Result("Error: x", is_error=True), id="native tool"),
        pytest.param("Exit code 0", Result("Exit code 0", is_error=None), id="just words"),
        pytest.param("it\nOutput:\nx", Result("it\nOutput:\nx", is_error=None), id="no head"),
    ],
)  # fmt: skip
def test_a_text_tells_how_it_ended(text: str, result: Result) -> None:
    assert outcome(text) == result
