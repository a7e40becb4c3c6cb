"""Conventions: how other tools define the measures, as presets and as single switches, all in this one place."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from argrank.errors import OptionError, check_name, is_finite, shown, unknown_name
from argrank.measures.discounts import LOGARITHMS, Discount, check_discount
from argrank.measures.gains import Gain, GainTable, check_gain

CHOICES: dict[str, tuple[str, ...]] = {
    "logarithm": LOGARITHMS,
    "normalise": ("divide", "multiply"),
    "empty": ("keep", "skip"),
    "undefined_weight": ("query", "one"),
    "ties": ("expected", "row", "best", "worst", "docid-descending", "docid-ascending"),
    "short": ("pad", "min", "zero"),
    "short_precision": ("pad", "min", "zero"),
    "ap_denominator": ("relevant", "min", "hits"),
    "score_dtype": ("float64", "float32"),
    "averaging": ("exact", "by-qid"),
    "missing": ("empty", "skip"),
}

#: Other names of a choice, as used by the tools.
WORDS = {
    "ties": {"docid": "docid-descending", "docid-desc": "docid-descending", "docid-asc": "docid-ascending"},
    "short": {"min(k,n)": "min"},
    "short_precision": {"k": "pad", "min(k,n)": "min"},
    "ap_denominator": {"r": "relevant", "min(r,k)": "min"},
}


@dataclass(frozen=True)
class Convention:
    """All rules in which evaluation tools differ; the defaults are argrank's own convention.

    Parameters
    ----------
    gain : "exp2", "linear", "binary", a table or a callable
        Gain of a label.
    discount : "log2", "letor", "reciprocal" or a callable
        Discount of a rank.
    logarithm : "log2", "divided", "ratio", "scaled", "natural"
        How the terms of a DCG are computed; except for "natural" (DCG with ln) this changes only the last digit.
    normalise : "divide" or "multiply"
        DCG / ideal, or DCG * (1 / ideal).
    undefined : a number, "skip" or "nan"
        Value of a query for which a measure is undefined (NDCG, AP, RR, R without a relevant document, AUC without a
        pair, …). "skip" leaves it out of the mean, "nan" makes the mean NaN.
    undefined_of : mapping from a measure's name to a policy
        Measures for which the tool has another policy than ``undefined``; if only ``undefined`` is given, there are
        none.
    undefined_weight : "query" or "one"
        Weight of such a query in a weighted mean of NDCG; "one", while the divisor sums the true weights, reproduces a
        bug of LightGBM, to agree with it.
    empty : "keep" or "skip"
        Whether queries without a relevant document are left out of every measure, also those defined there (P, ERR).
    ties : "expected", "row", "best", "worst", "docid-descending", "docid-ascending"
        Equal scores: the mean over all orders, the caller's row order, greater or smaller labels first, document id.
    short : "pad", "min" or "zero"
        NDCG@k and DCG@k of lists shorter than k: filled with documents of no gain, cut at the list's length (differs
        only if the ideal has more documents than the list), or 0.
    short_precision : "pad", "min" or "zero"
        P@k of lists shorter than k: hits / k, hits / length, or 0.
    relevant_at : float
        Smallest label of a relevant document.
    ap_denominator : "relevant", "min" or "hits"
        What AP@k divides by: all relevant documents R, min(R, k), or the relevant ones down to rank k.
    max_grade : float
        Greatest label there can be, for ERR.
    score_dtype : "float64" or "float32"
        Precision in which scores are compared.
    averaging : "exact" or "by-qid"
        The mean over queries: rounded once, or added one by one in ascending order of query id.
    missing : "empty" or "skip"
        Judged queries of which a run returned nothing: a list without documents, which finds nothing, or left out of
        the mean as trec_eval does without its option -c.
    judged_only : bool
        Whether unjudged documents of a run are dropped before it is measured (trec_eval's -J). Otherwise they keep
        their rank and are not relevant, in every convention.
    format : str
        How a value is printed, a % format.
    """

    name: str = "default"
    gain: Gain = "exp2"
    discount: Discount = "log2"
    logarithm: str = "log2"
    normalise: str = "divide"
    undefined: float | str = "skip"
    undefined_of: tuple[tuple[str, float | str], ...] = ()
    undefined_weight: str = "query"
    empty: str = "keep"
    ties: str = "expected"
    short: str = "pad"
    short_precision: str = "pad"
    relevant_at: float = 1.0
    ap_denominator: str = "relevant"
    max_grade: float = 4.0
    score_dtype: str = "float64"
    averaging: str = "exact"
    missing: str = "empty"
    judged_only: bool = False
    format: str = "%.4f"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain))
        check_discount(self.discount)
        object.__setattr__(self, "undefined", check_undefined(self.undefined))
        exceptions = sorted((str(name), check_undefined(value)) for name, value in dict(self.undefined_of).items())
        object.__setattr__(self, "undefined_of", tuple(exceptions))
        for switch, choices in CHOICES.items():
            word = getattr(self, switch)
            if isinstance(word, str) and word not in choices:
                plain = word.strip().lower().replace(" ", "-").replace("_", "-").replace(",-", ",")
                object.__setattr__(self, switch, WORDS.get(switch, {}).get(plain, plain))
            if getattr(self, switch) not in choices:
                raise OptionError(f"{switch}: expected one of {', '.join(choices)}, got {shown(getattr(self, switch))}")
        if not isinstance(self.judged_only, bool):
            raise OptionError(f"judged_only: expected True or False, got {shown(self.judged_only)}")
        for switch in ("relevant_at", "max_grade"):
            value = getattr(self, switch)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise OptionError(f"{switch}: expected a number, got {shown(value)}")
        try:
            self.format % 0.5
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(f"format: expected a % format such as '%.4f', got {shown(self.format)}") from error

    def switches(self) -> dict[str, Any]:
        """Return every switch but the name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "name"}


def check_undefined(value: Any) -> float | str:
    """Return the policy for undefined queries: "skip", "nan" or a finite number."""
    if isinstance(value, str) and value in ("skip", "nan"):
        return value
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if is_finite(value) and not isinstance(value, bool):
        return float(value)
    raise OptionError(f"undefined: expected skip, nan or a number such as 0, 0.5 or 1, got {shown(value)}")


# The scripts of LETOR 3.0 and 4.0 also merge documents of one id within a query; we keep every row.
_LETOR = {
    "discount": "letor", "logarithm": "scaled", "undefined": 0.0, "ties": "row", "short": "zero", "averaging": "by-qid",
}  # fmt: skip
_THREE_GRADES = GainTable.of((0, 1, 3), outside=0.0)
_FIVE_GRADES = GainTable.of((0, 1, 3, 7, 15), outside=0.0)
_XGBOOST = {
    "logarithm": "divided", "ties": "row", "short": "min", "short_precision": "min", "ap_denominator": "min",
    "undefined_weight": "one",
}  # fmt: skip

#: The switches of each tool that differ from argrank's default.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "catboost": {  # as of 1.2; older releases counted NDCG without a relevant document as 0
        "gain": "linear", "undefined": 1.0, "undefined_of": {"AP": 0.0, "RR": 0.0}, "ties": "worst", "short": "min",
        "short_precision": "min", "ap_denominator": "min",
    },
    "gdeval": {
        "logarithm": "natural", "ties": "docid-descending", "short": "min", "empty": "skip", "missing": "skip",
        "format": "%.5f",
    },
    "kdd2008": {"gain": "binary", "discount": "letor"},
    "letor3": _LETOR | {"gain": _THREE_GRADES, "short_precision": "zero", "format": "%.15g"},
    "letor4": _LETOR | {"gain": _THREE_GRADES},
    "lightgbm": {
        "normalise": "multiply", "undefined": 1.0, "undefined_weight": "one", "ties": "row", "short": "min",
        "relevant_at": math.nextafter(0.5, 1.0), "ap_denominator": "min",
    },
    "mslr": _LETOR | {"gain": _FIVE_GRADES, "relevant_at": 2.0},
    "msmarco": {"undefined": 0.0, "ties": "docid-ascending"},
    # RankLib's MAP ignores a cut-off: use "map", not "map@k", to agree with it.
    "ranklib": {"logarithm": "ratio", "undefined": 0.0, "ties": "row", "short": "min", "short_precision": "min"},
    # ranx keeps the order of ties in lists of up to 15 documents; its sort of longer ones is not stable.
    "ranx": {"gain": "linear", "logarithm": "divided", "undefined": 0.0, "ties": "row"},
    "sklearn": {"gain": "linear", "logarithm": "ratio", "undefined": 0.0},
    "trec": {
        "gain": "linear", "logarithm": "divided", "undefined": 0.0, "ties": "docid-descending",
        "score_dtype": "float32", "missing": "skip",
    },
    "xgboost": _XGBOOST | {"undefined": 1.0},
    "xgboost-": _XGBOOST | {"undefined": 0.0},
    "yahoo": {"logarithm": "natural", "undefined": 0.5, "ties": "row", "short": "min"},
}  # fmt: skip

#: Other names of presets.
SAME = {"trec_eval": "trec", "trec-eval": "trec", "pytrec_eval": "trec"}

SWITCHES = tuple(field.name for field in dataclasses.fields(Convention) if field.name != "name")


def convention_names() -> list[str]:
    """Return the names of the presets."""
    return sorted(PRESETS)


def make_convention(convention: str | Convention = "default", **switches: Any) -> Convention:
    """Return a preset with some switches changed; None keeps the preset's value.

    >>> make_convention("trec", gain="exp2").name
    'trec with gain=exp2'
    """
    if isinstance(convention, Convention):
        chosen = convention
    else:
        name = SAME.get(convention.lower(), convention.lower()) if isinstance(convention, str) else ""
        if name not in PRESETS:
            raise unknown_name("convention", convention, PRESETS)
        chosen = Convention(name=name, **PRESETS[name])
    for switch in switches:
        check_name("switch", switch, SWITCHES)
    given = {switch: value for switch, value in switches.items() if value is not None}
    if not given:
        return chosen
    exceptions = {} if "undefined" not in given else {"undefined_of": ()}
    changed = dataclasses.replace(chosen, **{**exceptions, **given})
    words = ", ".join(f"{switch}={describe(getattr(changed, switch))}" for switch in given)
    return dataclasses.replace(changed, name=f"{chosen.name} with {words}")


def describe(value: Any) -> str:
    """Return a switch's value as short text."""
    if isinstance(value, float):
        return f"{value:g}"
    if callable(value) and not isinstance(value, GainTable):
        return str(getattr(value, "__name__", "callable"))
    return str(value)
