"""The page of the documentation: what was measured, set by set, and where others are better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argrank.evaluation.significance import holm, paired_t
from benchmarks.peers.data import SETS
from benchmarks.peers.tools import (
    FEW_SETTINGS,
    LONG_PATIENCE,
    MOST_TREES,
    N_FOLDS,
    N_TREES,
    PATIENCE,
    SEEDS,
    SETTINGS,
    TOOLS,
)

AUTO, SYMMETRIC, QUERY_MART = (f"argrank {name}, default" for name in ("auto", "symmetric-mart", "query-mart"))
INTRODUCTION = """# Peers

How well does argrank rank beside LightGBM, XGBoost and CatBoost, and what does it cost? The first tables have the
answer: the mean over data sets of the difference in NDCG@10 on test queries. Then come the places where others are
better, how it was measured, how often test queries were looked at, and every data set. `python -m benchmarks.peers
page` writes this page from what `make bench-peers` has run.
"""
WHY = """On asymmetric trees CatBoost used to be ahead of `auto`, and the loss was the reason: with 400 trees each, on
three other sets of this kind, CatBoost's YetiRank is 0.0084 ± 0.0022 ahead of its own QueryRMSE, and `symmetric-mart`
on the loss of `pair-mart`, which is a member of `auto` now, 0.0044 ± 0.0022 ahead of YetiRank in a ninth of the CPU
time (`python -m experiments.symmetric.losses`). `symmetric-mart` alone has the squared error by default and is behind
for the same reason: there, give it `objective="pair-mart"`.

On OHSUMED, with 63 training queries, the default of 400 trees is too many for `symmetric-mart`: on the validation parts
of two folds it has 0.5190 and 0.3600 after 50 trees, 0.4677 and 0.3362 after 400
(`python -m experiments.symmetric.defaults`). The tuned peers choose their number of trees, and so do `early_stopping=`
and `auto`.

On thresholds CatBoost, tuned by folds, used to be ahead of `auto` by more than three standard errors. The reason was
the blend, not its members: a penalty on unequal weights that grew with the queries kept 15 % for linear rankers, which
are far behind there. Today's penalty does not grow. On two more sets of this kind, by which it was chosen with 42
others, that gained 0.0031 and 0.0020 (`python -m experiments.symmetric.weights`), and CatBoost is still ahead of
today's `auto` there, by 0.0011 ± 0.0018 and 0.0029 ± 0.0020 (`python -m experiments.symmetric.thresholds`): where the
truth is a sum of thresholds, expect it to be a little ahead.
"""
OUTSIDE = """## What others measured

On seven data sets that this project does not have, with one evaluator and paired by query, the blend before this one
had the highest mean on four, no peer was significantly ahead by a t-test, and it was clearly ahead of several on small
training sets. On the largest training set (46,596 documents) CatBoost at its defaults was ahead by 0.0069 ± 0.0038;
LightGBM tuned by four folds with three seeds was behind by 0.007 ± 0.002 and less. Expect the same of your data: a
clear lead on small training sets, and peers that are level, or a little ahead, on large ones.
"""
SEEN = """## How often test queries were looked at

Nothing was chosen by a test part. `auto` has been run seven times, each time after changes that were made on
validation parts and generated data. Over eight sets, its first run was ahead of CatBoost's default by 0.0260 ± 0.0042,
its second (another default of ListNet, no holdout where queries are few) by 0.0244 ± 0.0042, and its third and fourth
(symmetric trees; on more than 20,000 documents also on the loss of `xendcg-mart`) by 0.0116 ± 0.0041; these means are
of other sets. Over these twelve, the fifth (symmetric trees on pairs) was ahead by 0.0175 ± 0.0028, the sixth (other
weights) by 0.0186 ± 0.0028; the seventh, which is the one shown, has other trees on the seven sets of more than 20,000
documents, and was run on these alone. `query-mart` and `lambda-mart` have been run twice, the second time to measure
them with today's code; `symmetric-mart` and the peers gave the same values whenever they were run.

Results here led to five trials on other data: trees with a linear start as a member, because `symmetric-mart` was ahead
of `auto` on the shop (nothing was changed); trees on a loss for NDCG, then on the loss of pairs, because CatBoost was
ahead of `auto` on generated asymmetric trees; other weights, because it was ahead on generated thresholds; and a linear
start on large data, because `symmetric-mart` was ahead of `auto` on the generated nonlinear set. The last four gained
on other sets (44 sets, `experiments/symmetric/members.md` and `weights.md`; the last 30, `large.md`). On asymmetric
trees the third run of `auto` had 0.6780, the fourth 0.6919, the fifth 0.7034; on thresholds the fifth had 0.6846; on
the nonlinear set the sixth had 0.5431. The last trial had four sets with the same kind of truth as that set, with other
seeds and sizes; it says little about truths of other kinds.

The members of `auto` and the defaults of `symmetric-mart` were chosen on training and validation parts of MQ2008,
OHSUMED, MQ2007-agg, MSLR-sample and the shop, whose queries are test queries of other folds, so these sets are not
fully independent of the choices; a prototype had been measured on test parts of MQ2008, OHSUMED 3.0 and MQ2007-agg. The
generated sets of 50,000 training documents have seeds that were used for no choice.
"""
Rows = Sequence[Mapping[str, Any]]
Folds = Mapping[int, Mapping[str, Any]]


class Gap(NamedTuple):
    """Mean difference over the queries of folds that both systems have, its standard error, p by a paired t-test."""

    mean: float
    error: float
    p: float

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.error:.4f}"


def by_system(rows: Rows) -> dict[str, dict[str, dict[int, Mapping[str, Any]]]]:
    """Return set -> tool and mode -> fold -> row, in the order of SETS and TOOLS."""
    found: dict[str, dict[str, dict[int, Mapping[str, Any]]]] = {}
    sets, tools = list(SETS), list(TOOLS)
    for row in sorted(rows, key=lambda row: (sets.index(row["set"]), tools.index(row["tool"]), row["mode"])):
        system = f"{row['tool']}, {row['mode']}"
        found.setdefault(row["set"], {}).setdefault(system, {})[row["fold"]] = row
    return found


def values_of(folds: Folds, numbers: Iterable[int]) -> np.ndarray:
    """Return the values of the tested queries of some folds, None as NaN."""
    return np.array([value for fold in sorted(numbers) for value in folds[fold]["values"]], float)


def gap_between(ours: Folds, theirs: Folds) -> Gap | None:
    """Return by how much we are ahead; None where no fold was run with both."""
    common = set(ours) & set(theirs)
    if not common:
        return None
    gap = values_of(ours, common) - values_of(theirs, common)
    gap = gap[~np.isnan(gap)]
    return Gap(float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap))), float(paired_t(gap[:, None])[0]))


def cost(folds: Folds, numbers: Iterable[int]) -> float:
    """Return the mean CPU seconds over some folds."""
    return float(np.mean([folds[fold]["cpu"] for fold in numbers]))


def page(rows: Rows) -> str:
    """Return the page as Markdown."""
    sets = by_system(rows)
    lines = [INTRODUCTION]
    for ours in (AUTO, SYMMETRIC, QUERY_MART):
        lines += _over_all(sets, ours)
    lines += [*_better(sets), WHY]
    lines += ["NDCG@10 against CPU seconds, over the folds that all systems of a set have:", ""]
    lines += ["![NDCG@10 against CPU seconds](peers.png)", "", OUTSIDE, *_method(sets), SEEN]
    for name, systems in sets.items():
        lines += _one_set(name, systems)
    return "\n".join(lines)


def _method(sets: Mapping[str, Mapping[str, Folds]]) -> list[str]:
    """Return how it was measured, and what was run."""
    lines = [
        "## How it was measured",
        "",
        "Quality is NDCG@10 on test queries, measured by `ar.evaluate` for every tool, on one thread. *Default* is the",
        "tool as it comes, trained on the training part alone; `auto` has no other mode.",
        f"*Tuned* is the best of {len(SETTINGS)} settings on the validation part, with up to {N_TREES} trees, stopped",
        f"after {PATIENCE} without a gain. *Folds* is tuned as `auto` is, by {N_FOLDS} folds of the training part:",
        f"{len(FEW_SETTINGS)} settings, up to {MOST_TREES:,} trees, stopped after {LONG_PATIENCE} without a gain; the",
        f"best is fitted again with {len(SEEDS)} seeds. CPU seconds are those of the whole search. Differences are",
        "paired by query, ± one standard error, over the folds that both systems have, and sort the tables; p in the",
        "tables of the sets is corrected by Holm over the systems of a set. Judge a peer by the best of its rows.",
        "The two OHSUMED sets have the same queries with other features, so their standard errors are added in full in",
        "means over sets.",
        "",
        "The number of folds that were run of each set; where it is small, differences are less certain:",
        "",
        f"| | {' | '.join(sets)} |",
        f"|---|{'--:|' * len(sets)}",
    ]
    for system in _all_systems():
        counts = " | ".join(str(len(systems.get(system, {})) or "") for systems in sets.values())
        lines.append(f"| {system} | {counts} |")
    return [*lines, ""]


def _all_systems() -> list[str]:
    return [f"{tool}, {mode}" for tool, (_, tuned) in TOOLS.items() for mode in ("default", *tuned)]


def _rivals(systems: Mapping[str, Folds]) -> list[str]:
    return [system for system in systems if not system.startswith("argrank")]


def _over_all(sets: Mapping[str, Mapping[str, Folds]], ours: str) -> list[str]:
    """Return a table of one of our rankers against each peer, every set counting alike."""
    title = ours.removeprefix("argrank ").removesuffix(", default")
    lines = [f"## {title} against the others, mean over sets", ""]
    lines += [f"| {title} ahead of | sets | mean difference | 95 % | its CPU time / theirs |", "|---|--:|--:|--:|--:|"]
    for rival in [system for system in _all_systems() if not system.startswith("argrank")]:
        having = {name: systems for name, systems in sets.items() if {ours, rival} <= set(systems)}
        pairs = [(systems[ours], systems[rival]) for systems in having.values()]
        found = {name: gap_between(*pair) for name, pair in zip(having, pairs, strict=True)}
        gaps = {name: gap for name, gap in found.items() if gap is not None}
        if not gaps:
            continue
        both = [(one, two, set(one) & set(two)) for one, two in pairs if set(one) & set(two)]
        ratios = [cost(one, common) / cost(two, common) for one, two, common in both]
        mean, error = float(np.mean([gap.mean for gap in gaps.values()])), error_of_mean(gaps)
        ratio = float(np.exp(np.mean(np.log(ratios))))
        interval = f"{mean - 1.96 * error:+.4f} to {mean + 1.96 * error:+.4f}"
        lines.append(f"| {rival} | {len(gaps)} | {mean:+.4f} ± {error:.4f} | {interval} | {ratio:.2g} |")
    return [*lines, ""] if len(lines) > 4 else []


def _better(sets: Mapping[str, Mapping[str, Folds]]) -> list[str]:
    """Return where others are ahead by more than one standard error; p is corrected over all sets and peers."""
    lines = ["## Where others are better", ""]
    for ours in (AUTO, SYMMETRIC, QUERY_MART):
        pairs = [(rival, name) for name, systems in sets.items() if ours in systems for rival in _rivals(systems)]
        found = {(rival, name): gap_between(sets[name][ours], sets[name][rival]) for rival, name in pairs}
        gaps = {pair: gap for pair, gap in found.items() if gap is not None}
        if not gaps:
            continue
        corrected = dict(zip(gaps, holm(np.array([gap.p for gap in gaps.values()])), strict=True))
        title, ahead = ours.split(", ")[0], [pair for pair, gap in gaps.items() if gap.mean < -gap.error]
        significant = sum(corrected[pair] < 0.05 for pair in ahead)
        lines += [f"{title}: {len(gaps)} comparisons with a peer on a set. The peer is ahead by more than one standard"]
        lines += [f"error in {len(ahead)} of them, and in {significant} after Holm over all of them (p < 0.05)."]
        lines += [""] if ahead else []
        for rival, name in ahead:
            gap = gaps[rival, name]
            lines.append(
                f"- {rival} is ahead of {title} on {name} by {-gap.mean:.4f} ± {gap.error:.4f}"
                f" (p {gap.p:.3f}, after Holm {corrected[rival, name]:.3f})."
            )
        lines.append("")
    return lines


def _one_set(name: str, systems: Mapping[str, Folds]) -> list[str]:
    """Return the table of a set: the folds that auto has, or where it has none, those of each system."""
    lines = [f"## {name}", "", "| | NDCG@10 | auto ahead by | p (Holm) | CPU s | µs a document | file, kB |"]
    lines += ["|---|--:|--:|--:|--:|--:|--:|"]
    ours = systems.get(AUTO, {})
    shown = {system: (set(folds) & set(ours)) or set(folds) for system, folds in systems.items()}
    gaps = {one: gap for one in systems if one != AUTO and (gap := gap_between(ours, systems[one]))}
    corrected = dict(zip(gaps, holm(np.array([gap.p for gap in gaps.values()])) if gaps else [], strict=True))
    means = {one: float(np.nanmean(values_of(systems[one], shown[one]))) for one in systems}
    ahead_by = {one: gap.mean for one, gap in gaps.items()} | {AUTO: 0.0}
    for system in sorted(systems, key=lambda one: (one not in ahead_by, ahead_by.get(one, 0.0), -means[one])):
        folds, numbers = systems[system], shown[system]
        runs = [folds[fold] for fold in sorted(numbers)]
        micro = np.mean([1e6 * one["predict_cpu"] / one["documents"] for one in runs])
        serving = f"{micro:.2f} | {np.mean([one['bytes'] for one in runs]) / 1000:,.0f}"
        note = f" (fold {', '.join(map(str, sorted(numbers)))} alone)" if ours and numbers != set(ours) else ""
        ahead = f"{gaps[system]} | {corrected[system]:.3f}" if system in gaps else " | "
        cpu = f"{cost(folds, numbers):.1f}"
        lines.append(f"| {system}{note} | {means[system]:.4f} | {ahead} | {cpu} | {serving} |")
    return [*lines, ""]


def error_of_mean(gaps: Mapping[str, Gap]) -> float:
    """Return the standard error of the mean over sets; errors of sets with the same queries are added in full."""
    errors: dict[str, float] = {}
    for name, gap in gaps.items():
        queries = name.split("-LETOR")[0]
        errors[queries] = errors.get(queries, 0.0) + gap.error
    return float(np.sqrt(sum(error**2 for error in errors.values())) / len(gaps))


def summary(rows: Rows) -> str:
    """Return the runs as CSV, without the values of the queries."""
    lines = ["set,fold,tool,mode,setting,queries,ndcg@10,cpu,wall,predict_cpu,megabytes"]
    for systems in by_system(rows).values():
        for folds in systems.values():
            for fold in sorted(folds):
                row = folds[fold]
                values = values_of(folds, [fold])
                values = values[~np.isnan(values)]
                fixed = f'"{row["set"]}",{fold},{row["tool"]},{row["mode"]},"{row["setting"]}",{len(values)}'
                rest = f"{row['cpu']:.2f},{row['wall']:.1f},{row['predict_cpu']:.3f},{row['megabytes']:.0f}"
                lines.append(f"{fixed},{values.mean():.5f},{rest}")
    return "\n".join([*lines, ""])


def plot(rows: Rows, path: Path) -> None:
    """Draw quality against CPU seconds; full marks are defaults, hollow ones tuned, diamonds by folds.

    A panel for each set that auto was run on, over the folds that all systems have.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FormatStrFormatter, NullFormatter

    sets = {name: systems for name, systems in by_system(rows).items() if AUTO in systems}
    across = min(3, len(sets))
    down = -(-len(sets) // across)
    figure = Figure(figsize=(4.2 * across, 3.4 * down), layout="constrained")
    axes = np.ravel(figure.subplots(down, across, squeeze=False))
    for axis, (name, systems) in zip(axes, sets.items(), strict=False):
        numbers = set.intersection(*(set(folds) for folds in systems.values()))
        for system, folds in systems.items() if numbers else ():
            tool, mode = system.rsplit(", ", 1)
            colour, mark = f"C{list(TOOLS).index(tool)}", "D" if mode == "folds" else "o" if "argrank" in tool else "s"
            axis.plot(
                cost(folds, numbers), np.nanmean(values_of(folds, numbers)), mark,
                markersize=8, color=colour, markerfacecolor=colour if mode == "default" else "none", label=system,
            )  # fmt: skip
        axis.set(
            xscale="log",
            title=f"{name}, fold {', '.join(map(str, sorted(numbers)))}",
            xlabel="CPU seconds",
            ylabel="NDCG@10",
        )
        axis.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axis.xaxis.set_minor_formatter(NullFormatter())
    for axis in axes[len(sets) :]:
        axis.set_visible(False)
    known = {text: mark for axis in axes for mark, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    order = [system for system in _all_systems() if system in known]
    figure.legend([known[one] for one in order], order, loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=110)
