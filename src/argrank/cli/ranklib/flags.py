"""Parse RankLib's flags: their meaning here, and those that are not supported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from argrank.errors import OptionError, check_name, unknown_name

#: RankLib's numbers of rankers; the names are ours. 8, random forests, are bags of the trees of 0 or 6.
RANKERS = {
    0: "mart", 1: "log-mle", 2: "rankboost", 3: "adarank", 4: "coordinate-ascent", 6: "lambda-mart", 7: "listnet",
    8: "random-forests", 9: "regression",
}  # fmt: skip

#: What differs from RankLib's ranker of that number.
NOTES = {
    "log-mle": "-ranker 1: RankNet's logistic loss on pairs, with a linear model instead of a network",
    "random-forests": "-ranker 8: trees are LightGBM's, and features are drawn for each tree",
}

NORMALISERS = {"sum": "query-sum", "zscore": "query-zscore", "linear": "query-minmax"}

#: Measures of RankLib, without cut-off; our names are the same.
MEASURES = ("map", "ndcg", "dcg", "p", "rr", "err")

WITH_VALUE = (
    "train", "test", "validate", "ranker", "metric2t", "metric2T", "gmax", "qrel", "feature", "tvs", "tts", "kcv",
    "kcvmd", "kcvmn", "save", "load", "rank", "score", "indri", "idv", "norm", "thread", "epoch", "layer", "node", "lr",
    "round", "tolerance", "max", "r", "i", "reg", "tree", "leaf", "shrinkage", "tc", "mls", "estop", "bag", "srate",
    "frate", "rtype", "L2",
)  # fmt: skip
#: Flags without a value, which RankLib needs and argrank does not; they are silently ignored.
ALONE = ("missingZero", "noeq", "sparse", "silent", "hr")

#: Flags that name a file or, kcvmd, a folder; the models of folds and their files are given one after the other.
FILES = ("train", "validate", "save", "score", "indri", "idv", "feature", "kcvmd")
REPEATED = ("load", "test", "rank")

_TREES: dict[str, tuple[str, type, Any]] = {
    "tree": ("n_trees", int, 1000),
    "leaf": ("n_leaves", int, 10),
    "shrinkage": ("learning_rate", float, 0.1),
    "mls": ("min_documents", int, 1),
    "estop": ("early_stopping", int, 100),
}
#: RankLib's trees see all documents, features and cuts, and lambdas as LightGBM has them.
_PLAIN: dict[str, Any] = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
FIXED: dict[str, dict[str, Any]] = {"mart": _PLAIN, "lambda-mart": {**_PLAIN, "lambda_norm": True}}
#: RankLib's parameters of a ranker -> ours, with RankLib's default.
PARAMETERS: dict[str, dict[str, tuple[str, type, Any]]] = {
    "mart": _TREES,
    "lambda-mart": _TREES,
    "rankboost": {"round": ("n_rounds", int, 300)},
    "adarank": {"round": ("n_rounds", int, 500)},
    "coordinate-ascent": {
        "r": ("n_starts", int, 5),
        "i": ("n_steps", int, 25),
        "tolerance": ("tol", float, 0.001),
    },
    "regression": {"L2": ("ridge", float, 1e-10)},
    "random-forests": {
        "bag": ("n_bags", int, 300),
        "srate": ("query_fraction", float, 1.0),
        "frate": ("feature_fraction", float, 0.3),
        "rtype": ("member", int, 0),
        "tree": ("n_trees", int, 1),
        "leaf": ("n_leaves", int, 100),
        "shrinkage": ("learning_rate", float, 0.1),
        "mls": ("min_documents", int, 1),
    },
}


@dataclass
class Flags:
    """A parsed RankLib command line, in argrank's terms; ``ignored`` are flags without effect here."""

    ranker: str = "coordinate-ascent"
    measure: str = "err@10"
    test_measure: str | None = None
    normalise: str | None = None
    files: dict[str, str] = field(default_factory=dict)  # those of FILES
    lists: dict[str, list[str]] = field(default_factory=dict)  # those of REPEATED
    share: tuple[str, float] | None = None  # ("tvs" or "tts", share of the training file)
    folds: int | None = None
    fold_model: str = "model.txt"  # the models of the folds are called f1.model.txt and so on
    threads: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    max_grade: float = 4.0
    ignored: list[str] = field(default_factory=list)


def read_flags(arguments: Sequence[str]) -> Flags:
    """Read RankLib's flags. Unlike RankLib, ``-metric2T`` sets the test measure alone."""
    every = pairs(arguments, WITH_VALUE, ALONE, REPEATED)
    flags = Flags(lists={name: every.pop(name) for name in REPEATED if name in every})
    given = {name: values[0] for name, values in every.items()}
    flags.files = {name: given.pop(name) for name in FILES if name in given}
    for name, (field_name, read) in FIELDS.items():
        if name in given:
            setattr(flags, field_name, read(given.pop(name), name))
    for name, (ours, kind, default) in PARAMETERS.get(flags.ranker, {}).items():
        flags.parameters[ours] = number(given.pop(name), name, kind) if name in given else default
    if flags.parameters.get("member", 0) not in (0, 6):
        raise OptionError(f"-rtype: expected 0 (MART) or 6 (LambdaMART), got {flags.parameters['member']}")
    flags.parameters |= FIXED.get(flags.ranker, {})
    if "qrel" in given:
        raise OptionError("-qrel: here judgements come with the documents; use `argrank evaluate` with qrels and a run")
    flags.ignored = [name for name in given if name not in ALONE]
    return flags


def ranker_of(text: str, name: str) -> str:
    """Return our name of RankLib's ranker of that number."""
    if not text.isdigit() or int(text) not in RANKERS:
        known = ", ".join(f"{one} {ours}" for one, ours in RANKERS.items())
        raise OptionError(f"-{name}: expected one of {known}, got {text!r}")
    return RANKERS[int(text)]


def measure_of(text: str, name: str) -> str:
    """Return our name of RankLib's measure: ``NDCG@10``, ``ERR@10``, ``MAP``, ``P@5``, ``RR@10``."""
    ours, at, cutoff = text.lower().partition("@")
    if ours not in MEASURES or (at and not cutoff.isdigit()):
        raise OptionError(f"-{name}: expected MAP, NDCG@k, DCG@k, P@k, RR@k or ERR@k, got {text!r}")
    if ours == "map":  # RankLib's MAP ignores a cut-off
        return "map"
    return f"{ours}@{cutoff}" if at else ours if ours == "rr" else f"{ours}@10"


def normaliser_of(text: str, name: str) -> str:
    """Return our name of a normalisation."""
    check_name("normalisation of RankLib", text, NORMALISERS)
    return NORMALISERS[text]


def pairs(
    arguments: Sequence[str], with_value: Sequence[str], alone: Sequence[str], repeated: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return flag -> values; RankLib ignores the case of flags, except for -metric2t and -metric2T."""
    names = (*with_value, *alone)
    known = {name.lower(): name for name in names if not name.startswith("metric2")}
    given: dict[str, list[str]] = {}
    rest = list(arguments)
    while rest:
        text = rest.pop(0)
        word = text.lstrip("-")
        name = word if word in names else known.get(word.lower(), "")
        if not text.startswith("-") or not name:
            raise unknown_name("flag of RankLib", text, [f"-{one}" for one in names])
        if name in given and name not in repeated:
            raise OptionError(f"-{name}: expected once, got twice")
        if name not in alone and not rest:
            raise OptionError(f"-{name}: expected a value, got nothing")
        given.setdefault(name, []).append("" if name in alone else rest.pop(0))
    return given


def share_of(text: str, name: str) -> float:
    """Return the value of a flag that is a share of the queries."""
    share: float = number(text, name, float)
    if not 0 < share < 1:
        raise OptionError(f"-{name}: expected a share between 0 and 1, got {share:g}")
    return share


def number(text: str, name: str, kind: type) -> Any:
    """Return the value of a flag that is a number."""
    try:
        return kind(text)
    except ValueError:
        raise OptionError(f"-{name}: expected a number, got {text!r}") from None


#: Flags that set a field of Flags: its name, and the function that parses the text.
FIELDS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "ranker": ("ranker", ranker_of),
    "metric2t": ("measure", measure_of),
    "metric2T": ("test_measure", measure_of),
    "norm": ("normalise", normaliser_of),
    "tvs": ("share", lambda text, name: (name, share_of(text, name))),
    "tts": ("share", lambda text, name: (name, share_of(text, name))),
    "kcv": ("folds", lambda text, name: number(text, name, int)),
    "kcvmn": ("fold_model", lambda text, name: text),
    "thread": ("threads", lambda text, name: number(text, name, int)),
    "gmax": ("max_grade", lambda text, name: number(text, name, float)),
}
