"""Makes the reference pages from the code that they are about: `python -m orchestrator.cli.reference`.

- `pages`: which page is made by what; writes them, and says which ones differ.
- `settings`, `run_states`, `commands`, `mcp_tools`, `data_model`, `http_api`, `posture`,
  `push_rules`: one page each [pure].
- `markdown`: tables and headings [pure].
"""
