"""BaseRanker: the base class of rankers, from the caller's arrays to a model."""

from __future__ import annotations

import contextlib
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from argrank._blas import single_threaded_blas
from argrank._declared import Count, Jobs, Positive, checked
from argrank._json import json_value
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.frames import columns_of, is_frame, select_columns
from argrank.data.prepare.normalise import Normaliser, normaliser
from argrank.data.prepare.preparation import Preparation, Prepare, preparation_for
from argrank.engines import AnyRisk, Data, DistributedDataset, is_distributed, make_risk
from argrank.errors import ArgrankError, FormatError, InputError, ModelError, OptionError, warn
from argrank.evaluation.evaluate import mean_of
from argrank.models.importance import importances, importances_of
from argrank.models.linear import LinearModel
from argrank.models.model import Model, fitted_model
from argrank.models.sum import SumModel
from argrank.models.symmetric import SymmetricTrees
from argrank.models.tree_classes import TreeClassesModel
from argrank.models.trees import TreeModel
from argrank.objectives.objective import Objective
from argrank.rankers.checkpoint import Checkpoint, identity, model_from, model_state, storable
from argrank.rankers.estimator import Estimator, Reporting, check_parameters, rules_of
from argrank.rankers.trace import Outcome, Trace, Validation, Watcher
from argrank.rankers.training_data import (
    LINEAR,
    Work,
    check_cluster,
    check_training,
    check_working_memory,
    eval_parts,
    for_gains,
    nothing_to_learn,
    training_data,
)
from argrank.solvers.problem import Stop

NO_QUERIES = (
    "score: expected query ids, got none; give a data frame with a column 'qid' as X, or, in searches and pipelines, "
    "sklearn.set_config(enable_metadata_routing=True) and qid=…; qid='single' if all rows are one query"
)
#: Attributes of all fits.
COMMON = (
    "model_", "objective_", "gap_", "n_iter_", "stop_", "stayed_", "trace_", "n_features_in_", "feature_names_in_"
)  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class BaseRanker(Reporting, Estimator[Model]):
    """A ranker that follows the conventions of scikit-learn's estimators.

    A subclass is a dataclass whose fields are further parameters, and trains a model on a Dataset in ``_train``.

    Parameters
    ----------
    scoring : str or Measure, optional
        What ``score`` and the validation column of ``trace_`` report; None for the measure that is optimised, with the
        ranker's own gain, discount and relevant_at, and "ndcg@10" where none is.
    prepare
        How missing values and texts are handled, fitted on the training data and stored with the model. "auto": trees
        use both as they are; for other rankers a missing value becomes the feature's median, with a column that marks
        missing values, and a text becomes a 0/1 column for each of its up to 100 most frequent values. "always" does so
        even if no training value is missing, for future data; trees then have no linear start, which could not score
        it. For engines without texts: "one-hot" gives trees such columns too, and with "zero" a missing value is 0,
        without a column. With None both are errors, unless the ranker supports them.

    Notes
    -----
    Attributes after fit: ``model_``, ``coef_`` (linear models), ``objective_``, ``gap_``, ``n_iter_``, ``stop_`` (why
    it ended), ``stayed_`` (if the model is that of another method, or near it), ``trace_``, ``feature_importances_``,
    ``n_features_in_`` and, for data with names, ``feature_names_in_``.
    """

    takes_datasets: ClassVar[bool] = True
    uses_row_weights: ClassVar[bool] = False
    takes_missing: ClassVar[bool] = False
    takes_preferences: ClassVar[bool] = False
    takes_gains: ClassVar[bool] = False  # whether it learns from rows' own gains, such as those from clicks
    fits_labels: ClassVar[bool] = False  # each by itself, whatever the query
    compares: ClassVar[bool] = False  # whether its model does, see Model.compares
    scales_lazily: ClassVar[bool] = False
    work: ClassVar[Work] = LINEAR  # memory of a fit in addition to its data

    scoring: Any = None
    normalise: str | None = None
    prepare: Prepare = "auto"
    n_jobs: Jobs = None
    verbose: int = 0

    # qid is routed to fit and score in pipelines and searches by default
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    @abstractmethod
    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        """Learn from checked, normalised data, if possible from the weights ``start``."""

    def _objective(self) -> Objective:
        """Return the function of scores that is minimised; rankers that search the measure itself have none."""
        raise OptionError(f"{type(self).__name__} has no objective: it minimises no function of the scores")

    @checked
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: Positive = 600.0,
    ) -> BaseRanker:
        """Learn from judged data.

        Parameters
        ----------
        X : Dataset, DistributedDataset, array, sparse matrix or data frame
            A Dataset includes its labels and queries; in a data frame they are the columns ``label`` and ``qid``.
        y : array of labels, one per row
        qid : query id per row, any type, rows in any order; or
        group : sizes of the queries, for rows that are together (LightGBM, PyTerrier)
        sample_weight : weight per row, an error for rankers that do not support it
        query_weight : weight per query, in order of first appearance
        eval_set : Dataset, or list of Datasets or of (X, y) pairs
            Data on which ``scoring`` is computed after every iteration (``trace_["validation"]``).
        eval_qid, eval_group : list of ids or of sizes, one for each (X, y) pair
        checkpoint : path, optional
            File for the state of the fit while it runs. A fit with the same parameters and data continues from it, with
            bit-identical results; a finished fit is read from it.
        every : float
            Seconds between two checkpoints; it is also written on Ctrl-C.
        """
        check_parameters(self)
        data = training_data(X, y, qid, group, sample_weight, query_weight)
        stand_in = for_gains(self, data)
        if stand_in is not self:
            given = {"eval_set": eval_set, "eval_qid": eval_qid, "eval_group": eval_group}
            stand_in.fit(data, **given, checkpoint=checkpoint, every=every)
            for name, value in vars(stand_in).items():
                if name.endswith("_"):
                    setattr(self, name, value)
            return self
        if is_distributed(data):
            check_cluster(self, checkpoint)
        check_training(self, data)
        missing = nothing_to_learn(self, data)
        if missing is not None:
            warn(f"{type(self).__name__}: nothing to learn: {missing}")
        self._remember_features(X, data)
        parts = eval_parts(eval_set, eval_qid, eval_group)
        keeper = None if checkpoint is None else Checkpoint(checkpoint, every, identity(self, data, parts))
        return self._fit(data, parts, keeper=keeper)

    def _fit(
        self,
        data: Dataset,
        validations: list[Dataset],
        start: Floats | None = None,
        keeper: Checkpoint | None = None,
    ) -> BaseRanker:
        """Learn from checked data; ``start`` is where a regularisation path left off."""
        validations = [part._like(data) for part in validations]
        for part in validations:
            if part.n_features != data.n_features:
                raise InputError(
                    f"eval_set: expected {data.n_features} features, as in training, got {part.n_features}"
                )
        check_working_memory(self, data)
        given, data = data, self._arranged(data)
        preparation, prepared = self._preparation(data), data
        if preparation is not None:
            prepared, *validations = (preparation.transform(part) for part in (data, *validations))
        scaling = self._scaling(prepared)
        if scaling is not None:
            prepared, *validations = (self._scaled(scaling, part) for part in (prepared, *validations))
        watching = Watcher(type(self).__name__, self._validations(validations), self.verbose)
        # a solver's own vectors are short: more BLAS threads would be slower
        with single_threaded_blas(), watching as watcher:
            if keeper is None:
                outcome = self._train(prepared, watcher, start)
            else:
                with _usable(keeper):
                    outcome = self._kept(keeper, prepared, watcher, start)
        self._refuse_useless(outcome.model, data)
        for note in (*watcher.notes, *([] if outcome.note is None else [outcome.note])):
            warn(f"{type(self).__name__}: {note}")
        self.objective_, self.gap_, self.n_iter_ = outcome.objective, outcome.gap, outcome.n_iter
        self.stop_, self.stayed_ = outcome.stop, outcome.stayed
        self.trace_: Trace = watcher.trace
        served = replace(
            outcome.model,
            feature_names=data.feature_names,
            categories=data.categories,
            dates=data.dates,
            preparation=preparation,
            normaliser=scaling,
            training=self._summary(given),
        )
        shares = None if is_distributed(data) else importances(served, data)
        self.model_ = replace(served, feature_importances=shares)
        return self

    def _kept(self, keeper: Checkpoint, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        """Train with a checkpoint; a finished training is read from it."""
        found = keeper.attach(watcher)
        if found is not None:
            watcher.notes += found["notes"]
            for name, value in found["fitted"].items():
                setattr(self, name, self._restored(name, value))
            return Outcome.restored(model_from(found["model"]), found)
        outcome = self._train(data, watcher, start)
        if outcome.stop is Stop.INTERRUPTED:
            keeper.close(None)
            return outcome
        own = {name: value for name, value in vars(self).items() if name.endswith("_") and name not in COMMON}
        fitted = {name: value for name, value in own.items() if storable(value)}
        with contextlib.suppress(ModelError):  # useless models are refused below
            model = model_state(outcome.model)
            keeper.close({**outcome.numbers(), "model": model, "fitted": fitted, "notes": watcher.notes})
        return outcome

    def _restored(self, name: str, value: Any) -> Any:
        """Return a fitted attribute from a checkpoint, as ``_train`` sets it."""
        return tuple(value) if isinstance(value, list) else value

    def _refuse_useless(self, model: Model, data: Dataset) -> None:
        """Raise if weights are not finite, and warn of trees that give every document the same score."""
        weights = model.weights if isinstance(model, LinearModel | SumModel | TreeClassesModel) else None
        if weights is not None and not np.isfinite(weights).all():
            raise InputError(
                f"X: {type(self).__name__} expected features of ordinary size, got ones whose weights overflow; "
                f"scale them (normalise='standard')"
            )
        trees = model.trees if isinstance(model, TreeModel | SymmetricTrees) else None
        if trees is not None and data.n_documents > 1 and all(tree.n_leaves == 1 for tree in trees):
            why = "there are too few documents for min_documents in a leaf, or no feature distinguishes them (numbers "
            why = f"{why}below 1e-35 count as 0)" if isinstance(model, TreeModel) else "no feature distinguishes them"
            name = type(self).__name__
            warn(f"{name}: no tree found a split, so all documents get the same score; {why}")

    @checked
    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> Any:
        """Return one score per row, in the caller's row order; ``qid`` only if features are scaled per query.

        Scores of a DistributedDataset stay on the cluster; their ``compute()`` returns the array.
        """
        check_is_fitted(self)
        if isinstance(X, DistributedDataset):
            return X.predict(self.model_)
        if not isinstance(X, Dataset) and not is_frame(X) and getattr(X, "ndim", 2) == 2:
            try:
                validate_data(self, X, reset=False, skip_check_array=True)
            except ArgrankError:
                raise
            except (ValueError, TypeError, LookupError) as error:  # scikit-learn's about features
                raise InputError(f"X: {error}" if isinstance(error, LookupError) else str(error)) from error
        return self.model_.predict(X, qid=qid, group=group)

    @checked
    def rank(
        self,
        X: Any,
        *,
        qid: Any = None,
        group: Any = None,
        sources: Any = None,
        diverse: bool | Count = False,
        k: Count | None = None,
    ) -> list[Integers]:
        """Return the caller's row numbers, best first, one array per query.

        ``diverse`` allows at most one document (or the given number) of each source in the first k ranks, or with
        k=None as long as there are sources; the others follow by score. It needs ``sources``, one per row, or a Dataset
        that has them.
        """
        check_is_fitted(self)
        return self.model_.rank(X, qid=qid, group=group, sources=sources, diverse=diverse, k=k)

    @checked
    def score(self, X: Any, y: Any = None, *, qid: Any = None, group: Any = None, sample_weight: Any = None) -> float:
        """Return the mean on judged data of the measure that this ranker reports, see ``scoring``.

        Without query ids it is an error: all rows as one query would give another number than the mean over queries.
        ``qid="single"`` means that they are one query. Pipelines always pass a ``sample_weight``, which a measure
        cannot use, so only None is accepted.
        """
        check_is_fitted(self)
        if sample_weight is not None:
            raise InputError("sample_weight: a ranking measure cannot use weights per row; see query_weight")
        without = not isinstance(X, Dataset | DistributedDataset) and qid is None and group is None
        if without and not (is_frame(X) and "qid" in columns_of(X, () if y is None else ["label"])):
            raise InputError(NO_QUERIES)
        data = X if isinstance(X, Dataset | DistributedDataset) else Dataset(X, y, qid, group=group)
        ranker = for_gains(self, data)
        return mean_of(self.predict(data), data, ranker._reported, **rules_of(ranker))

    @checked
    def risk(self, data: Data) -> AnyRisk:
        """Return what this ranker minimises on the data, without the regulariser; fitted or not."""
        fitted, data = self.__sklearn_is_fitted__(), cast(Dataset, data)
        preparation = self.model_.preparation if fitted else self._preparation(data)
        prepared = data if preparation is None else preparation.transform(data)
        scaling = self.model_.normaliser if fitted else self._scaling(prepared)
        prepared = prepared if scaling is None else self._scaled(scaling, prepared)
        return make_risk(prepared, for_gains(self, data)._objective(), self.n_jobs)

    @checked
    def shap_values(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return the SHAP values of the features, one row for each row of X in the caller's order.

        A row sums to its score, up to a constant that is the same for all rows. Linear models, trees and their sums
        have them; ``qid`` only if features are scaled per query.
        """
        check_is_fitted(self)
        return self.model_.shap_values(X, qid=qid, group=group)

    def summary(self) -> str:
        """Return a short summary of the fit: what was optimised, how it ended, whether it kept its start."""
        check_is_fitted(self)
        ended = f"objective {self.objective_:.6g} after {self.n_iter_} iterations, {self.stop_.value}"
        what = self._optimised or f"no measure (it minimises {self._minimised})"
        optimised = f"optimised: {what}; reported: {self._reported}"
        stayed = [] if self.stayed_ is None else [f"It {self.stayed_}."]
        return "\n".join([f"{type(self).__name__}: {ended}", optimised, *stayed])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(super().__repr__(N_CHAR_MAX))
        return text if self.stayed_ is None else f"{text}, which {self.stayed_}"

    @property
    def feature_importances_(self) -> Floats:
        """The share of every feature: its mean absolute contribution to scores, relative to the mean of the query.

        It is computed on whole queries of up to 2,000 documents of the training data and stored in the model. Trees
        also have the gain of their splits: ``model_.importances("gain")``.
        """
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no feature_importances_: it is not fitted")
        return importances_of(self.model_)

    @property
    def coef_(self) -> Floats:
        """Weights of a linear model, for features as prepared and normalised; ``model_.column_names`` names them."""
        model = fitted_model(self)
        if not isinstance(model, LinearModel):
            raise AttributeError(f"{type(self).__name__} has no coef_: it is not fitted, or its model is not linear")
        return model.weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.takes_missing or self.prepare is not None
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def _remember_features(self, X: Any, data: Dataset) -> None:
        if not isinstance(X, Dataset | DistributedDataset):
            names = data.feature_names or ()
            validate_data(self, select_columns(X, names) if is_frame(X) else X, reset=True, skip_check_array=True)
            return
        self.n_features_in_ = data.n_features
        if data.feature_names is not None:
            self.feature_names_in_ = np.array(data.feature_names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _arranged(self, data: Dataset) -> Dataset:
        """Return the data in the order used for training: as given."""
        return data

    def _preparation(self, data: Dataset) -> Preparation | None:
        """Return the preparation of columns, if this ranker or its target engine needs one."""
        if self.prepare is None or is_distributed(data):
            return None
        return preparation_for(data, self.prepare, self.takes_missing)

    def _scaling(self, data: Dataset) -> Normaliser | None:
        if self.normalise is None:
            return None
        found = normaliser(self.normalise)
        if not is_distributed(data):
            return found.fit(data)
        self._check_there(found, data)
        return found.fit(data, cast(DistributedDataset, data).over_features)

    def _check_there(self, scaling: Normaliser, data: Any) -> None:
        """Raise for a normaliser that would need a copy of features on a cluster."""
        if scaling.name != data.normalised and (scaling.needs_queries or not self.scales_lazily):
            raise OptionError(
                f"normalise: expected None on a cluster, the normaliser of the pack, or for linear rankers one over "
                f"all data, got {scaling.name!r}; normalise within queries while packing (argrank pack --normalise "
                "query-minmax); trees need none"
            )

    def _scaled(self, scaling: Normaliser, data: Dataset) -> Dataset:
        """Return normalised data; linear rankers scale mapped features on access, others need a copy."""
        if is_distributed(data):
            self._check_there(scaling, data)
            return data if data.normalised == scaling.name else cast(Any, data).scaled(scaling)
        if self.scales_lazily:
            return scaling.prepare(data)
        return scaling.transform(data, np.float32 if self.compares else None)

    def _validations(self, parts: list[Dataset]) -> list[Validation]:
        names = ["validation" if i == 0 else f"validation_{i}" for i in range(len(parts))]
        return [Validation(name, part, self._judge(part)) for name, part in zip(names, parts, strict=True)]

    def _judge(self, part: Any) -> Callable[[Floats], float]:
        """Return a function that evaluates scores of a part's rows, or on a cluster a model."""
        rules = rules_of(self)
        if isinstance(part, DistributedDataset):
            return lambda model: mean_of(model, part, self._reported, **rules)
        return lambda scores: mean_of(part.to_caller(scores), part, self._reported, **rules)

    def _summary(self, data: Dataset) -> dict[str, Any]:
        """Return the training summary for the model file."""
        parameters = {name: json_value(value) for name, value in self.get_params(deep=False).items()}
        return {
            "ranker": type(self).__name__,
            "parameters": parameters,
            "optimised": None if self._optimised is None else str(self._optimised),
            "stayed": None if self.stayed_ is None else json_value(self.stayed_._asdict()),
            "objective": json_value(self.objective_),
            "iterations": self.n_iter_,
            "queries": data.n_queries,
            "documents": data.n_documents,
            "data": data.fingerprint,
        }


@contextlib.contextmanager
def _usable(keeper: Checkpoint) -> Iterator[None]:
    """Report errors of a resumed fit as errors of the file: it may be well-formed but hold invalid values."""
    try:
        yield
    except ArgrankError:
        raise
    except Exception as error:
        if not keeper.goes_on:
            raise
        got = f"{type(error).__name__}: {error}; remove it to start again"
        raise FormatError(keeper.path, None, "a state from which this fit can continue", got) from error
