"""Click models, one file for each family, behind one interface."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from argrank._declared import checked
from argrank.clicks.models.chain import CascadeModel, DependentModel, DynamicModel, SimplifiedDynamicModel
from argrank.clicks.models.click_model import ClickModel, Relevance
from argrank.clicks.models.examination import BrowsingModel, PositionModel
from argrank.clicks.models.rates import RateModel
from argrank.errors import check_name

__all__ = ["CLICK_MODELS", "ClickModel", "Relevance", "click_model"]

#: To add a click model: a class, and its name here.
MODELS = (RateModel, PositionModel, CascadeModel, DependentModel, SimplifiedDynamicModel, DynamicModel, BrowsingModel)
CLICK_MODELS: dict[str, type[ClickModel]] = {model.name: model for model in MODELS}


@checked
def click_model(name: str, **parameters: Any) -> ClickModel:
    """Make a click model by its name: ``ar.click_model("ubm").fit(log)``.

    "ctr" (rates; ``by="rank"``, "document" or "all"), "pbm", "cascade", "dcm", "sdbn", "dbn" or "ubm".
    """
    check_name("click model", name, CLICK_MODELS)
    model = CLICK_MODELS[name]
    known = [one.name for one in fields(model) if one.init]
    for one in parameters:
        check_name(f"parameter of click model {name}", one, known)
    return model(**parameters)
