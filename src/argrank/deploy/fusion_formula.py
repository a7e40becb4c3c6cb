"""Tuned weights as what a search engine takes: a formula, a pipeline, a query, a rank profile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from argrank.errors import OptionError, check_name

RANK_CONSTANT = 60  # of reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009)

_PLAIN = {
    "none": "{name}",
    "minmax": "minmax({name})",
    "zscore": "zscore({name})",
    "rank": f"1 / ({RANK_CONSTANT} + rank({{name}}))",
}
_VESPA = {"none": "{name}", "minmax": "normalize_linear({name})", "rank": f"reciprocal_rank({{name}}, {RANK_CONSTANT})"}
_OPENSEARCH = {"minmax": "min_max", "zscore": "z_score"}
_ELASTICSEARCH = {"none": "none", "minmax": "minmax"}


def formula(weights: Mapping[str, float], normalisers: Mapping[str, str], target: str) -> str:
    """Return the weighted sum for a target; systems of weight 0 are left out."""
    check_name("target", target, TARGETS)
    used = {name: weight for name, weight in weights.items() if weight != 0}
    return TARGETS[target](used, {name: normalisers[name] for name in used})


def _plain(weights: Mapping[str, float], normalisers: Mapping[str, str]) -> str:
    return _sum(weights, {name: _PLAIN[normalisers[name]].format(name=name) for name in weights})


def _vespa(weights: Mapping[str, float], normalisers: Mapping[str, str]) -> str:
    terms = {name: _known(normalisers, name, _VESPA, "vespa").format(name=name) for name in weights}
    phase = "first-phase" if set(normalisers.values()) <= {"none"} else "global-phase"
    return f"{phase} {{\n    expression: {_sum(weights, terms)}\n}}"


def _opensearch(weights: Mapping[str, float], normalisers: Mapping[str, str]) -> str:
    """Return the body of ``PUT /_search/pipeline/NAME``; the weights are those of the hybrid query's clauses."""
    _check_positive(weights, "opensearch")
    kinds = {_known(normalisers, name, _OPENSEARCH, "opensearch") for name in weights}
    if len(kinds) > 1:
        raise OptionError("opensearch: expected one normalisation for all systems, which is all its processor can do")
    total = sum(weights.values())
    processor = {
        "normalization": {"technique": kinds.pop()},
        "combination": {
            "technique": "arithmetic_mean",
            "parameters": {"weights": [_rounded(weight / total) for weight in weights.values()]},
        },
    }
    body = {
        "description": f"weights of {', '.join(weights)}, in the order of the hybrid query's clauses",
        "phase_results_processors": [{"normalization-processor": processor}],
    }
    return json.dumps(body, indent=2, ensure_ascii=False)


def _elasticsearch(weights: Mapping[str, float], normalisers: Mapping[str, str]) -> str:
    """Return a linear retriever, with the retrievers themselves to be filled in."""
    _check_positive(weights, "elasticsearch")
    retrievers = [
        {
            "retriever": {"standard": {"query": {"match": {"FIELD": f"query of {name}"}}}},
            "weight": _rounded(weight),
            "normalizer": _known(normalisers, name, _ELASTICSEARCH, "elasticsearch"),
        }
        for name, weight in weights.items()
    ]
    return json.dumps({"retriever": {"linear": {"retrievers": retrievers}}}, indent=2, ensure_ascii=False)


TARGETS: dict[str, Callable[[Mapping[str, float], Mapping[str, str]], str]] = {
    "plain": _plain,
    "elasticsearch": _elasticsearch,
    "opensearch": _opensearch,
    "vespa": _vespa,
}


def _sum(weights: Mapping[str, float], terms: Mapping[str, str]) -> str:
    text = ""
    for name, weight in weights.items():
        sign = "-" if weight < 0 else "+" if text else ""
        text += f" {sign} " if text else sign
        term = terms[name]
        text += f"{abs(weight):.6g}{term[1:]}" if term.startswith("1 / ") else f"{abs(weight):.6g} * {term}"
    return text or "0"


def _known(normalisers: Mapping[str, str], name: str, known: Mapping[str, str], target: str) -> str:
    if normalisers[name] not in known:
        options = " or ".join(f"normalise={one!r}" for one in known)
        raise OptionError(
            f"{target}: expected {options}, which it can compute, got {normalisers[name]!r} for {name}; "
            "see the plain formula"
        )
    return known[normalisers[name]]


def _check_positive(weights: Mapping[str, float], target: str) -> None:
    for name, weight in weights.items():
        if weight < 0:
            raise OptionError(
                f"{target}: expected no negative weights, which it refuses, got {weight:.4g} for {name}: "
                "tune with bounds=(0, None)"
            )


def _rounded(weight: float) -> float:
    return float(f"{weight:.6g}")
