"""Auto: tries members of different kinds, blends them, and estimates the quality of the blend."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from argrank._declared import AtLeast, Count, Count32, Positive, Seed
from argrank._json import json_value
from argrank._memory import max_memory
from argrank._tables import measure_text, table, to_text
from argrank._types import Floats
from argrank.data.arranged import arranged
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.data.mapped import size_of
from argrank.data.prepare.impute import refuse_missing, refuse_texts
from argrank.data.prepare.preparation import Preparation, preparation_for
from argrank.deploy.registry import TARGETS, blend_families
from argrank.deploy.singles import suited
from argrank.engines import is_distributed
from argrank.errors import ArgrankWarning, MissingExtraError, OptionError, shown
from argrank.models.model import Model
from argrank.rankers import make_ranker
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.boosted.trees.lightgbm import load_lightgbm
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker
from argrank.rankers.registry import ranker_class, registered_name
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import BLEND, Work, for_gains, takes_gains
from argrank.solvers.problem import Stop
from argrank.trials.auto import cluster
from argrank.trials.auto.blend import Blend, Estimate, compressed_estimate
from argrank.trials.auto.members import EFFORTS, MEMBERS, STAGES, STARTED, Folding, Member, is_large, member_of
from argrank.trials.auto.search import NOTES, Search, too_late
from argrank.trials.compress import follow, n_trees_of

GROWN = 10  # factor of ``max_trees`` for a blend that is compressed into one forest
GREATEST = 10.0  # largest value of features that linear members use unscaled
OWN_NOISE = (
    "The interval is for the mean over all queries of this kind; the mean of a test set has its own noise, about as "
    "much for the same number of queries."
)

Given = cluster.Given


class Budget(NamedTuple):
    """How many seeds and trees members may have."""

    seeds: int
    numbers: tuple[int, ...]  # of trees, at which they may stop


class MemberResult(NamedTuple):
    """The result of a member: share in the blend, mean of the scoring measure out of fold, trees, seconds.

    As for the blend's estimate, no query influences the number of trees with which it is evaluated.
    """

    name: str
    weight: float
    value: float
    n_trees: Count32 | None
    seconds: float
    refitted: bool


@dataclass(eq=False, repr=False, kw_only=True)
class Auto(BaseRanker):
    """Blend rankers of different kinds, chosen and weighted on held-out queries.

    LightGBM's trees on the squared error within queries, symmetric trees on this and on the logistic loss of pairs, and
    two linear rankers (ListNet, RankSVM) are trained in folds by query. If there are more than 20,000 documents and at
    least 400 queries, there is one holdout instead, and the trees are symmetric ones on the loss of pairs and on
    XE-NDCG, the latter also with a linear start. Trees grow until ``scoring`` on the held-out queries stops gaining.
    Weights maximise a listwise likelihood of the held-out scores, with a penalty on unequal weights that matters less
    the more queries there are. Every member is then fitted on all data, trees with three seeds (fewer for many trees on
    large data). The model is a weighted sum of the members' models and scores each document independently. Trees use
    missing values and texts directly; for linear members they are prepared, see ``prepare``.

    Ctrl-C and ``time_limit`` keep the best blend of the finished members; members that could not be refitted are then
    the mean of their folds' models.

    Parameters
    ----------
    scoring : str or Measure
        The measure that decides the number of trees, of the estimate, and of ``score``. The losses of the members and
        the weights do not depend on it: no way to have them optimise it gained out of fold on most sets.
    family
        Which members take part. A blend of trees is one forest and a linear one a single weight vector, which every
        search engine can express.
    members : sequence of names or rankers, optional
        Members to use instead of those of the family.
    effort
        "fast" blends the linear members with symmetric trees on one loss, one seed each, in a few seconds on small
        data; "best" has symmetric trees on XE-NDCG on any data, eight folds instead of four and five seeds instead of
        three.
    time_limit
        Seconds; None for no limit. Members grow while enough time remains to refit each of them with one seed; the
        remaining time is used for more seeds. Set it on large data.
    max_trees
        Most trees of the whole model, which bounds its size and the time of a prediction; None for no bound. The model
        is then a blend of few trees, or one forest of symmetric trees that follows a blend of up to ten times as many
        (see ``ar.compress``), whichever is better on the held-out queries; the former if time is short.
    n_folds
        Number of folds by query; None for that of the effort. More folds evaluate members by models trained on more
        data, at a higher cost.
    target : str, optional
        Engine that will serve the model, a name of ``ar.targets()``: only blends that it can express are used. If it
        supports trees or linear models, but no sum of both, the better of the two is used; if it supports only numbers,
        all members learn from the columns that it can compute for missing values and texts.
    random_state
        Seeds folds and members. Results are bit-identical for the same seed, for any order of queries and rows in
        memory, unless time runs out.

    Attributes
    ----------
    members_ : tuple of MemberResult
        Each member's result out of fold, and its weight.
    estimate_ : Estimate
        The mean of ``scoring`` over queries that did not influence trees and weights, with a 95 % interval for the mean
        over all queries of their kind. The mean of a test set has its own noise in addition.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 20, 5, random_state=1)
    >>> ranker = ar.make_ranker("auto", family="linear").fit(data)
    >>> [member.name for member in ranker.members_]
    ['listnet', 'rank-svm']
    >>> ranker.estimate_.low < ranker.estimate_.value < ranker.estimate_.high
    True
    """

    takes_missing: ClassVar[bool] = True
    takes_gains: ClassVar[bool] = True
    work: ClassVar[Work] = BLEND
    chooses_by_scoring: ClassVar[bool] = True

    scoring: Any = "ndcg@10"
    family: Literal["all", "trees", "linear"] = "all"
    members: Sequence[Any] | None = None
    effort: Literal["fast", "default", "best"] = "default"
    time_limit: Positive | None = None
    max_trees: Count | None = None
    n_folds: Annotated[int, AtLeast(2)] | None = None
    target: str | None = None
    random_state: Seed = 0

    def _arranged(self, data: Dataset) -> Dataset:
        """Return the data sorted by its content, so that folds do not depend on its order, unless memory is short."""
        return data if is_distributed(data) or size_of(data.X) > max_memory() else arranged(data, whole=True)

    @property
    def _minimised(self) -> str:
        trees = "" if self.family == "linear" else f", and {self._reported} chooses the numbers of trees"
        return f"the losses of its members{trees}"

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        before = watcher.seconds  # spent by earlier processes
        deadline = None if self.time_limit is None else time.perf_counter() - before + self.time_limit
        families = self._families()
        rankers = self._rankers(data, families)
        n_forests = sum("n_trees" in ranker.get_params() for ranker in rankers.values())
        few = self._budget(n_forests, self.max_trees)
        many = few if is_distributed(data) else self._budget(n_forests, self.max_trees and GROWN * self.max_trees)
        numbers = sorted({*few.numbers, *many.numbers})
        fold, member = (cluster.folding, cluster.member_of) if is_distributed(data) else (Folding.of, member_of)
        n_folds = EFFORTS[self.effort].n_folds if self.n_folds is None else self.n_folds
        folding = fold(cast(Any, data), n_folds, self.random_state)
        search = Search(watcher, self.verbose)
        waiting = [member(name, ranker, folding, self._reported, numbers) for name, ranker in rankers.items()]
        done, stop = search.run(waiting, deadline)
        blend, seeds = _best_blend(done, families, folding, self._reported), many.seeds
        estimate = blend.estimate
        if self.max_trees is not None and blend.n_trees(seeds) > self.max_trees:
            few_done = [member.within(few.numbers[-1]) for member in done]
            smaller = _best_blend(few_done, families, folding, self._reported)
            estimate = smaller.estimate
            if stop.is_done and folding.queries:
                late = partial(too_late, blend.chosen, deadline)
                try:
                    found = compressed_estimate(blend, folding, self._reported, self.max_trees, self.n_jobs, late)
                    stop, estimate = (Stop.TIME, estimate) if found is None else (stop, found)
                except KeyboardInterrupt:
                    stop = Stop.INTERRUPTED
            if not estimate.value > smaller.estimate.value:
                blend, seeds, done, estimate = smaller, few.seeds, few_done, smaller.estimate
        models, refitted, ended = search.refit(blend, data, seeds, deadline, hurry=stop is Stop.INTERRUPTED)
        stop = ended if stop.is_done else stop
        model: Model = blend.served(models, data)
        notes = [f"{member.name}: {note}" for member in done for note in member.notes]
        if self.max_trees is not None and not is_distributed(data) and n_trees_of(model) > self.max_trees:
            try:
                model = follow(model, data, self.max_trees, self.n_jobs)
                notes.append(f"one forest of {n_trees_of(model)} symmetric trees follows the blend")
            except KeyboardInterrupt:
                stop, estimate = Stop.INTERRUPTED, blend.estimate
                notes.append(f"interrupted: the blend of {n_trees_of(model)} trees was not compressed")
        if self.target is not None:
            model = suited(model, self.target)
        self.estimate_: Estimate = estimate
        self.members_ = _results(blend, done, refitted)
        self.notes_ = tuple(notes)
        scores = [part.scores_of(model) for part in watcher.validations]
        lacks = 1.0 - float(np.nan_to_num(estimate.value))  # all, if no query shows a difference
        watcher.record(scores, {"objective": lacks})
        return Outcome(model, lacks, np.nan, len(watcher.trace), stop, NOTES.get(stop))

    def summary(self) -> str:
        """Return a table of the members and the estimate of the blend."""
        rows = [
            (
                member.name,
                f"{member.weight:.3f}",
                measure_text(member.value),
                "" if member.n_trees is None else str(member.n_trees),
                f"{member.seconds:.1f}",
            )
            for member in self.members_
        ]
        head = ("member", "weight", str(self._reported), "trees", "seconds")
        optimised = f"optimised: no measure (it minimises {self._minimised}); reported: {self._reported}"
        notes = [f"The blend: {self.estimate_}. {OWN_NOISE}", f"{optimised}.", *self.notes_]
        return to_text([table(head, rows)], notes)

    def _summary(self, data: Dataset) -> dict[str, Any]:
        members = [json_value(member._asdict()) for member in self.members_]
        return {**super()._summary(data), "members": members, "estimate": json_value(self.estimate_._asdict())}

    def _restored(self, name: str, value: Any) -> Any:
        if name == "members_":
            return tuple(MemberResult(*one) for one in value)
        return Estimate(*value) if name == "estimate_" else super()._restored(name, value)

    def _families(self) -> tuple[str, ...]:
        """Return the candidate families."""
        if self.target is None:
            return (self.family,)
        able = blend_families(self.target)
        if not able:
            raise OptionError(f"target: expected one that takes linear models or trees, got {self.target!r}")
        if "all" in able:
            return (self.family,)
        chosen = able if self.family == "all" else tuple(one for one in able if one == self.family)
        if not chosen:
            raise OptionError(
                f"family: {self.target} expresses a blend of {' or '.join(able)} members, got {self.family!r}"
            )
        return chosen

    def _preparation(self, data: Dataset) -> Preparation | None:
        """Return the target's preparation for all members; without a target, linear members prepare their own."""
        if self.target is None or self.prepare != "auto" or is_distributed(data):
            return super()._preparation(data)
        return preparation_for(data, TARGETS[self.target].prepare or "auto", native=True)

    def _rankers(self, data: Dataset, families: tuple[str, ...]) -> dict[str, Any]:
        """Return the members by name and loss, with the threads and the seed of this ranker."""
        there = is_distributed(data)
        missing, greatest = cluster.extent(cast(Any, data)) if there else (has_missing(data.X), None)
        given = self.members
        if given is None:
            given = self._usual(data, families, missing)
        elif isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise OptionError(f"members: expected a list of names or rankers, got {shown(given)}")
        scaled: dict[str, Any] = {} if self._is_scaled(data, greatest) else {"normalise": "standard"}
        # for later data, or because the training part of a fold may have no missing values
        if not there and (missing or self.prepare == "always"):
            scaled["prepare"] = self.prepare and "always"
        shared = {"n_jobs": self.n_jobs, "random_state": self.random_state, "verbose": -1}
        rankers: dict[str, Any] = {}
        for one in given:
            name, ranker = _named(one)
            ranker = for_gains(ranker, data)
            known = ranker.get_params()
            ranker.set_params(**{key: value for key, value in shared.items() if key in known})
            if name in MEMBERS["linear"] and isinstance(one, tuple):
                ranker.set_params(**scaled)
            elif isinstance(one, str) and "prepare" in scaled and known.get("prepare") == "auto":
                ranker.set_params(prepare=scaled["prepare"])
            loss = known.get("objective")
            title = f"{name} on {loss}" if isinstance(loss, str) and loss != type(ranker).objective else name
            titles = (title, *(f"{title} {number}" for number in range(2, len(given) + 2)))
            rankers[next(free for free in titles if free not in rankers)] = ranker
        return rankers

    def _usual(self, data: Dataset, families: tuple[str, ...], missing: bool) -> Given:
        """Return the members of the families, only trees if missing values or texts are not prepared."""
        wanted = [one for one in MEMBERS if set(families) & {one, "all"}]
        whole, prepares = not missing and not data.categories, not is_distributed(data) and self.prepare is not None
        if not whole and not prepares and wanted == ["linear"]:
            refuse_texts(data, type(self).__name__)
            if not is_distributed(data):  # workers find missing values in the first pass
                refuse_missing(data)
        chosen = wanted if whole or prepares or wanted == ["linear"] else ["trees"]
        linear = list(MEMBERS["linear"].items()) if "linear" in chosen else []
        effort = EFFORTS[self.effort]
        if is_distributed(data):
            given = [*linear, *(effort.there if "trees" in chosen else ())]
            return self._grown(cluster.able(given, cast(Any, data)))
        trees = effort.large if data.gains is None and is_large(data) else effort.small
        given = [*linear, *(trees if "trees" in chosen else ())]
        if data.gains is not None:
            given = [one for one in given if takes_gains(one[1].get("objective", one[0]))]
        if not whole or self.prepare == "always" or "all" not in families:
            given = [one for one in given if one is not STARTED]
        return self._grown(given)

    def _grown(self, given: Given) -> Given:
        """Leave out LightGBM's trees if it is not installed and there are other members."""
        own = [one for one in given if not issubclass(ranker_class(one[0]), LightGBMRanker)]
        if len(own) < len(given):
            try:
                load_lightgbm()
            except MissingExtraError as error:
                if not own:
                    raise
                names = ", ".join(dict(own))
                warnings.warn(f"auto: {names} alone; {error}", ArgrankWarning, stacklevel=2)
                given = own
        linear = [one for one in given if one[0] in MEMBERS["linear"]]
        return given if self.max_trees is None else [*linear, *given[len(linear) :][: self.max_trees]]

    def _is_scaled(self, data: Dataset, greatest: float | None) -> bool:
        """Tell whether linear members can use the features unscaled; sparse ones stay sparse."""
        if data.is_sparse or self.normalise is not None:
            return True
        return bool((np.fmax.reduce(np.abs(data.X), axis=None) if greatest is None else greatest) <= GREATEST)

    def _budget(self, n_forests: int, max_trees: int | None) -> Budget:
        """Return seeds and stopping numbers of trees within a total number of trees."""
        usual = EFFORTS[self.effort].seeds
        if max_trees is None or n_forests == 0:
            return Budget(usual, STAGES)
        seeds = usual if max_trees >= usual * n_forests * STAGES[0] else 1
        most = max(1, max_trees // (seeds * n_forests))
        return Budget(seeds, (*(number for number in STAGES if number < most), min(most, STAGES[-1])))


def _best_blend(done: list[Member], families: tuple[str, ...], folding: Folding, scoring: Any) -> Blend:
    """Return the blend of the family with the best estimate."""
    blends = []
    for family in families:
        members = [member for member in done if family == "all" or member.family == family]
        if members:
            blends.append(Blend.of(members, folding, scoring))
    if not blends:
        kinds = ", ".join(f"{member.name} ({member.family})" for member in done)
        raise OptionError(f"members: expected one of family {' or '.join(families)}, got {shown(kinds)}")
    return max(blends, key=lambda blend: float(np.nan_to_num(blend.estimate.value, nan=-np.inf)))


def _results(blend: Blend, done: list[Member], refitted: list[bool]) -> tuple[MemberResult, ...]:
    shares = {id(member): share for member, share in zip(blend.members, blend.shares.tolist(), strict=True)}
    again = {id(member): one for member, one in zip(blend.members, refitted, strict=True)}
    return tuple(
        MemberResult(
            member.name,
            shares.get(id(member), 0.0),
            member.value,
            member.stages[member.best].n_trees,
            member.seconds,
            again.get(id(member), False),
        )
        for member in done
    )


def _named(given: Any) -> tuple[str, Any]:
    """Return name and a fresh ranker of a member, given by name, with parameters, or as an estimator."""
    from sklearn.base import clone

    if isinstance(given, tuple):
        name, parameters = given
        return name, make_ranker(name, **parameters)
    if isinstance(given, str):
        parameters = next((members[given] for members in MEMBERS.values() if given in members), {})
        return given, make_ranker(given, **parameters)
    if isinstance(given, BaseRanker):
        return registered_name(given), clone(given)
    raise OptionError(f"members: expected names or rankers, got {shown(given)}")
