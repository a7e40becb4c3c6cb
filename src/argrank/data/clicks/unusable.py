"""What a source holds that is no row of the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Unusable:
    """Rows and events of a source that are no rows of the log, for the doctor.

    Nothing is left out that is not counted here. ``split_sessions``: how many sessions came in several parts, of files
    or of a stream.
    """

    clicks_without_impression: int = 0
    merged_impressions: int = 0
    impressions_without_query: int = 0
    other_actions: Mapping[str, int] = field(default_factory=dict)
    split_sessions: int = 0
