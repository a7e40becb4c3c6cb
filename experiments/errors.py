"""Standard errors for tables that kept only means: the settings that they name are fitted again.

    export ARGRANK_DATA=/folder/with/the/collections
    python -m experiments.errors [kdd2008 rounds figure7 orm web diversity large]

Validation chose these settings, so one fit for each fold is enough, without a grid. Every table of errors also has the
mean as the first table has it ("before"), mostly over folds instead of queries: where the two differ by more than that,
the code has changed since. Goes to ``errors.csv`` of the paper's folder; the gains of Figure 7 go into ``figure7.csv``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._types import Floats
from argrank.data.folds import Fold
from experiments._common import read_csv, title, write_csv
from experiments.directrank import _rivals, large
from experiments.directrank._common import fit as fit_linear
from experiments.directrank._common import mslr_shape
from experiments.kdd2008 import figure7, figure10, selected
from experiments.kdd2008._common import CONVEX, DISCOUNTED, fit, fold_of
from experiments.orm import diversity, letor, web
from experiments.orm._common import CONVENTIONS, MEASURES, folds_of, per_query, web_set

HERE = Path(__file__).parent
Row = dict[str, Any]


def row(data: str, what: str, measure: str, values: Floats, before: float | str = "") -> Row:
    """Return a mean or mean difference over queries with its standard error."""
    known = values[~np.isnan(values)]
    error = float(known.std(ddof=1) / np.sqrt(len(known)))
    found = {"data": data, "what": what, "measure": measure, "queries": len(known), "mean": float(known.mean())}
    print(found, error, before, flush=True)
    return found | {"standard_error": error, "before": before}


def pooled(fitted: list[Any], folds: list[Fold], measures: list[str], convention: str) -> dict[str, Floats]:
    """Return the values of all test queries."""
    parts = [
        ar.evaluate(one.predict(fold.test), fold.test, measures, convention=convention).values
        for one, fold in zip(fitted, folds, strict=True)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in measures}


def of_kdd2008() -> Iterator[Row]:
    """SVMmap and the tight DORM: C of every fold from pair-scale.csv and decay.csv."""
    smooth = {"decay": "sqrt", "bound": "tight", "reference": "averaged", "max_iter": 200, **DISCOUNTED}
    asked = (
        ("pair-scale.csv", "svm-map, 1/pairs", "svm-map", {"scale": "pairs", **CONVEX}),
        ("decay.csv", "smooth, tight, reference averaged", "dorm", smooth),
    )
    for data in selected.DATA:
        folds = selected.folds_of(data)
        for table, what, name, parameters in asked:
            (before,) = (
                one for one in read_csv(HERE / "kdd2008" / table) if (one["data"], one["what"]) == (data, what)
            )
            values = [float(part.split("=")[1]) for part in before["chosen"].split("; ")]
            fitted = [fit(name, fold.train, C=C, **parameters) for fold, C in zip(folds, values, strict=True)]
            for measure, own in pooled(fitted, folds, list(selected.MEASURES), "kdd2008").items():
                yield row(data, what, measure, own, before[measure])


def of_rounds(data: str = "OHSUMED-LETOR2", asked: tuple[int, ...] = (10, 30, 40, 2000)) -> Iterator[Row]:
    """McRank after some rounds, and what it has over ten of them, by mcrank-rounds.csv."""
    table = {int(one["rounds"]): one for one in read_csv(HERE / "kdd2008" / "mcrank-rounds.csv") if one["data"] == data}
    parts: dict[int, list[Floats]] = {n: [] for n in asked}
    for number in figure10.FOLDS[data]:
        fold = fold_of(data, number)
        model = fit("mcrank", fold.train, n_trees=max(asked), n_jobs=1, **figure10.PLAIN_TREES).model_
        for n, own in parts.items():
            stage = replace(model, trees=model.trees[: n * model.n_outputs])
            scores = fold.test.to_caller(stage.scores(fold.test.X, fold.test.indptr))
            own.append(ar.evaluate(scores, fold.test, "map", convention="kdd2008").values["map"])
    found = {n: np.concatenate(own) for n, own in parts.items()}
    for n, own in found.items():
        yield row(data, f"McRank, {n} rounds", "map", own, table[n]["map"])
        if n != asked[0]:
            yield row(data, f"{n} rounds less {asked[0]}", "map", own - found[asked[0]])


def of_figure7() -> None:
    """Fill in what phi_mrr gains over phi_po, for rows that lack it; "-" is a model at w = 0."""
    rows = read_csv(HERE / "kdd2008" / "figure7.csv")
    by_key = {(one["data"], one["map"], one["k"]): one for one in rows}
    for data, numbers in figure7.DATA.items():
        folds = [fold_of(data, number) for number in numbers]
        for (own, rival), k in ((pair, k) for pair in figure7.RIVALS.items() for k in figure7.CUTOFFS):
            target = by_key[title(data), own, str(k)]
            if target["gain"]:
                continue
            one, other = (
                _reciprocal(folds, by_key[title(data), way, str(k)]["chosen"].split(), way, k) for way in (own, rival)
            )
            found = row(data, own, f"mrr@{k}", one - other)
            target |= {"gain": found["mean"], "standard_error": found["standard_error"]}
    write_csv(HERE / "kdd2008" / "figure7.csv", rows)


def _reciprocal(folds: list[Fold], chosen: list[str], way: str, k: int) -> Floats:
    """Return MRR@k of all test queries, trained on MRR@k with the C of every fold."""
    parts = []
    for fold, C in zip(folds, chosen, strict=True):
        scores = np.zeros(fold.test.n_documents)
        if C != "-":
            fixed = {"k": k, "max_iter": 50, "n_jobs": 1, **figure7.WAYS[way]}
            scores = fit("svm-mrr", fold.train, C=float(C), **fixed).predict(fold.test)
        parts.append(ar.evaluate(scores, fold.test, f"mrr@{k}", convention="kdd2008").values[f"mrr@{k}"])
    return np.concatenate(parts)


def of_orm(data: str = "OHSUMED-LETOR2") -> Iterator[Row]:
    """ORM near w0 and near ridge, and SmoothGrad, by letor.csv."""
    folds, table = folds_of(data), read_csv(HERE / "orm" / "letor.csv")
    for what in ("tight near w0, c = a", "tight near ridge, c = a", "SmoothGrad"):
        name, parameters, _ = letor.RANKERS[what]
        (before,) = (one for one in table if (one["data"], one["ranker"]) == (data, what))
        parts = []
        for fold, C in zip(folds, before["chosen"].split(), strict=True):
            given = letor._near(parameters, fold) | {"C": float(C)}
            ranker = ar.make_ranker(name, **given).fit(fold.train)
            parts.append(per_query(ranker.predict(fold.test), fold.test, CONVENTIONS[data]))
        for measure, own in zip(MEASURES, np.concatenate(parts).T, strict=True):
            yield row(data, what, measure, own, before[measure])


def of_web() -> Iterator[Row]:
    """The two choices of c on the first web set, trained on NDCG@10, by web-set-1.csv."""
    train, _, test = web_set("orm-web-1")
    table = {one["ranker"]: one for one in read_csv(HERE / "orm" / "web-set-1.csv")}
    found = {}
    for what, decay in (("ORM, c = a", "measure"), ("ORM, c = k+1-i", "linear")):
        C = float(table[what]["chosen"].split()[-1])
        ranker = ar.make_ranker("orm", **web.ORM, decay=decay, measure="ndcg@10", C=C).fit(train)
        found[what] = per_query(ranker.predict(test), test)[:, -1]
        yield row("web set 1 (generated)", what, "ndcg@10", found[what], table[what]["ndcg@10"])
    own, other = found.values()
    yield row("web set 1 (generated)", "c = a less c = k+1-i", "ndcg@10", own - other)


def of_diversity() -> Iterator[Row]:
    """ORM trained without a constraint and ranked under it, by diversity.csv."""
    table = {one["ranked"]: one for one in read_csv(HERE / "orm" / "diversity.csv") if one["trained"] == "none"}
    chosen, scored = [float(C) for C in table["none"]["chosen"].split()], []
    for fold, C in zip(diversity.folds(), chosen, strict=True):
        scored.append((fold.test, diversity.model(fold, C, None).predict(fold.test)))
    found = {}
    for name, limit in diversity.LIMITS.items():
        shown = ((data, diversity.scores_under(scores, data, limit)) for data, scores in scored)
        found[name] = np.concatenate([ar.evaluate(one, data, "ndcg@10").values["ndcg@10"] for data, one in shown])
        yield row("bundled shop (generated)", name, "ndcg@10", found[name], table[name]["ndcg@10"])
        if name != "none":
            yield row("bundled shop (generated)", f"{name} less none", "ndcg@10", found[name] - found["none"])


#: Rivals of the claims on large linear data.
LARGE = ("regression", "rank-svm", "rank-cosine", "lambdarank", "softrank", "smooth-grad")


def of_large() -> Iterator[Row]:
    """Rivals on generated sets of MSLR's shape, and what they have over DirectRank from warm starts, by large.csv."""
    table = {(one["queries"], one["ranker"]): one for one in read_csv(HERE / "directrank" / "large.csv")}
    for n_queries in large.STARTS:
        fold = mslr_shape(n_queries, "linear")
        size, warm = str(fold.train.n_queries), "direct-rank, 3 warm starts"
        climbed, _ = fit_linear("direct-rank", fold.train, fold.valid, n_starts=3, point="middle")
        own = _ndcg(climbed, fold)
        yield row(size, warm, "test ndcg@10", own, table[size, warm]["test ndcg@10"])
        for what in LARGE:
            rival, setting = _rivals.linear(10)[what], table[size, what]["setting"].split()
            chosen = {name: float(value) for name, value in (one.split("=") for one in setting[:1])}
            watched = fold.valid if rival.watched else None
            fitted, _ = fit_linear(rival.ranker, fold.train, watched, **rival.parameters, **chosen)
            values = _ndcg(fitted, fold)
            yield row(size, what, "test ndcg@10", values, table[size, what]["test ndcg@10"])
            yield row(size, f"{what} less direct-rank", "test ndcg@10", values - own)


def _ndcg(fitted: Any, fold: Fold) -> Floats:
    return ar.evaluate(fitted.predict(fold.test), fold.test, "ndcg@10", convention=large.CONVENTION).values["ndcg@10"]


PARTS: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
    "kdd2008": ("kdd2008", of_kdd2008),
    "rounds": ("kdd2008", of_rounds),
    "orm": ("orm", of_orm),
    "web": ("orm", of_web),
    "diversity": ("orm", of_diversity),
    "large": ("directrank", of_large),
}


def main(asked: list[str]) -> None:
    """Compute the parts that are named, and keep the rows of the others."""
    for name in asked or [*PARTS, "figure7"]:
        if name == "figure7":
            of_figure7()
            continue
        folder, part = PARTS[name]
        path = HERE / folder / "errors.csv"
        kept = [one for one in read_csv(path) if one["part"] != name]
        write_csv(path, [*kept, *({"part": name, **one} for one in part())])


if __name__ == "__main__":
    main(sys.argv[1:])
