"""The official LETOR scripts' rules (measures by plain loops, nothing shared with the library) on the real files."""

from __future__ import annotations

import lzma
import math

import numpy as np
import pytest

import argrank as ar

CUTS = range(1, 11)


class Rules:
    def __init__(self, gains, relevant, pads_precision):
        self.gains, self.relevant, self.pads_precision = gains, relevant, pads_precision


RULES = {
    "letor3": Rules({0: 0, 1: 1, 2: 3}, 1, pads_precision=False),
    "letor4": Rules({0: 0, 1: 1, 2: 3}, 1, pads_precision=True),
    "mslr": Rules({0: 0, 1: 1, 2: 3, 3: 7, 4: 15}, 2, pads_precision=True),
}


def cumulated(labels, rules):
    values, running = [], 0.0
    for rank, label in enumerate(labels, 1):
        gain = rules.gains.get(label, 0)
        running += gain if rank <= 2 else gain * math.log(2.0) / math.log(rank)
        values.append(running)
    return values


def of_query(labels, rules):
    """Return all that the scripts print for labels in ranked order; what lies beyond the list's end is 0."""
    out = {}
    hits, precision_sum = 0, 0.0
    precisions = []
    for rank in range(1, max(len(labels), 10) + 1):
        if rank <= len(labels) and labels[rank - 1] >= rules.relevant:
            hits += 1
            precision_sum += hits / rank
        precisions.append(hits / rank if rank <= len(labels) or rules.pads_precision else 0)
    out["MAP"] = precision_sum / hits if hits else 0.0
    ideal = cumulated(sorted(labels, key=lambda label: rules.gains.get(label, 0), reverse=True), rules)
    ndcg = [a / b if b != 0 else 0 for a, b in zip(cumulated(labels, rules), ideal, strict=True)]
    mean = 0.0
    for value in ndcg:
        mean += value
    out["MeanNDCG"] = mean / len(ndcg)
    for k in CUTS:
        out[f"P@{k}"] = precisions[k - 1]
        out[f"NDCG@{k}"] = ndcg[k - 1] if k <= len(labels) else 0
    return out


def official(scores, labels, qids, rules):
    """Return the values per query, in ascending order of query id, and their means, as the scripts work them out."""
    rows_of = {}
    for row, qid in enumerate(qids):
        rows_of.setdefault(qid, []).append(row)
    per_query = {}
    for qid in sorted(rows_of, key=float):
        ranked = sorted(rows_of[qid], key=lambda row: -scores[row])  # stable: ties stay in file order
        per_query[qid] = of_query([int(labels[row]) for row in ranked], rules)
    means = {}
    for name in next(iter(per_query.values())):
        running = 0.0
        for values in per_query.values():
            running += values[name]
        means[name] = running / len(per_query)
    return per_query, means


def read(path):
    """Read labels, query ids and features of a LETOR file the simplest way."""
    labels, qids, features = [], [], []
    with lzma.open(path, "rt") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            labels.append(float(words[0]))
            qids.append(words[1].removeprefix("qid:"))
            features.append([float(word.split(":")[1]) for word in words[2:]])
    return np.array(labels), qids, np.array(features)


FILES = [("OHSUMED-LETOR3", "letor3"), ("OHSUMED-LETOR3", "letor4"), ("MQ2008", "letor4"), ("MQ2008", "letor3")]


@pytest.mark.parametrize(("collection", "convention"), [*FILES, ("MQ2008", "mslr")])
@pytest.mark.parametrize("part", ["S1", "S4"])
def test_every_digit_of_the_official_scripts(real_data, collection, convention, part):
    path = real_data / collection / f"{part}.txt.xz"
    labels, qids, features = read(path)
    data = ar.load(path)
    scorings = [features[:, column] for column in (0, 10, 24)]
    scorings += [features.sum(axis=1), np.zeros(len(labels))]
    for scores in scorings:
        per_query, means = official(scores.tolist(), labels, qids, RULES[convention])
        result = ar.evaluate(scores, data, list(means), convention=convention)
        for name, mean in means.items():
            assert f"{result.means[name]:.15g}" == f"{mean:.15g}"
            by_qid = dict(zip(map(str, data.query_ids.tolist()), result.values[name].tolist(), strict=True))
            assert {qid: f"{value:.15g}" for qid, value in by_qid.items()} == {
                qid: f"{values[name]:.15g}" for qid, values in per_query.items()
            }


def test_short_lists_are_the_trap(real_data):
    """On MQ2008, whose lists are short, the official NDCG@10 is far below that of a padded list."""
    labels, qids, features = read(real_data / "MQ2008" / "S1.txt.xz")
    data = ar.Dataset(features, labels, qid=qids)
    name = "ndcg@10"
    official_value = ar.evaluate(features[:, 24], data, name, convention="letor4").means[name]
    padded = ar.evaluate(features[:, 24], data, name, convention="letor4", short="pad").means[name]
    assert (data.sizes < 10).mean() > 0.2
    assert padded > official_value + 0.1


def test_five_grades(real_data):
    path = next((real_data / "MSLR-sample").glob("*.xz"))
    labels, qids, features = read(path)
    data = ar.Dataset(features, labels, qid=qids)
    _, means = official(features[:, 5].tolist(), labels, qids, RULES["mslr"])
    result = ar.evaluate(features[:, 5], data, list(means), convention="mslr")
    assert {name: f"{value:.15g}" for name, value in result.means.items()} == {
        name: f"{value:.15g}" for name, value in means.items()
    }
