"""The page of the documentation: what was measured, set by set, and where others are better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argrank.evaluation.significance import holm, paired_t
from benchmarks.peers.tools import N_TREES, PATIENCE, SETTINGS

OURS = "argrank auto, default"
Rows = Sequence[Mapping[str, Any]]


def by_system(rows: Rows) -> dict[str, dict[str, dict[int, Mapping[str, Any]]]]:
    """Return set -> tool and mode -> fold -> row."""
    found: dict[str, dict[str, dict[int, Mapping[str, Any]]]] = {}
    for row in rows:
        system = f"{row['tool']}, {row['mode']}"
        found.setdefault(row["set"], {}).setdefault(system, {})[row["fold"]] = row
    return found


def values_of(folds: Mapping[int, Mapping[str, Any]]) -> np.ndarray:
    """Return the values of all tested queries, fold after fold, None as NaN."""
    return np.array([value for fold in sorted(folds) for value in folds[fold]["values"]], float)


def differences(systems: Mapping[str, Mapping[int, Any]], baseline: str) -> dict[str, tuple[float, float, float]]:
    """Return mean, standard error and p of baseline minus each system that has the same folds, Holm's correction."""
    base, found, p = values_of(systems[baseline]), {}, []
    for name, folds in systems.items():
        if name == baseline or set(folds) != set(systems[baseline]):
            continue
        gap = base - values_of(folds)
        gap = gap[~np.isnan(gap)]
        found[name] = (float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap))), np.nan)
        p.append(float(paired_t(gap[:, None])[0]))
    corrected = holm(np.array(p)) if p else []
    return {name: (*found[name][:2], float(one)) for name, one in zip(found, corrected, strict=True)}


def page(rows: Rows) -> str:
    """Return the page as Markdown."""
    sets = by_system(rows)
    lines = [
        "# Peers",
        "",
        "Written by `make bench-peers`; every run is a process of its own on one thread. Quality is NDCG@10 on the",
        "test queries of all folds, measured by `ar.evaluate` for every tool. *Default* is the tool as it comes,",
        f"trained on the training part. *Tuned* is the best of {len(SETTINGS)} settings on the validation part, up to",
        f"{N_TREES} trees, stopped after {PATIENCE} without a gain there. Differences are auto minus the other, ± one",
        "standard error over queries; p by a paired t-test with Holm's correction within a set.",
        "",
    ]
    gaps: dict[str, list[tuple[float, float]]] = {}
    better: list[str] = []
    for name, systems in sets.items():
        complete = max(len(folds) for folds in systems.values())
        lines += [f"## {name}", "", "| | NDCG@10 | auto ahead by | p | CPU s | MB |", "|---|--:|--:|--:|--:|--:|"]
        gap = differences(systems, OURS) if OURS in systems else {}
        order = sorted(systems, key=lambda system: -float(np.nanmean(values_of(systems[system]))))
        for system in order:
            folds = systems[system]
            mean = float(np.nanmean(values_of(folds)))
            cpu = float(np.mean([row["cpu"] for row in folds.values()]))
            memory = max(row["megabytes"] for row in folds.values())
            ahead = chance = ""
            if system in gap:
                ahead, chance = f"{gap[system][0]:+.4f} ± {gap[system][1]:.4f}", f"{gap[system][2]:.3f}"
                gaps.setdefault(system, []).append(gap[system][:2])
                if gap[system][0] < -gap[system][1]:
                    better.append(f"{system} on {name} (by {-gap[system][0]:.4f} ± {gap[system][1]:.4f})")
            note = "" if len(folds) == complete else f" ({len(folds)} of {complete} folds)"
            lines.append(f"| {system}{note} | {mean:.4f} | {ahead} | {chance} | {cpu:.1f} | {memory:.0f} |")
        lines.append("")
    lines += ["## Over all sets", "", "| auto ahead of | sets | mean difference | p |", "|---|--:|--:|--:|"]
    for system, pairs in gaps.items():
        means, errors = np.array(pairs).T
        mean, error = means.mean(), float(np.sqrt((errors**2).sum()) / len(errors))
        lines.append(f"| {system} | {len(pairs)} | {mean:+.4f} ± {error:.4f} | {_p(mean, error):.3f} |")
    said = "; ".join(better) if better else "on none of these sets by more than one standard error"
    lines += ["", f"Others are better: {said}.", "", "![NDCG@10 against CPU seconds](peers.png)", ""]
    return "\n".join(lines)


def _p(mean: float, error: float) -> float:
    """Return the two-sided p of a normal mean."""
    from scipy.special import ndtr

    return float(2.0 * ndtr(-abs(mean) / error)) if error > 0 else 1.0


def plot(rows: Rows, path: Path) -> None:
    """Draw quality against CPU seconds, a panel for each set."""
    from matplotlib.figure import Figure

    sets = by_system(rows)
    figure = Figure(figsize=(4.2 * min(3, len(sets)), 3.4 * -(-len(sets) // 3)), layout="constrained")
    axes = np.ravel(figure.subplots(-(-len(sets) // 3), min(3, len(sets)), squeeze=False))
    for axis, (name, systems) in zip(axes, sets.items(), strict=False):
        for system, folds in systems.items():
            cpu = float(np.mean([row["cpu"] for row in folds.values()]))
            mine = system.startswith("argrank")
            axis.plot(cpu, np.nanmean(values_of(folds)), "o" if mine else "s", color="C0" if mine else "C7")
            axis.annotate(system, (cpu, np.nanmean(values_of(folds))), fontsize=6)
        axis.set(xscale="log", title=name, xlabel="CPU seconds", ylabel="NDCG@10")
    for axis in axes[len(sets) :]:
        axis.set_visible(False)
    figure.savefig(path, dpi=110)
