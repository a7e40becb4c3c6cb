"""``make bench``: every benchmark of this folder, one after the other, or those named on the command line.

``python -m benchmarks pack:map,sort`` runs parts of one that has parts.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time

import benchmarks


def main(chosen: list[str]) -> None:
    modules = [module for module in pkgutil.iter_modules(benchmarks.__path__) if not module.ispkg]
    names = [module.name for module in modules if not module.name.startswith("_")]
    parts = {name: some.split(",") if some else [] for name, _, some in (one.partition(":") for one in chosen)}
    unknown = set(parts) - set(names)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    for name in parts or names:
        print(f"\n=== {name} ===", flush=True)
        begin = time.perf_counter()
        importlib.import_module(f"benchmarks.{name}").run(*parts.get(name, ()))
        print(f"({time.perf_counter() - begin:.0f} s)", flush=True)


main(sys.argv[1:])
