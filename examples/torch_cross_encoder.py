"""A cross-encoder trained on a ranking loss of argrank, with the batches of sentence-transformers.

    pip install argrank[torch]
    python examples/torch_cross_encoder.py

A cross-encoder reads a query and a document together and gives one score. The listwise losses of sentence-transformers'
``CrossEncoder`` get the queries of a batch, a list of documents for each, and a list of tensors with their labels. The
model here is a small one, made on the spot, of the same shape: pairs of texts in, one logit for each out. With
sentence-transformers installed, a subclass of ``torch.nn.Module`` that calls ``model.tokenizer`` and ``model`` in
``forward`` as below is a loss for ``CrossEncoderTrainer``.
"""

from __future__ import annotations

import torch

import argrank as ar
from argrank.torch import RankingLoss

COLOURS = ("red", "green", "blue", "black")
THINGS = ("shoe", "lamp", "chair", "watch")


class TinyCrossEncoder(torch.nn.Module):
    """Words to vectors, their mean for the query and for the document, and a small network on top."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.vocabulary = {word: number for number, word in enumerate((*COLOURS, *THINGS))}
        self.words = torch.nn.EmbeddingBag(len(self.vocabulary), width)
        self.head = torch.nn.Sequential(torch.nn.Linear(3 * width, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def tokenizer(self, texts: list[str]) -> torch.Tensor:
        """Return the numbers of the words, two for each text."""
        return torch.tensor([[self.vocabulary[word] for word in text.split()] for text in texts])

    def forward(self, queries: torch.Tensor, documents: torch.Tensor) -> torch.Tensor:
        """Return one logit for each pair, of shape (pairs, 1)."""
        one, two = self.words(queries), self.words(documents)
        return self.head(torch.cat([one, two, one * two], dim=1))


class ListwiseLoss(torch.nn.Module):
    """A loss with the signature of sentence-transformers' listwise losses."""

    def __init__(self, model: TinyCrossEncoder, name: str, **parameters: object) -> None:
        super().__init__()
        self.model, self.loss = model, RankingLoss(name, **parameters)

    def forward(self, inputs: tuple[list[str], list[list[str]]], labels: list[torch.Tensor]) -> torch.Tensor:
        """Score all pairs of the batch at once; lists of any length need no padding."""
        return self.loss(scored(self.model, *inputs), labels)


def scored(model: TinyCrossEncoder, queries: list[str], documents: list[list[str]]) -> torch.Tensor:
    """Return the logits of all pairs, query by query."""
    pairs = [(query, text) for query, texts in zip(queries, documents, strict=True) for text in texts]
    return model(model.tokenizer([one for one, _ in pairs]), model.tokenizer([two for _, two in pairs])).squeeze(1)


def batch(n_queries: int, generator: torch.Generator) -> tuple[list[str], list[list[str]], list[torch.Tensor]]:
    """Draw queries such as "red shoe", each with 4 to 8 documents; a shoe has label 1, a red one 3."""

    def draw(words: tuple[str, ...]) -> str:
        return words[int(torch.randint(len(words), (), generator=generator))]

    queries = [f"{draw(COLOURS)} {draw(THINGS)}" for _ in range(n_queries)]
    sizes = torch.randint(4, 9, (n_queries,), generator=generator).tolist()
    documents = [[f"{draw(COLOURS)} {draw(THINGS)}" for _ in range(size)] for size in sizes]
    for query, texts in zip(queries, documents, strict=True):
        texts[0] = f"{draw(COLOURS)} {query.split()[1]}"
    return (
        queries,
        documents,
        [
            torch.tensor([_label(query, text) for text in texts])
            for query, texts in zip(queries, documents, strict=True)
        ],
    )


def _label(query: str, text: str) -> float:
    colour, thing = (one == two for one, two in zip(query.split(), text.split(), strict=True))
    return float(thing) * (3.0 if colour else 1.0)


def main(name: str = "listnet", steps: int = 150, **parameters: object) -> dict[str, float]:
    """Train, and return NDCG@5 on new queries before and after."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = TinyCrossEncoder()
    loss, optimizer = ListwiseLoss(model, name, **parameters), torch.optim.Adam(model.parameters(), lr=0.01)
    queries, documents, labels = batch(200, generator)
    data = ar.Dataset(
        torch.zeros(sum(map(len, labels)), 1).numpy(), torch.cat(labels).numpy(), group=[*map(len, labels)]
    )

    def measured() -> float:
        with torch.no_grad():
            scores = scored(model, queries, documents)
        return ar.evaluate(scores.double().numpy(), data, "ndcg@5").means["ndcg@5"]

    found = {"before": measured()}
    for _ in range(steps):
        some, texts, wanted = batch(16, generator)
        optimizer.zero_grad()
        loss((some, texts), wanted).backward()
        optimizer.step()
    return {**found, "after": measured()}


if __name__ == "__main__":
    for loss in ("listnet", "svm-ndcg", "rank-svm"):
        figures = main(loss)
        print(f"{loss}: NDCG@5 {figures['before']:.3f} before, {figures['after']:.3f} after")
