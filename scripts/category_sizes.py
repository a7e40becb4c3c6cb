"""Write the table of docs/guide/export.md: what a text column costs in every target.

100 trees of lambda-mart on a shop's table, without and with its brands. Run: python -m scripts.category_sizes
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scripts.page_tables import write_table
from tests.messy_table import messy_rows

import argrank as ar

PAGE, SCRIPT = "guide/export.md", "scripts/category_sizes"


def table() -> list[str]:
    """Return the lines of the table, the smallest files first."""
    frame = pd.DataFrame(messy_rows()).drop(columns=["listed", "judge_minutes"])
    found = {}
    for kept in (frame.drop(columns=["brand"]), frame):
        data = ar.Dataset(kept)
        data = data.with_features(data.X.astype(np.float32))
        model = ar.make_ranker("lambda-mart", n_trees=100).fit(data).model_
        for to in ar.targets():
            missing = "zero" if to == "ranklib" else "as-trained"
            export = ar.export(model, to, check=data, missing=missing)
            size = sum(len(content) for name, content in export.files.items() if name != "README.txt")
            found.setdefault(to, []).append((size / 1000, export.parity))
    rows = [
        "| target | without, kB | with, kB | largest difference | queries reordered of 120 |",
        "|---|--:|--:|--:|--:|",
    ]
    for to, ((without, _), (with_texts, parity)) in sorted(found.items(), key=lambda one: one[1][1][0]):
        named = f"`{to}`" + (', `missing="zero"`' if to == "ranklib" else "")
        rows.append(f"| {named} | {without:.0f} | {with_texts:.0f} | {parity.largest:.2g} | {parity.reordered} |")
    return rows


if __name__ == "__main__":
    write_table(PAGE, SCRIPT, table())
