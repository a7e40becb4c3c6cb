"""Import models of other libraries as argrank models."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from argrank._declared import checked
from argrank._files import refuse_endless
from argrank._memory import check_memory
from argrank.deploy import cuts
from argrank.deploy.lightgbm import tree_of
from argrank.errors import ArgrankError, ModelError, check_name
from argrank.models.forest import Forest
from argrank.models.formats import catboost, lightgbm, xgboost
from argrank.models.formats.ranklib import parse_ensemble, read_ranklib
from argrank.models.model import Model
from argrank.models.tree import Tree, tree_number
from argrank.models.trees import TreesModel

LARGEST = 1 << 30  # bytes; larger files are not read
TEXT_COST = 4.0  # bytes of memory for a byte of the lines of LightGBM and RankLib; JSON is counted as it is read


@checked
def import_model(path: str | os.PathLike[str], format: str | None = None) -> Model:  # noqa: A002 (the word of ar.load)
    """Read a model that XGBoost, LightGBM, CatBoost or RankLib saved; nothing in the file is executed.

    Scores are those of the library, without the constant that it adds to all documents (XGBoost's ``base_score``,
    CatBoost's bias). All numbers are checked; models that would score differently raise an error with the reason.

    Parameters
    ----------
    path : path
        XGBoost: ``save_model`` to .json or .ubj. LightGBM: ``save_model``. CatBoost: ``save_model(format="json")``.
        RankLib: its text, linear or trees.
    format : str, optional
        "xgboost", "lightgbm", "catboost" or "ranklib"; by default detected from the contents.
    """
    if format is not None:
        check_name("format", format, READERS)
    place = Path(path)
    try:
        refuse_endless(place)
        if place.stat().st_size > LARGEST:
            raise ModelError(f"expected at most {LARGEST:,} bytes, got {place.stat().st_size:,}")
        check_memory("model", TEXT_COST * place.stat().st_size, "take a smaller file")
        content = place.read_bytes()
        return READERS[format or _format(content)](content, place)
    except ArgrankError as error:
        message = str(error).removeprefix(f"{os.fspath(path)}: ")
        raise ModelError(f"{os.fspath(path)}: not imported: {message}") from error
    except (ValueError, KeyError, IndexError, TypeError, RecursionError, OverflowError) as error:
        raise ModelError(f"{os.fspath(path)}: not imported: the file is damaged: {error}") from error
    except OSError as error:
        raise ModelError(f"{os.fspath(path)}: not imported: {error.strerror}") from error


def _format(content: bytes) -> str:
    start = content[:4096].lstrip()
    if start.startswith(b"##"):
        return "ranklib"
    if start.startswith(b"tree"):
        return "lightgbm"
    if start.startswith(b"{"):
        return "catboost" if b'"oblivious_trees"' in content or b'"features_info"' in content else "xgboost"
    raise ModelError("expected a model of XGBoost, LightGBM, CatBoost or RankLib")


def _xgboost(content: bytes, path: Path) -> Model:
    return _boosted(xgboost.parse(content), np.less, "XGBoost")


def _ranklib(content: bytes, path: Path) -> Model:
    text = content.decode("utf-8")
    if "<ensemble>" not in text:
        return read_ranklib(path)
    forest = parse_ensemble(text)
    trees = _trees(forest, np.less_equal)
    for tree in trees:
        tree.missing[:] = 0  # NaN counts as 0
    return TreesModel(trees, int(forest.feature.max(initial=0)) + 1, training={"ranker": "RankLib"})


def _catboost(content: bytes, path: Path) -> Model:
    return _boosted(catboost.parse(content), np.less_equal, "CatBoost")


def _boosted(found: xgboost.Booster, goes_left: np.ufunc, ranker: str) -> Model:
    trees, training = _trees(found.forest, goes_left), {"ranker": ranker, **found.left_out}
    return TreesModel(trees, found.n_features, feature_names=found.names, training=training)


def _lightgbm(content: bytes, path: Path) -> Model:
    text = content.decode("utf-8")
    read = lightgbm.read(text)
    if "\nend of trees" not in text:
        raise ModelError("expected the line 'end of trees': the file was cut off")
    if read.n_outputs != 1 or not read.trees:
        raise ModelError(f"expected trees with one output, got {read.n_outputs} outputs, {len(read.trees)} trees")
    if len(set(read.feature_names)) < len(read.feature_names):
        raise ModelError("feature_names: expected different names")
    n_features = len(read.feature_names)
    for number, tree in enumerate(read.trees):
        with tree_number(number):
            tree.check(n_features)
    return TreesModel(tuple(read.trees), n_features, feature_names=read.feature_names, training={"ranker": "LightGBM"})


def _trees(forest: Forest, goes_left: np.ufunc) -> tuple[Tree, ...]:
    """Return trees with float64 thresholds, given how the library compares float32 values with its cuts."""
    thresholds = cuts.double_of_single(lambda x: np.asarray(goes_left(x, forest.cut)), len(forest.cut))
    trees = tuple(tree_of(replace(forest, cut=thresholds), root) for root in forest.roots.tolist())
    if not all(np.isfinite(tree.value).all() for tree in trees):
        raise ModelError("leaves: expected finite numbers")
    return trees


READERS: dict[str, Callable[[bytes, Path], Model]] = {
    "catboost": _catboost,
    "lightgbm": _lightgbm,
    "ranklib": _ranklib,
    "xgboost": _xgboost,
}
