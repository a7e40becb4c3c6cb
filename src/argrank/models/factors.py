"""Factors of users and items: score = user's factors · item's factors + the item's own score."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import InputError, InputTypeError, ModelError, check_count, shown
from argrank.models.model import StoredModel


@dataclass(frozen=True, eq=False, repr=False)
class FactorModel(StoredModel):
    """Recommends items to users. An unknown user gets the generally liked items, an unknown item the mean score.

    Attributes
    ----------
    users, items : tuple of ids
    user_factors : array of shape (n_users, rank)
    item_factors : array of shape (n_items, rank + 1)
        The last column is the item's own score, plus its given prior score.
    seen : tuple of arrays
        For every user the numbers of the items that were rated in training.
    """

    kind: ClassVar[str] = "factors"

    users: tuple[Any, ...]
    items: tuple[Any, ...]
    user_factors: Floats
    item_factors: Floats
    seen: tuple[Integers, ...]
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_user_number", {user: number for number, user in enumerate(self.users)})
        object.__setattr__(self, "_item_number", {item: number for number, item in enumerate(self.items)})

    def facts(self) -> list[tuple[str, str]]:
        """Return facts about the model."""
        return [("users", f"{len(self.users):,}"), ("items", f"{len(self.items):,}"), *super().facts()]

    def predict(self, users: Any, items: Any) -> Floats:
        """Return one score for every pair of a user and an item."""
        people, things = _ids(users), _ids(items)
        if len(people) != len(things):
            raise InputError(f"expected as many users as items, got {len(people)} and {len(things)}")
        U = np.array([self._factors_of(user) for user in people]).reshape(len(people), -1)
        numbers = np.array([self._number("_item_number", item) for item in things], np.int64)
        known = np.vstack((self.item_factors, self.item_factors.mean(axis=0)))  # number -1 is the mean
        V = known[numbers]
        return np.asarray((U * V[:, :-1]).sum(axis=1) + V[:, -1])

    def recommend(self, user: Any, n: int = 10, seen: bool = False) -> list[Any]:
        """Return the ids of the n items with the highest scores for a user, best first.

        Items that the user rated in training are left out unless ``seen`` is True. For a list, tuple, array or series
        of users, the lists of all of them.
        """
        check_count("n", n)
        if isinstance(user, list | tuple) or (hasattr(user, "tolist") and getattr(user, "ndim", 1) > 0):
            return [self._best_items(one, n, seen) for one in _ids(user)]
        return self._best_items(user, n, seen)

    def _best_items(self, user: Any, n: int, seen: bool) -> list[Any]:
        scores = self.item_factors[:, :-1] @ self._factors_of(user) + self.item_factors[:, -1]
        number = self._number("_user_number", user)
        order = np.argsort(-scores, kind="stable")
        if number >= 0 and not seen:
            order = order[~np.isin(order, self.seen[number])]
        return [self.items[item] for item in order[:n].tolist()]

    def _factors_of(self, user: Any) -> Floats:
        number = self._number("_user_number", user)
        return self.user_factors[number] if number >= 0 else np.zeros(self.user_factors.shape[1])

    def _number(self, table: str, name: Any) -> int:
        if not isinstance(name, Hashable):
            raise InputTypeError(f"expected the id of a user or an item, got {shown(name)}")
        return int(getattr(self, table).get(name, -1))

    def to_dict(self) -> dict[str, Any]:
        """Return ids and factors as plain data for a model file."""
        for name in (*self.users, *self.items):
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise ModelError(f"expected ids that are texts or integers in a model file, got {shown(name)}")
        return {
            "users": list(self.users),
            "items": list(self.items),
            "user_factors": self.user_factors.tolist(),
            "item_factors": self.item_factors.tolist(),
            "seen": [items.tolist() for items in self.seen],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> FactorModel:
        """Make the model from the plain data of a model file."""
        users, items = (fields.get(name) for name in ("users", "items"))
        if not all(isinstance(ids, list) and all(type(one) in (str, int) for one in ids) for ids in (users, items)):
            raise ModelError("expected lists of the ids of users and items")
        users, items = cast("list[Any]", users), cast("list[Any]", items)
        try:
            U, V = (np.array(fields.get(name), np.float64) for name in ("user_factors", "item_factors"))
            seen = tuple(np.array(row, np.int64) for row in cast("list[Any]", fields.get("seen")))
        except (TypeError, ValueError, OverflowError) as error:
            raise ModelError("expected tables of numbers as factors") from error
        fits = U.ndim == V.ndim == 2 and U.shape[0] == len(users) and V.shape == (len(items), U.shape[1] + 1)
        if not fits or len(seen) != len(users) or any((row < 0).any() or (row >= len(items)).any() for row in seen):
            raise ModelError("expected factors for every user and item")
        return cls(tuple(users), tuple(items), U, V, seen)


def _ids(values: Any) -> list[Any]:
    found = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise InputError(f"expected lists of users and of items, got {shown(values)}")
    return list(found)
