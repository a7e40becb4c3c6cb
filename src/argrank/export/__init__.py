"""Hand a model to the engine that serves it, with proof that it scores the same; take models of other libraries in.

``ar.export`` is this package and the function at once: the folder has the name of the verb.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from argrank.export.exporting import Export, export
from argrank.export.importing import import_model
from argrank.export.registry import blend_families, targets

__all__ = ["Export", "blend_families", "export", "import_model", "targets"]


class _Verb(ModuleType):
    """Lets ``argrank.export(…)`` work once the package of that name is loaded, which hides the function."""

    def __call__(self, *arguments: Any, **options: Any) -> Export:
        return export(*arguments, **options)


sys.modules[__name__].__class__ = _Verb
