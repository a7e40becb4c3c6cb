"""Array types used in signatures; kernels are compiled for them."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray


class Layout(NamedTuple):
    """The shape of an array that a kernel takes, and whether the kernel writes into it."""

    n_axes: int
    is_filled: bool


Element = TypeVar("Element", bound=np.generic)

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# In a kernel's signature an array is a read-only vector, unless it has one of these types.
Matrix: TypeAlias = Annotated[NDArray[Element], Layout(2, False)]
Filled: TypeAlias = Annotated[NDArray[Element], Layout(1, True)]
FilledMatrix: TypeAlias = Annotated[NDArray[Element], Layout(2, True)]
FilledCube: TypeAlias = Annotated[NDArray[Element], Layout(3, True)]
