"""execd: runs commands and moves files inside a sandbox, as PID 1; speaks OpenSandbox's HTTP contract.

Only the standard library of Python >= 3.11; shipped as one file (`../build.py`). Parts:

- decisions on bytes, no I/O: `wire` (HTTP/1.1), `multipart`, `text` (lines of output),
  `events` (SSE frames), `environment` (what a command inherits), `patterns` (globs, ranges, modes);
- processes: `hardening` (not dumpable, the token), `children` (start and reap), `command` (one
  command's life), `commands` (all of them), `output` (a foreground command's), `log` (a background
  command's), `sweep` (what a run leaves behind);
- files: `files`, `trees`, `upload`, `download`;
- the rim: `body`, `answer`, `connection`, `server`, `proxy`, `metrics`, `routes` (which path is
  whose), `run_api` and `file_api` (handlers), `daemon` (wiring), `__main__` (hardening first).
"""
