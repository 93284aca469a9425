"""PocketBase, where operational state is kept: runs, their events, what they spend, sealed secrets.

- `migrations/`, `hooks/`: the schema, compare-and-set, and the runner's superuser (JavaScript).
- `filters`, `refusals`, `rows`, `ids`: how to ask, what a refusal means, what rows look like [pure].
- `client`: the few calls that we need, over aiohttp.
- `runs`, `meter`, `secrets`: the ports.

RULES: values enter a filter only through `filters.where`; what is stored is read strictly by `rows`.
"""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
HOOKS = Path(__file__).parent / "hooks"
SUPERUSER = "runner@sandgate.internal"
"""As whom the runner signs in. Made by the hook at each start, with the installation's password."""
