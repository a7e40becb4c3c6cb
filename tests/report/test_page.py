from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argrank.report.explorer import packed
from argrank.report.page import embedded_json


@given(st.text(alphabet=st.sampled_from("</script>!-&\u2028\u2029\"'\\a\n\ud800")))
def test_any_text_survives_and_none_can_end_the_script(text):
    found = embedded_json({"text": text})
    assert json.loads(found) == {"text": text}
    assert not set(found) & set("<>&\u2028\u2029")


def test_numbers_that_json_lacks_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        embedded_json([float("nan")])


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint16", "uint32"])
def test_numbers_are_packed_little_endian(dtype):
    values = np.array([0, 1, 40_000], ">f8")
    found = packed(values, dtype)
    unpacked = np.frombuffer(base64.b64decode(found["base64"]), np.dtype(found["type"]).newbyteorder("<"))
    assert unpacked.tolist() == values.tolist()
