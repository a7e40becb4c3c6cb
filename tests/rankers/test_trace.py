from __future__ import annotations

import numpy as np

import argrank as ar


def test_a_trace_as_a_data_frame():
    data = ar.make_ranking(10, 5, 3, random_state=0)
    trace = ar.make_ranker("svm-auc").fit(data, eval_set=data).trace_
    frame = trace.to_pandas()
    assert list(frame.columns) == trace.columns
    for name in trace.columns:
        np.testing.assert_array_equal(frame[name], trace[name])
