"""The data model as data: one page a work item type, one each for link roles, enumerations, roles.

- `types/*.yaml`: a type with its custom fields, statuses and workflow.
- `link_roles.yaml`, `enumerations.yaml`, `roles.yaml`, `shared_fields.yaml`: what types share.
- `model`: what such a page may say, and the checks across pages.
- `loading`: reads the pages.

This is the one source: the embedded server serves it, and Polarion's XML will be made from it.
"""

from polarion_app.config.loading import load
from polarion_app.config.model import DataModel

__all__ = ["DataModel", "load"]
