"""Judgements from simulated logs of the bundled shop against its true labels, as clicks grow.

    python -m experiments.clicks.agreement            # two minutes; writes agreement.md beside this file

Pages are those of bm25_title, varied a little; readers follow the position-based model, or the dynamic one (dbn). For
each method: the mean over queries of Kendall's tau-b between value and label of the documents that were shown, and of
NDCG@10 of ranking these documents by their values. Means over five logs, with the standard error over logs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

import argrank as ar
from argrank._tables import table, to_markdown

SESSIONS = (1_000, 10_000, 100_000)
READERS = ("pbm", "dbn")
METHODS = {"naive CTR": "ctr", "COEC": "coec", "examinations (harvest)": "examinations", "PBM": "pbm", "SDBN": "sdbn"}
LOGS = 5


def agreement(data: ar.Dataset, label: dict[str, float], log: ar.Clicks, method: str) -> tuple[float, float]:
    """Return mean Kendall's tau-b and NDCG@10 over the queries of a log with more than one label."""
    curve = {"propensities": ar.propensities(log)} if method == "examinations" else {}
    taus, truth, run = [], {}, {}
    for qid, values in ar.judgements(log, method, **curve).to_qrels().items():
        labels = [label[document] for document in values]
        if len(set(labels)) < 2:
            continue
        tau = stats.kendalltau(list(values.values()), labels).statistic
        taus.append(0.0 if np.isnan(tau) else tau)  # equal values give no ranking
        truth[qid] = dict(zip(values, labels, strict=True))
        run[qid] = values
    ndcg = ar.evaluate(run, truth, ["ndcg@10"]).means["ndcg@10"]
    return float(np.mean(taus)), float(ndcg)


def main() -> None:
    """Write the table."""
    data = ar.load_bundled()
    ids = data.document_ids.tolist()
    label = dict(zip(map(str, ids), data.y.tolist(), strict=True))
    scores = data.to_caller(data.X[:, data.feature_names.index("bm25_title")])
    rows = []
    for reader in READERS:
        for n_sessions in SESSIONS:
            logs = [
                ar.simulate_clicks(data, scores, reader, n_sessions=n_sessions, vary=0.5, random_state=seed)
                for seed in range(LOGS)
            ]
            clicks = np.mean([log.n_clicks for log in logs])
            for name, method in METHODS.items():
                found = np.array([agreement(data, label, log, method) for log in logs])
                error = found.std(axis=0, ddof=1) / np.sqrt(LOGS)
                cells = [f"{mean:.3f} ± {one:.3f}" for mean, one in zip(found.mean(axis=0), error, strict=True)]
                rows.append((reader, f"{clicks:,.0f}", name, *cells))
                print(*rows[-1], flush=True)
    text = to_markdown([table(("readers", "clicks", "judgements", "Kendall's tau", "NDCG@10"), rows, 3)])
    Path(__file__).with_name("agreement.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
