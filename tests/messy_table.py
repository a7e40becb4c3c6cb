"""A shop's table as it comes out of a spreadsheet: semicolons, cp1252, decimal commas, flags, ids, dates and gaps."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

QUERIES = ("cheap blender", 'tv 55" wide', "schöne lampe", "red shoes", "o'neill jacket", "50% off bags", "Käse & Wein")
BRANDS = tuple(f"Marke {number}" for number in range(38)) + ("NA", "Müller")


def messy_rows(n_queries: int = 120, n_products: int = 12, seed: int = 0) -> list[dict[str, Any]]:
    """Return rows of judged products: true values, not yet written as people write them."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for query in range(n_queries):
        barren = query % 17 == 5  # no relevant product
        for product in rng.choice(800, n_products, replace=False).tolist():
            match, price, stock = rng.normal(), float(rng.lognormal(6, 1)), bool(rng.random() < 0.7)
            brand = int(rng.integers(len(BRANDS)))
            taste = 1.5 * match - 0.4 * np.log(price) + 0.8 * stock + 0.05 * (brand % 7) + 0.5 * rng.normal()
            grade = 0 if barren else int(np.clip(np.round(taste + 2), 0, 4))
            rows.append(
                {
                    "Query": f"{QUERIES[query % len(QUERIES)]} {query}",
                    "product_id": f"P-{product:05d}",
                    "grade": grade,
                    "bm25_title": round(match + 3, 3),
                    "price": round(price, 2),
                    "sold": int(rng.integers(1, 9)) * 1000 + int(rng.integers(1000)),
                    "rating": None if rng.random() < 0.1 else round(float(rng.uniform(1, 5)), 1),
                    "discount": int(rng.integers(0, 60)),
                    "in_stock": stock,
                    "brand": BRANDS[brand],
                    "ean": f"40{rng.integers(10**9, 10**10)}X",
                    "description": f"ein schönes Stück für {QUERIES[product % 7]}, {product} mal verkauft",
                    "listed": f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2025",
                    "judge_minutes": round(grade * 3 + float(rng.uniform(0, 0.5)), 2),
                }
            )
    return [*rows, dict(rows[0])]  # a product that is listed twice


def as_people_write(name: str, value: Any) -> str:
    """Return a cell as a German spreadsheet writes it."""
    if value is None:
        return "" if name != "rating" else "n/a"
    if isinstance(value, str):
        return value
    if name == "price":
        return f"€ {value:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
    if name == "sold":
        return f"{value:,}".replace(",", ".")
    if name == "discount":
        return f"{value} %"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace(".", ",") if isinstance(value, float) else str(value)


def messy_csv(rows: list[dict[str, Any]], encoding: str = "cp1252") -> bytes:
    """Return rows as a file with semicolons."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerow(rows[0])
    writer.writerows([[as_people_write(name, value) for name, value in row.items()] for row in rows])
    return text.getvalue().encode(encoding)
