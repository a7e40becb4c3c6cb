"""Make the bundled data set: a shop's search log with judgements, all of it invented.

    python scripts/make_bundled_data.py [TARGET]

A catalogue of products, 300 queries, and for each query 20 to 40 products with 16 features and a grade from 0 to 4.
A shopper's satisfaction grows with the match of type, attributes and brand, with quality and popularity; three parts
of it are out of reach of a linear model: what is out of stock disappoints however well it matches, low prices matter
to those who ask for something cheap, and a rating counts for more the more reviews stand behind it.

The same seed gives the same bytes. BM25 is computed from the titles; everything random comes from one generator.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argrank._files import write_bytes

SEED = 20080824
TARGET = Path(__file__).resolve().parent.parent / "src" / "argrank" / "data" / "bundled" / "shop.csv.gz"
N_QUERIES = 300
PRODUCTS_OF_TYPE = 90
GRADE_SHARES = (0.50, 0.22, 0.14, 0.09, 0.05)

#: aisle -> product types of that aisle; products of one aisle are sometimes confused with each other
AISLES = {
    "sound": ("headphones", "earbuds", "bluetooth speaker", "soundbar"),
    "desk": ("mechanical keyboard", "mouse", "desk lamp", "office chair", "monitor stand"),
    "kitchen": ("kettle", "blender", "coffee grinder", "frying pan", "knife set"),
    "trail": ("hiking boots", "backpack", "tent", "sleeping bag", "headlamp"),
    "rain": ("rain jacket", "umbrella", "rubber boots"),
    "cycling": ("bike helmet", "bike light", "bike lock"),
    "home": ("pillow", "blanket", "storage box", "wall clock"),
}
#: what shoppers ask for and the shop does not sell: queries without a relevant product
UNSOLD = {
    "sound": "turntable",
    "desk": "standing desk",
    "kitchen": "toaster",
    "trail": "ski goggles",
    "home": "mattress",
}
ATTRIBUTES = {
    "sound": ("wireless", "noise cancelling", "foldable", "waterproof", "compact", "black", "studio", "kids"),
    "desk": ("wireless", "ergonomic", "silent", "adjustable", "compact", "black", "white", "foldable"),
    "kitchen": ("steel", "ceramic", "electric", "compact", "red", "black", "induction", "cordless"),
    "trail": ("lightweight", "waterproof", "ultralight", "insulated", "green", "kids", "foldable", "women"),
    "rain": ("lightweight", "waterproof", "windproof", "yellow", "kids", "women", "men", "packable"),
    "cycling": ("lightweight", "rechargeable", "foldable", "black", "kids", "bright", "steel", "compact"),
    "home": ("soft", "organic", "cotton", "bamboo", "grey", "large", "silent", "washable"),
}
BRANDS = (
    "Arvola", "Brisken", "Caldera Nord", "Dunmore", "Elvane", "Fenwright", "Garnetti", "Holmstad", "Ivarel",
    "Juniper Lane", "Kestrand", "Lumio", "Marlowe & Pine", "Nordhavn", "Ostara", "Pellworm", "Quillon", "Rowanfield",
    "Saltmarsh", "Tindra",
)  # fmt: skip
SERIES = ("Alto", "Basin", "Comet", "Delta", "Ember", "Fjord", "Grove", "Halo", "Iris", "Juno", "Kite", "Luna")
FEATURES = (
    "bm25_title", "bm25_description", "embedding_similarity", "category_match", "brand_match", "price_log",
    "price_rank", "discount", "rating", "reviews_log", "click_rate", "sales_log", "in_stock", "freshness_days",
    "query_words", "asks_cheap",
)  # fmt: skip


@dataclass(frozen=True)
class Product:
    """One product of the catalogue; ``hidden`` attributes stand in the description, not in the title."""

    docid: str
    kind: str
    aisle: str
    brand: str
    shown: tuple[str, ...]
    hidden: tuple[str, ...]
    title: str
    price: float
    discount: float
    quality: float
    rating: float
    reviews: int
    sales: float
    in_stock: bool
    freshness: int


@dataclass(frozen=True)
class Query:
    """What a shopper asks for; brand and cheapness only sometimes."""

    text: str
    kind: str
    aisle: str
    wanted: tuple[str, ...]
    brand: str | None
    cheap: bool


def make_catalogue(rng: np.random.Generator) -> list[Product]:
    """Invent the shop's products, the same number of every type."""
    products = []
    for aisle, kinds in AISLES.items():
        for kind in kinds:
            usual_price = math.exp(rng.uniform(2.7, 5.0))
            for _ in range(PRODUCTS_OF_TYPE):
                products.append(make_product(rng, f"P{len(products) + 10001}", aisle, kind, usual_price))
    return products


def make_product(rng: np.random.Generator, docid: str, aisle: str, kind: str, usual_price: float) -> Product:
    """Invent one product; better ones collect more reviews, and few reviews make a rating unsure."""
    names = rng.permutation(ATTRIBUTES[aisle]).tolist()
    n_shown, n_hidden = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    shown, hidden = tuple(names[:n_shown]), tuple(names[n_shown : n_shown + n_hidden])
    brand = BRANDS[int(rng.integers(len(BRANDS)))]
    series = f"{SERIES[int(rng.integers(len(SERIES)))]} {int(rng.integers(1, 10)) * 100}"
    quality = float(rng.normal())
    reviews = int(math.exp(rng.normal(3.2 + 0.3 * quality, 1.3)))
    rating = 3.9 + 0.45 * quality + rng.normal() * 0.9 / math.sqrt(1 + reviews / 8)
    words = [brand, *(word.title() for word in shown), kind.title(), series]
    return Product(
        docid=docid, kind=kind, aisle=aisle, brand=brand, shown=shown, hidden=hidden, title=" ".join(words),
        price=usual_price * math.exp(0.45 * rng.normal() + 0.15 * quality),
        discount=float(rng.choice([0, 0, 0, 0, 5, 10, 15, 20, 30])), quality=quality,
        rating=min(5.0, max(1.0, rating)), reviews=reviews,
        sales=0.6 * math.log1p(reviews) + rng.normal() * 0.8 + 3, in_stock=bool(rng.random() < 0.85),
        freshness=int(rng.gamma(1.3, 260)),
    )  # fmt: skip


def make_queries(rng: np.random.Generator) -> list[Query]:
    """Invent different queries, a few of them for what the shop does not sell."""
    queries: dict[str, Query] = {}
    for aisle, kind in UNSOLD.items():
        word = ATTRIBUTES[aisle][int(rng.integers(len(ATTRIBUTES[aisle])))]
        queries[f"{word} {kind}"] = Query(f"{word} {kind}", kind, aisle, (word,), None, False)
    kinds = [(aisle, kind) for aisle, names in AISLES.items() for kind in names]
    while len(queries) < N_QUERIES:
        aisle, kind = kinds[int(rng.integers(len(kinds)))]
        wanted = tuple(rng.permutation(ATTRIBUTES[aisle])[: int(rng.integers(0, 4))].tolist())
        brand = BRANDS[int(rng.integers(len(BRANDS)))] if rng.random() < 0.25 else None
        cheap = bool(rng.random() < 0.3)
        words = (["cheap"] if cheap else []) + list(wanted) + ([brand.lower()] if brand else []) + [kind]
        text = " ".join(words)
        if len(wanted) + (brand is not None) + cheap:
            queries.setdefault(text, Query(text, kind, aisle, wanted, brand, cheap))
    found = list(queries.values())
    return [found[number] for number in rng.permutation(len(found)).tolist()]


class Bm25:
    """BM25 of query words in a set of texts, with the usual k1 = 1.2 and b = 0.75."""

    def __init__(self, texts: list[str]) -> None:
        self.words = [text.lower().split() for text in texts]
        self.mean_length = sum(map(len, self.words)) / len(texts)
        self.frequency: dict[str, int] = {}
        for words in self.words:
            for word in set(words):
                self.frequency[word] = self.frequency.get(word, 0) + 1

    def score(self, query: str, number: int) -> float:
        """Return the BM25 of a query in one of the texts."""
        words = self.words[number]
        total = 0.0
        for word in query.lower().split():
            seen = words.count(word)
            if seen:
                n = self.frequency[word]
                weight = math.log(1 + (len(self.words) - n + 0.5) / (n + 0.5))
                total += weight * seen * 2.2 / (seen + 1.2 * (0.25 + 0.75 * len(words) / self.mean_length))
        return total


def candidates(rng: np.random.Generator, query: Query, products: list[Product]) -> list[int]:
    """Retrieve 20 to 40 products as a first-stage search would: mostly of the type asked for, better matches first."""
    appeal = np.array([
        3.0 * (product.kind == query.kind) + 0.9 * match(query, product) + 0.8 * (product.brand == query.brand)
        for product in products
    ])  # fmt: skip
    reachable = np.array([product.aisle == query.aisle for product in products])
    noisy = np.where(reachable, appeal + rng.gumbel(size=len(products)), -np.inf)
    return np.argsort(-noisy, kind="stable")[: int(rng.integers(20, 41))].tolist()


def match(query: Query, product: Product) -> float:
    """Return the share of the wanted attributes that the product has; 0.5 where nothing is wanted."""
    if not query.wanted:
        return 0.5
    has = set(product.shown) | set(product.hidden)
    return sum(word in has for word in query.wanted) / len(query.wanted)


def satisfaction(rng: np.random.Generator, query: Query, product: Product, price_rank: float) -> float:
    """Return how satisfied the shopper would be; the grades are cut from this."""
    if query.kind in UNSOLD.values():
        return -math.inf
    same = product.kind == query.kind
    fit = (2.0 if same else 0.0) + 1.5 * match(query, product)
    if query.brand:
        fit += 1.2 * (product.brand == query.brand)
    trust = min(1.0, product.reviews / 40)
    value = fit + 1.0 * trust * (product.rating - 3.8) + 0.25 * product.quality + 0.15 * (product.sales - 5)
    if query.cheap:
        value -= 1.8 * (price_rank - 0.5)
    if not product.in_stock:
        value = 0.45 * value - 0.5
    return value + 0.45 * rng.normal()


def features(
    rng: np.random.Generator, query: Query, product: Product, number: int, price_rank: float, titles: Bm25, texts: Bm25
) -> list[str]:
    """Return the features as they are printed, in the order of FEATURES."""
    same = product.kind == query.kind
    similarity = 0.35 + 0.25 * same + 0.22 * match(query, product) + 0.06 * rng.normal()
    attraction = -3.2 + 0.9 * same + 0.7 * match(query, product) + 0.3 * product.quality + 0.35 * rng.normal()
    values = (
        f"{titles.score(query.text, number):.3f}",
        f"{texts.score(query.text, number):.3f}",
        f"{min(1.0, max(0.0, similarity)):.3f}",
        f"{int(same)}",
        f"{int(product.brand == query.brand)}",
        f"{math.log(product.price):.3f}",
        f"{price_rank:.3f}",
        f"{product.discount:g}",
        f"{product.rating:.1f}",
        f"{math.log1p(product.reviews):.3f}",
        f"{1 / (1 + math.exp(-attraction)):.4f}",
        f"{product.sales:.3f}",
        f"{int(product.in_stock)}",
        f"{product.freshness}",
        f"{len(query.text.split())}",
        f"{int(query.cheap)}",
    )
    return list(values)


def make_rows() -> list[list[str]]:
    """Return all rows of the file, products of a query in random order."""
    rng = np.random.default_rng(SEED)
    products = make_catalogue(rng)
    queries = make_queries(rng)
    titles = Bm25([product.title for product in products])
    texts = Bm25([" ".join((product.kind, *product.shown, *product.hidden, *product.hidden)) for product in products])
    rows, values = [], []
    for number, query in enumerate(queries, 1):
        found = candidates(rng, query, products)
        rng.shuffle(found)
        prices = np.array([products[one].price for one in found])
        ranks = np.argsort(np.argsort(prices, kind="stable"), kind="stable") / (len(found) - 1)
        for one, rank in zip(found, ranks.tolist(), strict=True):
            product = products[one]
            values.append(satisfaction(rng, query, product, rank))
            described = features(rng, query, product, one, rank, titles, texts)
            rows.append([f"q{number:03d}", "", product.docid, query.text, product.title, product.brand, *described])
    best = np.argsort(-np.array(values), kind="stable")
    ends = np.round(np.cumsum(GRADE_SHARES[::-1]) * len(best)).astype(int)  # grade 4 first
    for position, row in enumerate(best.tolist()):
        rows[row][1] = str(4 - int(np.searchsorted(ends, position, side="right")))
    return rows


def make_csv() -> bytes:
    """Return the file's contents before compression."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("qid", "label", "docid", "query", "title", "source", *FEATURES))
    writer.writerows(make_rows())
    return text.getvalue().encode()


def main(target: Path = TARGET) -> None:
    """Write the file."""
    with write_bytes(target) as stream:
        stream.write(make_csv())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
