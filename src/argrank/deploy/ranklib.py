"""RankLib's text: Coordinate Ascent for linear models, LambdaMART for trees; feature 1 is the first one.

RankLib has no normaliser and no missing values. A normaliser is folded into the weights, without loss as it sums in
float64; the remaining constant changes no ranking. Trees compare ``x <= threshold`` in float32. Tested against
RankLib's own code.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.options import Files, Options, singles
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.formats.ranklib import LINEAR, ensemble_text, linear_pairs, linear_text, parse_ensemble

README = """\
RankLib:                         java -jar RankLib.jar -load model.txt -rank documents.txt -score scores.txt
Elasticsearch and OpenSearch:    model type "model/ranklib", the text of model.txt as its definition
Features by number, 1 first:
{features}
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the model and the names of its feature numbers."""
    if plain.linear is not None:
        weights = plain.linear.weights / plain.linear.scale
        singles(weights, "weights")
        text = linear_text(weights)
    elif plain.forest is not None:
        if plain.trained_with_missing and options.missing == "as-trained":
            raise ModelError(
                "these trees have their own branches for missing values and RankLib has none: a missing feature is 0 "
                'there; give missing="zero" (--missing zero) if that is intended'
            )
        thresholds, values = cuts.writable(plain.forest.cut).tolist(), singles(plain.forest.value, "leaves")
        text = ensemble_text(plain.forest, thresholds, values)
    listed = "\n".join(f"{number} {name}" for number, name in enumerate(options.features, 1))
    return {"model.txt": text.encode(), "README.txt": README.format(features=listed).encode()}


def constant(plain: Plain) -> float:
    """Return the constant that the folded weights omit."""
    if plain.linear is None:
        return plain.constant
    return plain.constant - float((plain.linear.weights / plain.linear.scale * plain.linear.shift).sum())


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written text as RankLib does: float32 features, linear sums in float64, trees in float32."""
    text = files["model.txt"].decode()
    rows = np.nan_to_num(X.astype(np.float32), nan=0.0)
    if text.startswith(LINEAR):
        total = np.zeros(len(rows))
        for number, weight in linear_pairs(text.splitlines(), "model.txt"):
            total += weight * rows[:, number - 1].astype(np.float64)
        return total.astype(np.float32).astype(np.float64)
    return parse_ensemble(text).sums(rows, np.float32)


WRITER = Writer(write, simulate, constant=constant, missing_is_zero=True)
