"""evaluate(…, trusted=…) with documents that were sampled individually with known probabilities.

A measure that is a sum of gain times discount over documents can be estimated without all grades of a query: each
trusted document represents 1 / chance documents (Horvitz and Thompson 1952). With a the sum over trusted documents of
discount times trusted gain / chance, b the same of cheap gains, and f the measure by cheap judgements,

    a - lambda (b - f)

has for every query the expected value of the measure by trusted judgements, for any lambda and any cheap judgements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import stdtrit

from argrank._tables import counted
from argrank._types import Floats
from argrank.data.io.trec.files import Qrels, Run, words_of
from argrank.errors import InputError, OptionError, shown
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.evaluate import evaluate_lists
from argrank.evaluation.judges.prediction_powered import Powered
from argrank.evaluation.judges.trusted import Correction, words
from argrank.evaluation.result import Evaluation
from argrank.evaluation.significance import ENOUGH
from argrank.evaluation.systems import lists_of
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.product import Product
from argrank.measures.structure import Structure


class ScatteredSample:
    """Trusted documents among those judged cheaply, with their chances; for one set of judgements."""

    def __init__(self, cheap: Qrels, trusted: Qrels, probability: Mapping[Any, Any]) -> None:
        self.cheap = cheap
        place = {key: row for row, key in enumerate(_keys(cheap))}
        wrong = next((qid for qid, own in probability.items() if not isinstance(own, Mapping)), None)
        if wrong is not None:
            got = f"{shown(probability[wrong])} for query {shown(wrong)}"
            raise InputError(f"probability: expected {{qid: {{docid: chance}}}}, got {got}")
        chances = {
            (qid, document): chance
            for qid, own in zip(words_of([str(one) for one in probability]), probability.values(), strict=True)
            for document, chance in zip(words_of([str(one) for one in own]), own.values(), strict=True)
        }
        self.grades, self.weight = np.zeros(len(cheap)), np.zeros(len(cheap))
        self.strangers = 0
        for key, grade in zip(_keys(trusted), trusted.rel.tolist(), strict=True):
            row, chance = place.get(key), chances.get(key)
            if row is None or grade < 0:
                self.strangers += 1
                continue
            if not isinstance(chance, int | float) or not 0 < chance <= 1:
                raise InputError(
                    f"probability: expected a number above 0 and at most 1 for every trusted document, got "
                    f"{shown(chance)} for document {shown(key[1])} of query {shown(key[0])}"
                )
            self.grades[row], self.weight[row] = grade, 1 / chance
        self.n_trusted = int(np.count_nonzero(self.weight))
        if not self.n_trusted:
            raise InputError("trusted: expected some of the cheaply judged documents, got others")

    def corrected(self, found: Evaluation, run: Run, asked: list[tuple[str, Measure]], rules: Convention) -> Evaluation:
        """Return an evaluation by cheap judgements with its means corrected by trusted documents."""
        powered, values = {}, {}
        touched = np.zeros(found.n_queries, bool)
        drawn = set(np.array(words(self.cheap.qid, "qid"))[self.weight > 0].tolist())
        touched[[place for place, qid in enumerate(words(found.query_ids, "qid")) if qid in drawn]] = True
        for name, measure in asked:
            structure = _additive(name, measure, rules)
            gains = structure.gains(np.maximum(self.cheap.rel, 0.0)) * (self.cheap.rel >= 0)
            cheap = self._sums(structure, gains, run, rules)
            if not np.allclose(cheap, found.values[name], equal_nan=True):
                raise OptionError(f"trusted: {name} by convention {rules.name} does not add up over single documents")
            trusted = self._sums(structure, self.weight * structure.gains(self.grades), run, rules)
            predicted = self._sums(structure, self.weight * gains, run, rules)
            values[name] = trusted[touched]
            weight = np.ones(found.n_queries) if found.query_weight is None else found.query_weight
            powered[name] = _powered(cheap, trusted, predicted, weight, touched, self.n_trusted, found.bounds[name])
        found.correction = Correction(np.flatnonzero(touched), None, values, powered)
        return found.with_means(powered, self._notes(powered))

    def _sums(self, structure: Structure, gains: Floats, run: Run, rules: Convention) -> Floats:
        """Return for every query the sum of discount times these gains of the documents."""
        measure = Product(a=lambda ranks: structure.discounts(len(ranks)), b="linear")
        judged = Qrels(self.cheap.qid, self.cheap.docno, gains)
        own = evaluate_lists(lists_of({"run": run}, judged)["run"], [("sum", measure)], rules)
        return own.values["sum"]

    def _notes(self, powered: Mapping[str, Powered]) -> list[str]:
        documents = counted(self.n_trusted, "trusted document", "trusted documents")
        notes = [f"means by cheap judgements, corrected by {documents}, drawn by the probabilities given"]
        for name, one in powered.items():
            notes.append(f"{name}: as good as {one.worth:,.0f} trusted documents without cheap judgements")
        if self.strangers:
            notes.append(
                f"{counted(self.strangers, 'trusted document is', 'trusted documents are')} not judged cheaply"
            )
        return notes


def _additive(name: str, measure: Measure, rules: Convention) -> Structure:
    structure = measure.as_product(rules)
    if structure is None or structure.divisor != "one":
        raise OptionError(
            "trusted: expected measures that add up over documents, beside their chances, such as dcg@10 or p@10, "
            f"got {name!r}; other measures need every judged document of a query"
        )
    return structure


def _powered(
    cheap: Floats,
    seen: Floats,
    predicted: Floats,
    weight: Floats,
    touched: Any,
    n_trusted: int,
    bounds: tuple[float, float],
) -> Powered:
    share = weight / weight.sum()
    gap = predicted - cheap
    centred = gap - share @ gap
    squares = float(share @ centred**2)
    slope = float(np.clip(share @ (centred * seen) / squares, 0.0, 1.0)) if squares > 0 else 0.0
    values = seen - slope * gap
    mean = float(share @ values)
    n = int(np.count_nonzero(touched))
    alone, left = (float(share**2 @ (one - share @ one) ** 2) for one in (seen, values))
    low = high = np.nan
    if n >= ENOUGH and left > 0:
        reach = float(stdtrit(n - 2, 1 - LEVEL / 2)) * np.sqrt(left * n / (n - 2))
        low, high = (float(np.clip(end, *bounds)) for end in (mean - reach, mean + reach))
    worth = n_trusted * alone / left if left > 0 else np.nan
    return Powered(mean, low, high, slope, float(share @ seen), float(share @ cheap), worth)


def _keys(qrels: Qrels) -> list[tuple[str, str]]:
    return list(zip(words(qrels.qid, "qid"), words(qrels.docno, "docno"), strict=True))
