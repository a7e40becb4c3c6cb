"""The report in a real browser: it loads, filters, switches, escapes, and stays usable with many queries."""

from __future__ import annotations

import base64
import csv
import re
from pathlib import Path

import numpy as np
import pytest
from scripts import headless
from tests.report.browser import axe_findings, chromium, pdf_pages

import argrank as ar

ATTACK = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def driver():
    with chromium() as found:
        yield found


def evil_data() -> ar.Dataset:
    rng = np.random.default_rng(0)
    n = 12 * 6
    y = rng.integers(0, 3, n)
    return ar.Dataset(
        y[:, None] + rng.normal(size=(n, 3)),
        y,
        np.repeat(np.arange(12), 6),
        document_ids=[ATTACK if i == 0 else f"</script><!-- {i}" for i in range(n)],
        titles=[f"{ATTACK} & \u2028 title {i}" for i in range(n)],
        query_texts=[f"{'red' if q % 3 else 'blue'} shoe <img src=x onerror=alert(2)> {q}" for q in range(12)],
        feature_names=["<b>bm25</b>", "price", "a\"'b"],
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    data = evil_data()
    ranker = ar.make_ranker("regression").fit(data)
    systems = {"learned": ranker, "one <i>feature</i>": data.X[:, 0], "reversed": -data.X[:, 1]}
    target = tmp_path_factory.mktemp("report") / "small.html"
    by = ["=head <b>" if q < 5 else "tail" for q in range(12)]
    log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=1000, vary=1.0)
    return ar.write_report(target, data, systems, ["ndcg@10", "map"], title=f"T {ATTACK}", by=by, clicks=log)


@pytest.fixture
def page(driver, small):
    driver.get("about:blank")  # else an address that differs only behind its # would load nothing
    driver.get(small.as_uri())
    yield driver
    assert driver.get_log("browser") == []  # no errors, no refused scripts, no network


def by_id(driver, name):
    return driver.find_element("id", name)


def choose(driver, name: str, text: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(by_id(driver, name)).select_by_visible_text(text)


def listed(driver) -> list[str]:
    return [one.text for one in driver.find_elements("css selector", "#query-list b")]


def documents(driver, table: str) -> list[str]:
    return [one.text for one in driver.find_elements("css selector", f"#{table} tbody .aside")]


def test_loads_with_every_section(page):
    assert page.title == f"T {ATTACK}"
    headings = [one.text for one in page.find_elements("css selector", "h2")]
    assert headings == ["Answer", "Comparison", "Clicks", "Queries", "Model", "Data"]
    assert len(page.find_elements("css selector", "main svg[role=img] > title")) >= 4
    verdict = page.find_element("css selector", ".verdict").text
    assert verdict.startswith("learned is not shown to be better than one <i>feature</i>")


def opened(driver) -> list[str]:
    return [one.get_attribute("id") for one in driver.find_elements("css selector", "section:has(> details[open])")]


def test_sections_fold_and_links_open_them(page):
    from selenium.webdriver.support.wait import WebDriverWait

    assert opened(page) == ["comparison", "clicks", "queries"]
    page.find_element("css selector", "nav a[href='#data']").click()
    WebDriverWait(page, 30).until(lambda _: "data" in opened(page))  # the page hears of its new address after the click
    assert opened(page) == ["comparison", "clicks", "queries", "data"]
    assert page.find_element("css selector", "#data .tiles").is_displayed()


def test_the_navigation_stays_in_sight(page):
    page.execute_script("window.scrollTo(0, 2000)")
    assert page.execute_script("return document.querySelector('nav').getBoundingClientRect().top") >= 0


def test_a_key_highlights_its_system_in_every_chart(page):
    key = page.find_element("css selector", "button.key[data-system='2']")
    key.click()
    assert key.get_attribute("aria-pressed") == "true"
    lit = {one.get_attribute("data-system") for one in page.find_elements("css selector", ".series.on")}
    assert lit == {"2"}
    key.click()
    assert page.find_elements("css selector", ".on") == []


def test_segments_are_tabs(page):
    tabs = page.find_elements("css selector", "[role=tab]")
    panels = page.find_elements("css selector", "[role=tabpanel]")
    assert [one.text for one in tabs] == ["=head <b>", "tail"]
    assert [one.is_displayed() for one in panels] == [True, False]
    from selenium.webdriver.common.keys import Keys

    tabs[0].send_keys(Keys.ARROW_RIGHT)
    assert [one.is_displayed() for one in panels] == [False, True]
    assert "7 queries" in panels[1].text


def test_filters_by_segment_and_winner(page):
    choose(page, "segment", "=head <b>")
    assert listed(page) == ["0", "1", "2", "3", "4"]
    everywhere = {}
    for winner in ("A wins", "B wins", "equal"):
        choose(page, "winner", winner)
        everywhere[winner] = [float(one.text.replace("\u2212", "-")) for one in page.find_elements(
            "css selector", "#query-list .move")]  # fmt: skip
    assert sum(map(len, everywhere.values())) == 5
    assert all(value > 0 for value in everywhere["A wins"])
    assert all(value < 0 for value in everywhere["B wins"])


def test_keys_go_from_query_to_query(page):
    from selenium.webdriver.common.keys import Keys

    by_id(page, "swap").send_keys("j")
    assert by_id(page, "query-title").text.startswith("Query 1:")
    by_id(page, "swap").send_keys("k")
    assert by_id(page, "query-title").text.startswith("Query 0:")
    by_id(page, "swap").send_keys("/")
    assert page.switch_to.active_element.get_attribute("id") == "search"
    page.switch_to.active_element.send_keys("jk", Keys.ESCAPE)  # letters are letters there
    assert by_id(page, "query-title").text.startswith("Query 0:")


def test_the_address_links_to_a_query_and_two_systems(page, small):
    page.find_element("css selector", "#query-list button[data-query='7']").click()
    choose(page, "measure", "map")
    page.find_element("css selector", "#query-list button[data-query='8']").click()
    address = page.current_url
    assert "#query=8&a=" in address
    page.get("about:blank")
    page.get(address)
    assert by_id(page, "query-title").text.startswith("Query 8:")
    assert by_id(page, "query-values").text.startswith("map:")
    page.get(f"{small.as_uri()}#query=3&a=reversed&b=one%20%3Ci%3Efeature%3C%2Fi%3E")  # as the answer's links do
    assert by_id(page, "query-title").text.startswith("Query 3:")
    assert page.find_element("css selector", "#ranking-b caption").text == "B: one <i>feature</i>"
    linked = page.find_element("css selector", ".answer a[href^='#query=']").get_attribute("href")
    page.get(linked)
    query = re.search(r"query=(\w+)&", linked)[1]
    assert by_id(page, "query-title").text.startswith(f"Query {query}:")
    page.get(f"{small.as_uri()}#query=nobody")
    assert by_id(page, "query-title").text.startswith("Query ")


def test_saves_what_is_shown_as_csv(page, tmp_path):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    choose(page, "segment", "=head <b>")
    by_id(page, "queries-csv").click()
    by_id(page, "ranking-csv").click()
    from selenium.webdriver.support.wait import WebDriverWait

    files = [tmp_path / "queries.csv", tmp_path / "rankings.csv"]
    WebDriverWait(page, 30).until(lambda _: all(path.exists() for path in files))
    rows, ranking = (list(csv.DictReader(path.open(encoding="utf-8", newline=""))) for path in files)
    assert [row["query"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert {row["segment"] for row in rows} == {"'=head <b>"}  # no spreadsheet takes it for a formula
    data = evil_data()
    values = ar.evaluate(ar.make_ranker("regression").fit(data).predict(data), data, "ndcg@10").values["ndcg@10"]
    np.testing.assert_allclose([float(row["ndcg@10 learned"]) for row in rows], values[:5], rtol=1e-6)
    assert len(ranking) == 12
    assert {row["system"] for row in ranking} == {"learned", "one <i>feature</i>"}


@pytest.fixture(scope="module")
def ten(tmp_path_factory) -> Path:
    """A report of ten systems and four measures, with training times."""
    data = ar.load_bundled().select(range(40))
    rng = np.random.default_rng(0)
    systems = {f"system-{i}": data.y + (1 + i / 5) * rng.normal(size=data.n_documents) for i in range(10)}
    seconds = {name: 1.5**place for place, name in enumerate(systems)}
    target = tmp_path_factory.mktemp("report") / "ten.html"
    return ar.write_report(target, data, systems, ["ndcg@10", "map", "mrr@10", "auc"], seconds=seconds)


def test_ten_systems_are_named_in_every_chart_and_the_page_is_short(driver, ten):
    driver.get(ten.as_uri())
    curves, times = (one for one in driver.find_elements("css selector", "#comparison .charts svg"))
    for chart in (curves, times):
        named = {one.text for one in chart.find_elements("css selector", ".series .name")}
        assert named == {f"system-{i}" for i in range(10)}
    texts = [{one.text for one in chart.find_elements("css selector", "text")} for chart in (curves, times)]
    assert {"cut-off k (documents)", "mean NDCG@k"} <= texts[0]
    assert {"training, seconds", "mean ndcg@10"} <= texts[1]
    assert driver.execute_script("return document.documentElement.scrollHeight") < 4600  # half of what it once was


def test_a_table_wider_than_a_phone_says_so_and_scrolls_by_keyboard(driver, ten):
    headless.set_size(driver, 390, 844, mobile=True)
    driver.get(ten.as_uri())
    box = driver.find_element("css selector", ".scroll:has(#means)")
    after = driver.execute_script("return getComputedStyle(arguments[0], '::after').content", box)
    focusable = box.get_attribute("tabindex")
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert "scroll sideways" in after
    assert focusable == "0"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, width, scheme):
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    found = axe_findings(page)
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [one for one in found if one[0] in ("serious", "critical")] == []


def test_everything_prints(page):
    before = opened(page)
    page.execute_cdp_cmd("Page.printToPDF", {})
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert opened(page) == ["comparison", "clicks", "queries", "model", "data"]
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert opened(page) == before


@pytest.mark.parametrize(
    "paper", [(8.27, 11.7), (8.5, 11), (11.7, 8.27), (5.8, 8.3)], ids=["A4", "Letter", "wide", "A5"]
)
def test_no_heading_stands_at_the_end_of_a_printed_page(page, tmp_path, paper):
    found = page.find_elements("css selector", "h1, h2, h3, h4, summary, figcaption, caption")
    headings = {" ".join(one.get_attribute("textContent").split()) for one in found} - {""}
    printed = page.execute_cdp_cmd("Page.printToPDF", {"paperWidth": paper[0], "paperHeight": paper[1]})
    pages = pdf_pages(base64.b64decode(printed["data"]), tmp_path)
    assert len(pages) > 3
    assert sum(heading in " ".join(" ".join(pages).split()) for heading in headings) > 10  # they are printed, and read
    last = [[" ".join(line.split()) for line in one.splitlines() if line.strip()][-1] for one in pages]
    assert [line for line in last if line in headings] == []


def test_the_search_box_filters(page):
    assert len(listed(page)) == 12
    by_id(page, "search").send_keys("blue shoe")
    assert listed(page) == ["0", "3", "6", "9"]
    assert by_id(page, "matches").text == "4 of 12 queries"
    by_id(page, "search").clear()
    by_id(page, "search").send_keys("nothing like it")
    assert listed(page) == []


def test_choosing_a_query_shows_its_rankings(page):
    page.find_element("css selector", "#query-list button[data-query='4']").click()
    assert by_id(page, "query-title").text.startswith("Query 4: red shoe <img")
    assert len(documents(page, "ranking-a")) == len(documents(page, "ranking-b")) == 6


def test_the_keyboard_alone_is_enough(page):
    from selenium.webdriver.common.keys import Keys

    box = by_id(page, "search")
    box.send_keys("red", Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert by_id(page, "query-title").text.startswith("Query 2:")


def test_rankings_and_differences_are_those_of_the_library(page, small):
    data = evil_data()
    for system, scores in {"reversed": -data.X[:, 1], "one <i>feature</i>": data.X[:, 0]}.items():
        choose(page, "system-b", system)
        expected = np.argsort(-scores[:6], kind="stable")
        titles = [one.get_attribute("title") for one in page.find_elements("css selector", "#ranking-b .title")]
        assert [int(re.search(r"title (\d+)$", text)[1]) for text in titles] == expected.tolist()
    first = by_id(page, "query-values").text
    choose(page, "measure", "map")
    assert by_id(page, "query-values").text != first
    value = ar.evaluate(data.X[:, 0], data, "map").values["map"][0]
    assert f"one <i>feature</i> {value:.4f}" in by_id(page, "query-values").text


def test_swapping_turns_the_signs(page):
    before = [one.text for one in page.find_elements("css selector", "#query-list .move")]
    by_id(page, "swap").click()
    after = [one.text for one in page.find_elements("css selector", "#query-list .move")]
    turned = str.maketrans("+\u2212", "\u2212+")
    assert [one.translate(turned) for one in before] == after
    assert any("+" in one for one in after)


def test_why_adds_up_to_the_difference_of_the_scores(page):
    data = evil_data()
    ranker = ar.make_ranker("regression").fit(data)
    page.find_element("css selector", "#ranking-a button.why").click()
    cells = [one.text for one in page.find_elements("css selector", "#contributions td:nth-child(2)")]
    numbers = [float(one.replace("\u2212", "-")) for one in cells]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=2e-4)
    a, b = ar.make_ranker("regression").fit(data).rank(data)[0][:2]
    why = ar.why_above(ranker, data, int(a), int(b))
    assert numbers[-1] == pytest.approx(why.difference, abs=1e-4)
    shown = [one.text for one in page.find_elements("css selector", "#contributions tbody td:first-child")]
    assert shown == [name for name, _ in why.largest]
    links = page.find_elements("css selector", "#contributions td a")
    assert links
    for link in links:  # to the chart of that feature
        assert page.find_elements("css selector", link.get_attribute("href").rpartition("/")[2].split("html")[-1])


def test_scores_alone_are_not_explained(page):
    choose(page, "system-a", "reversed")
    assert "Only its scores are known" in by_id(page, "why").text


def test_data_is_shown_as_text(page):
    titles = [one.get_attribute("textContent") for one in page.find_elements("css selector", "#ranking-a .aside")]
    assert ATTACK in titles
    assert page.find_elements("css selector", "img, i, #query-list script, table script") == []
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = page.switch_to.alert.text


def test_fits_a_phone_in_both_colour_schemes(page):
    colours = set()
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        assert page.execute_script("return document.documentElement.scrollWidth") <= 360
        assert page.execute_script("return document.getElementById('means').parentElement.scrollWidth") <= 360
        colours.add(page.execute_script("return getComputedStyle(document.body).backgroundColor"))
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(colours) == 2


def test_ten_thousand_queries_stay_usable(driver, tmp_path):
    n, size = 10_000, 8
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n * size)
    X = (y[:, None] + rng.normal(size=(n * size, 4))).astype(np.float32)
    data = ar.Dataset(X, y, np.repeat([f"query-{q}" for q in range(n)], size))
    ranker = ar.make_ranker("regression").fit(data)
    path = ar.write_report(tmp_path / "large.html", data, {"a": ranker, "b": X[:, 0]}, ["ndcg@10"])
    assert path.stat().st_size < 30e6
    driver.get(path.as_uri())
    assert by_id(driver, "matches").text == "10,000 queries"
    assert len(listed(driver)) == 50  # rendered on demand
    first, ready = driver.execute_script(
        "return [performance.getEntriesByType('paint')[0].startTime, performance.timing.domInteractive - "
        "performance.timing.navigationStart]"
    )
    assert first < max(ready, 2000)  # painted within two seconds; on a busy machine before all queries are read
    by_id(driver, "search").send_keys("query-987")
    assert by_id(driver, "matches").text == "11 of 10,000 queries"
    driver.find_element("css selector", "#query-list button[data-query='9876']").click()
    assert by_id(driver, "query-title").text == "Query query-9876"
    assert len(driver.find_elements("css selector", "#ranking-b tbody tr")) == size
    assert driver.get_log("browser") == []
