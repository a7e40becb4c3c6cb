"""Names of measures: every spelling in use, read without regard to case."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Hashable, Iterable
from typing import Any

from argrank._declared import checked
from argrank.errors import OptionError, shown, unknown_name
from argrank.measures import MEASURES
from argrank.measures.dcg import DCG_WORDS
from argrank.measures.function import function_measure
from argrank.measures.gains import GainTable
from argrank.measures.measure import Measure

_NAME = re.compile(
    r"(?P<word>[^\W\d]\w*?)\s*"
    r"(?:\((?P<parameters>.*)\))?\s*"
    r"(?:@(?P<cutoff>.*?)|[_.](?P<trec>[0-9]+(?:\.[0-9]+)?))?"
    r"(?P<minus>-)?",
    re.IGNORECASE | re.DOTALL,
)

#: Several cut-offs of one measure: ndcg@1..10.
_RANGE = re.compile(r"(?P<head>.*)@\s*(?P<first>[^@.]*)\.\.(?P<last>[^@.]*?)(?P<minus>-?)", re.DOTALL)
MOST_CUTOFFS = 1_000

#: Names that stand for a measure with a parameter.
_SHORT: dict[str, tuple[str, dict[str, Any]]] = {
    "ndcg_burges": ("nDCG", {"gain": "exp2"}),
    "gauc": ("AUC", {"graded": True}),
    "graded_auc": ("AUC", {"graded": True}),
    "neru": ("ERU", {"normalised": True}),
    "set_relative_p": ("SetP", {"relative": True}),
    "setrelp": ("SetP", {"relative": True}),
}

#: Measures given as values, by name, so that trials and reports, which store names, find functions and products.
_GIVEN: dict[str, Measure] = {}

#: Parameters as other tools spell them.
_PARAMETERS = {"relevant_at": "rel", "gains": "gain", "normalized": "normalised"}


def measure_names() -> list[str]:
    """Return the names of the measures, without cut-offs and parameters."""
    return sorted(MEASURES, key=str.lower)


@checked
def measure(name: Any) -> Measure:
    """Return the measure of a name or a function, like ``argrank.measure`` but without registering the function."""
    if isinstance(name, Measure):
        return name
    if _is_foreign(name):
        return _of_ir_measures(name)
    if callable(name) and not isinstance(name, type) and isinstance(name, Hashable):
        return function_measure(name)
    if not isinstance(name, str):
        raise OptionError(f"measure: expected a name such as 'ndcg@10', a measure or a function, got {shown(name)}")
    if _RANGE.fullmatch(name.strip()):
        raise OptionError(f"measure: expected one measure, got the range {name!r}, which means several")
    match = _NAME.fullmatch(name.strip())
    word = match["word"].lower() if match else name.strip().lower()
    spelling, given = _SHORT.get(word) or (_spelling(word), {})
    if spelling is None and (own := _spelling(name.strip().lower())) is not None:
        return MEASURES[own]()  # a name that ends like a cut-off of trec_eval's: hit_2
    if spelling is None and name in _GIVEN:
        return _GIVEN[name]
    if match is None or spelling is None:
        raise unknown_name("measure", name, (*_aliases(), *_SHORT))
    parameters = {**given, **_read_parameters(name, match["parameters"])}
    cutoff = match["cutoff"] if match["cutoff"] is not None else match["trec"]
    if cutoff is not None and "recall" in _fields(spelling):
        parameters["recall"] = _read_recall(name, cutoff)
    elif cutoff is not None:
        parameters["k"] = _read_cutoff(name, cutoff)
    if match["minus"]:
        parameters["undefined"] = 0.0
    return _make(name, spelling, parameters)


def spelled_out(names: Iterable[Any]) -> list[Any]:
    """Return names with every range of cut-offs spelled out: ``ndcg@1..3`` is ndcg@1, ndcg@2 and ndcg@3."""
    found: list[Any] = []
    for name in names:
        match = _RANGE.fullmatch(name.strip()) if isinstance(name, str) else None
        if match is None:
            found.append(name)
            continue
        first, last = _read_cutoff(name, match["first"]), _read_cutoff(name, match["last"])
        if not first <= last < first + MOST_CUTOFFS:
            raise OptionError(
                f"measure {name!r}: expected a range such as @1..10, of at most {MOST_CUTOFFS:,} cut-offs, got "
                f"{match['first']}..{match['last']}"
            )
        found += [f"{match['head']}@{k}{match['minus']}" for k in range(first, last + 1)]
    return found


def measure_list(measures: Any) -> list[tuple[str, Measure]]:
    """Return the requested measures, each with its requested name; ranges of cut-offs are expanded."""
    asked = spelled_out(measures if isinstance(measures, list | tuple) else [measures])
    if not asked:
        raise OptionError("measures: expected at least one measure, got none")
    found = [
        (one if isinstance(one, str) else str(one) if _is_foreign(one) else measure(one).name, measure(one))
        for one in asked
    ]
    for (name, one), (other, another) in itertools.combinations(found, 2):
        if name == other and one != another:
            raise OptionError(f"measures: expected functions of different names, got two named {name}")
    _GIVEN.update({name: one for (name, one), given in zip(found, asked, strict=True) if not isinstance(given, str)})
    return found


def _spelling(word: str) -> str | None:
    return MEASURES.find(lambda kind: word in kind.aliases)


def _aliases() -> list[str]:
    return [alias for kind in MEASURES.values() for alias in kind.aliases]


def _is_foreign(one: Any) -> bool:
    return type(one).__module__.split(".")[0] == "ir_measures"


#: Parameters of ir_measures that have another name here; unknown ones are kept only if they were set, so that they
#: cause an error.
_IR_MEASURES = {"cutoff": "k", "gains": "gain"}


def _of_ir_measures(one: Any) -> Measure:
    name = str(one)
    match = _NAME.fullmatch(name)
    spelling = _spelling(match["word"].lower()) if match else None
    if spelling is None:
        raise unknown_name("measure", name, _aliases())
    known = _fields(spelling)
    parameters: dict[str, Any] = {"undefined": 0.0}
    for key in one.SUPPORTED_PARAMS:
        value, own = one[key], _IR_MEASURES.get(key, key)
        if key == "dcg":
            parameters["gain"], parameters["discount"] = DCG_WORDS[value]
        elif key == "gains" and key in one.params:
            parameters["gain"] = GainTable.of(value, outside="label")
        elif key in one.params or (own in known and isinstance(value, bool | int | float | str)):
            parameters[own] = value
    return _make(name, spelling, parameters)


def _make(name: str, spelling: str, parameters: dict[str, Any]) -> Measure:
    kind = MEASURES[spelling]
    known = _fields(spelling)
    for parameter in parameters:
        if parameter == "k" and "k" not in known:
            raise OptionError(f"measure {name!r}: {spelling} takes no cut-off")
        if parameter not in known:
            raise OptionError(f"measure {name!r}: expected a parameter of {', '.join(known)}, got {parameter!r}")
    return kind(**parameters)


def _fields(spelling: str) -> list[str]:
    return [part.name for part in dataclasses.fields(MEASURES[spelling])]


def _read_recall(name: str, text: str) -> float:
    if not re.fullmatch(r"\s*(0*1(\.0*)?|0*(\.[0-9]*)?)\s*", text, re.ASCII) or not text.strip(" ."):
        raise OptionError(f"measure {name!r}: expected a recall from 0 to 1 after @, such as 0.1, got {text!r}")
    return float(text)


def _read_cutoff(name: str, text: str) -> int:
    if not re.fullmatch(r"\s*0*[1-9][0-9]{0,17}\s*", text, re.ASCII):
        raise OptionError(f"measure {name!r}: expected a whole number from 1 up after @, got {text!r}")
    return int(text)


def _read_parameters(name: str, text: str | None) -> dict[str, Any]:
    if not text or not text.strip():
        return {}
    try:
        call = ast.parse(f"f({text.lower()})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not all(keyword.arg for keyword in call.keywords):
            raise ValueError("not of the form parameter=value")
        given = {str(keyword.arg): _literal(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise OptionError(f"measure {name!r}: expected parameters such as (rel=2), got ({text})") from error
    parameters: dict[str, Any] = {}
    for key, value in given.items():
        if key == "dcg":
            if value not in DCG_WORDS:
                raise OptionError(f"measure {name!r}: expected dcg='log2' or 'exp-log2', got {value!r}")
            parameters["gain"], parameters["discount"] = DCG_WORDS[value]
        else:
            parameters[_PARAMETERS.get(key, key)] = value
    return parameters


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id in ("true", "false"):  # case-insensitive, like names
        return node.id == "true"
    return ast.literal_eval(node)
