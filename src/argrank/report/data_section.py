"""The report's last section: an overview of the data, and the doctor's findings."""

from __future__ import annotations

from argrank.data.dataset import Dataset
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.report import svg
from argrank.report.figures import label_counts, length_counts
from argrank.report.svg import escape


def data_section(data: Dataset, diagnosis: Diagnosis) -> str:
    """Return the section as HTML."""
    sizes = data.sizes
    facts = {
        "queries": f"{data.n_queries:,}",
        "documents": f"{data.n_documents:,}",
        "features": f"{data.n_features:,}",
        "documents a query": f"{sizes.min():,} to {sizes.max():,}",
        "relevant (label ≥ 1)": f"{(data.y >= 1).mean():.1%}",
    }
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    labels, documents = label_counts(data)
    lengths, queries = length_counts(data)
    charts = svg.columns(labels, documents, "Labels", "label", "number of documents")
    charts += svg.columns(lengths, queries, "List lengths", "documents a query", "number of queries")
    return f'<dl class="tiles">{tiles}</dl>{_findings(diagnosis)}<div class="charts">{charts}</div>'


def _findings(diagnosis: Diagnosis) -> str:
    headline = f'<h3 id="doctor">{escape(diagnosis.headline)}</h3>'
    if not diagnosis.findings:
        return headline
    rows = "".join(
        f'<tr><td><span class="severity {escape(one.severity)}">{escape(one.severity)}</span></td>'
        f"<td>{escape(one.sentence)}</td><td>{escape(one.advice)}</td></tr>"
        for one in diagnosis
    )
    head = "<tr><th>severity</th><th>what was found</th><th>what to do</th></tr>"
    return (
        f'{headline}<div class="scroll"><table class="words"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )
