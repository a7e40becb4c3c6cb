"""SQL: a linear model as one expression over the columns of a table, computed in double precision."""

from __future__ import annotations

import re

import numpy as np

import argrank as ar

TERM = re.compile(r'(\S+) \* \(\(COALESCE\("((?:[^"]|"")*)", 0\) - (\S+)\) / (\S+)\)')


class Sql:
    """Writes a query, and scores rows as it does."""

    def write(self, plain, options):
        """Return the query; names are quoted, and a quote in a name is doubled."""
        if any(ord(letter) < 32 for name in options.features for letter in name):
            raise ar.errors.ModelError("sql: expected names of columns without control characters; give features=[…]")
        if len(set(options.features)) < len(options.features) or not all(name.strip() for name in options.features):
            raise ar.errors.ModelError("sql: expected different names of columns, none empty; give features=[…]")
        linear = plain.linear
        columns = zip(
            options.features, linear.weights.tolist(), linear.shift.tolist(), linear.scale.tolist(), strict=True
        )
        terms = [
            f"{weight!r} * ((COALESCE({_quoted(name)}, 0) - {shift!r}) / {scale!r})"
            for name, weight, shift, scale in columns
            if weight != 0
        ]
        expression = " +\n  ".join(terms) or "0.0"
        return {"model.sql": f"SELECT\n  {expression}\n  AS score\n".encode()}

    def simulate(self, files, options, X):
        """Score rows from the written query, in double precision."""
        place = {name: column for column, name in enumerate(options.features)}
        total = np.zeros(len(X))
        for weight, name, shift, scale in TERM.findall(files["model.sql"].decode()):
            values = np.nan_to_num(X[:, place[name.replace('""', '"')]], nan=0.0)
            total += float(weight) * ((values - float(shift)) / float(scale))
        return total


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


SQL = Sql()
ar.register_target("sql", SQL, title="SQL expression", takes=("linear",), singles=False)
