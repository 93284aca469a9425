"""The demo: a real, publicly known bug in a real project's older version, and the task to fix it.

- `demo.yaml`: the task, and the project's source archive, pinned by its hash.
- `task`: reads it.
- `source_archive`: fetches the archive through pip and lays its files out; nothing of it is run.
- `metadata_backend`: what pip runs in place of the archive's own build.
- `project`: makes the bare repository that the demo's git host serves.
- `scenario.yaml`: what the scripted model does with the task.
"""
