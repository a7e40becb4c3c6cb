"""The doctor: finds problems in data before training, and says what to do about them.

A check is a function from the facts of a data set (or of two) to findings; to add one, write it in the file of its
subject and list it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from argrank._declared import checked
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.data.doctor import documents, features, labels, leaks
from argrank.data.doctor.click_log import look_at
from argrank.data.doctor.diagnosis import Diagnosis, Finding
from argrank.data.doctor.facts import Facts
from argrank.data.summary import printable
from argrank.errors import InputError, OptionError

__all__ = ["CHECKS", "PAIR_CHECKS", "Diagnosis", "Finding", "doctor"]

CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    labels.label_range,
    labels.label_like,
    labels.without_relevant,
    labels.one_label,
    labels.single_documents,
    documents.repeated_documents,
    documents.conflicting_labels,
    documents.identical_vectors,
    features.texts,
    features.missing,
    features.constant,
    features.constant_in_queries,
    features.coarse,
    features.scales,
    features.scales_of_queries,
)

PAIR_CHECKS: tuple[Callable[[Facts, Facts], Iterator[Finding]], ...] = (
    leaks.other_features,
    leaks.shared_queries,
    leaks.shared_ids,
    leaks.shared_documents,
)


@checked
def doctor(
    data: Dataset | Clicks | ClickCounts, *more: Dataset, names: Sequence[str] | None = None, relevant_at: float = 1
) -> Diagnosis:
    """Find problems in a data set, in several that are used together, or in a click log.

    Parameters
    ----------
    data, *more : Dataset
        The training part and, to find leaks, the validation and test parts; or one click log of ``ar.load_clicks``.
    names : sequence of str, optional
        Names of the data sets in the findings.
    relevant_at : float
        Labels from here up are relevant.

    Returns
    -------
    Diagnosis
        Prints as a table; ``findings`` holds the same as objects, most severe first.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]], [0, 1, 0], qid=["a", "a", "b"])
    >>> [finding.check for finding in ar.doctor(data).findings]
    ['without-relevant', 'single-documents', 'constant']
    """
    if isinstance(data, Clicks | ClickCounts) and not more:
        return look_at(data)
    sets = [part for part in (data, *more) if isinstance(part, Dataset)]
    if len(sets) <= len(more):
        raise InputError("doctor: expected Datasets, or one click log alone, got a click log among others")
    if names is None:
        names = [""] if len(sets) == 1 else [f"set {number}" for number in range(1, len(sets) + 1)]
    if len(names) != len(sets):
        raise OptionError(f"names: expected {len(sets)} names, got {len(names)}")
    facts = [Facts(part, printable(name), relevant_at) for part, name in zip(sets, names, strict=True)]
    findings = _merged([finding for one in facts for check in CHECKS for finding in check(one)])
    findings += [finding for a, b in combinations(facts, 2) for check in PAIR_CHECKS for finding in check(a, b)]
    return Diagnosis(tuple(findings), tuple(one.features for one in facts))


def _merged(findings: list[Finding]) -> list[Finding]:
    """Merge equal findings of several data sets; the example is from the first."""
    found: dict[tuple[str, str], Finding] = {}
    for one in findings:
        key = one.check, one.what
        found[key] = replace(found[key], data=f"{found[key].data}, {one.data}") if key in found else one
    return list(found.values())
