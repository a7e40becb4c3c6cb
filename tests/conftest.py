"""What all tests share: the real data, where it is present."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("argrank", deadline=None)  # no test is timed: machines are busy
settings.load_profile("argrank")

ROOT = Path(__file__).resolve().parent.parent


def pytest_report_header() -> str:
    folder = data_folder()
    return f"real data: {folder}" if folder else "real data: ABSENT, the tests that need it are SKIPPED"


def data_folder() -> Path | None:
    folder = Path(os.environ.get("ARGRANK_DATA", ROOT.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real data sets; set ARGRANK_DATA where it lies elsewhere."""
    folder = data_folder()
    if folder is None:
        warnings.warn("the real data is absent: set ARGRANK_DATA", UserWarning, stacklevel=1)
        pytest.skip("the real data is absent: set ARGRANK_DATA to its folder")
    return folder
