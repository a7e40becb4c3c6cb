"use strict";
// The query explorer. Every text from the data enters the page as textContent, never as markup.
(() => {
  const PAGE = 50;          // queries listed at a time
  const TOP = 10;           // documents shown of a ranking before one asks for more
  const MOST_FEATURES = 9;  // contributions shown, the rest in one line
  const SVG = "http://www.w3.org/2000/svg";
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("report-data").textContent);
  const { queries, documents, systems, measures, features } = data;

  const ARRAYS = { float32: Float32Array, float64: Float64Array, uint16: Uint16Array, uint32: Uint32Array };
  const unpack = (packed) => {
    const text = atob(packed.base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new ARRAYS[packed.type](bytes.buffer);
  };
  queries.sizes = unpack(queries.sizes);
  queries.indptr = unpack(queries.indptr);
  documents.rows = unpack(documents.rows);
  documents.labels = unpack(documents.labels);
  for (const system of systems) {
    system.ranks = unpack(system.ranks);
    system.scores = unpack(system.scores);
    system.values = system.values.map(unpack);
    const c = system.contributions;
    if (c) for (const part of ["indptr", "indices", "values"]) c[part] = unpack(c[part]);
  }
  const words = queries.ids.map((id, q) => `${id} ${queries.texts ? queries.texts[q] : ""}`.toLowerCase());

  const state = { a: data.pair[0], b: data.pair[1], measure: 0, query: 0, shown: PAGE, why: null, deep: false };

  const make = (tag, properties = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
      else if (name in node) node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };
  const draw = (tag, attributes) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const minus = (text) => text.replace("-", "\u2212");
  const signed = (value, digits = 4) => (value > 0 ? "+" : "") + minus(value.toFixed(digits));
  const short = (value) => minus(Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3)
    ? value.toExponential(2) : value.toFixed(3));
  const nameOf = (d) => (documents.ids ? documents.ids[d] : `row ${documents.rows[d]}`);
  const titleOf = (d) => (documents.titles && documents.titles[d]) || nameOf(d);
  const valueOf = (system, query) => systems[system].values[state.measure][query];
  const difference = (query) => valueOf(state.a, query) - valueOf(state.b, query);

  // ---- the plot of differences -------------------------------------------------------------------------------
  const plot = $("differences");
  let sorted = [], width = 0, left = 54;

  function drawDifferences() {
    const svg = plot.querySelector("svg"), height = 220;
    plot.hidden = systems.length < 2;
    width = Math.max(svg.clientWidth, 240); // drawn in pixels: as legible on a phone as on a desktop
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    sorted = queries.ids.map((_, q) => [difference(q), q]).filter(([d]) => !Number.isNaN(d)).sort((x, y) => y[0] - x[0]);
    const ends = sorted.length ? [sorted[0][0], -sorted[sorted.length - 1][0]] : [];
    const top = Math.max(...ends, 1e-9), middle = 100, room = 86;
    const step = (width - left) / Math.max(sorted.length, 1);
    const paths = { up: "", down: "" };
    sorted.forEach(([d], i) => {
      if (!d) return;
      const x = left + i * step, gap = step > 4 ? 1 : 0;
      paths[d > 0 ? "up" : "down"] +=
        `M${x.toFixed(2)} ${middle}V${(middle - d / top * room).toFixed(1)}H${(x + step - gap).toFixed(2)}V${middle}Z`;
    });
    const title = svg.querySelector("title");
    svg.replaceChildren(title);
    for (const at of [-1, 0, 1]) {
      const y = middle - at * room;
      svg.append(draw("line", { class: at ? "grid" : "axis", x1: left, x2: width, y1: y, y2: y }));
      const text = draw("text", { x: left - 6, y: y + 4, "text-anchor": "end" });
      text.textContent = at ? signed(at * top, 2) : "0";
      svg.append(text);
    }
    svg.append(draw("path", { class: "bar c0", d: paths.up }), draw("path", { class: "bar c1", d: paths.down }));
    const axis = draw("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" });
    axis.textContent = `queries, sorted by the difference of ${measures[state.measure]}`;
    svg.append(axis);
    const place = sorted.findIndex(([, q]) => q === state.query);
    if (place >= 0) {
      const x = left + (place + 0.5) * step;
      svg.append(draw("path", { class: "mark", d: `M${x} ${middle - room - 8}V${middle + room + 8}` }));
    }
    const better = sorted.filter(([d]) => d > 0).length, worse = sorted.filter(([d]) => d < 0).length;
    const said = `${measures[state.measure]}: ${systems[state.a].name} minus ${systems[state.b].name}, query by query: ` +
      `${better.toLocaleString("en")} better, ${worse.toLocaleString("en")} worse, ` +
      `${(sorted.length - better - worse).toLocaleString("en")} equal`;
    title.textContent = said;
    plot.querySelector("figcaption").textContent = said;
  }
  plot.querySelector("svg").addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * width - left;
    const found = sorted[Math.floor(x / ((width - left) / sorted.length))];
    if (found) pick(found[1]);
  });

  // ---- the list of queries -----------------------------------------------------------------------------------
  function matching() {
    const wanted = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const order = $("order").value, winner = $("winner").value;
    const segment = $("segment").selectedIndex > 0 ? $("segment").value : null;
    const side = (q) => { const d = difference(q); return d > 0 ? "a" : d < 0 ? "b" : d === 0 ? "equal" : "none"; };
    const found = [];
    for (let q = 0; q < words.length; q++) {
      if (segment !== null && queries.segments[q] !== segment) continue;
      if (winner && side(q) !== winner) continue;
      if (wanted.every((word) => words[q].includes(word))) found.push(q);
    }
    if (order !== "data") {
      const sign = order === "a" ? -1 : 1;
      const key = (q) => { const d = difference(q); return Number.isNaN(d) ? Infinity : sign * d; };
      found.sort((x, y) => key(x) - key(y) || x - y);
    }
    return found;
  }

  function listQueries() {
    const found = matching();
    const items = found.slice(0, state.shown).map((q) => {
      const d = difference(q);
      const side = Number.isNaN(d) ? "" : d > 0 ? "up" : d < 0 ? "down" : "";
      return make("li", {}, make("button",
        { type: "button", "data-query": q, "aria-pressed": String(q === state.query), on: { click: () => pick(q) } },
        make("span", { className: "name" }, make("b", {}, queries.ids[q]),
          queries.texts && queries.texts[q] ? ` ${queries.texts[q]}` : ""),
        make("span", { className: `move ${side}` }, Number.isNaN(d) || systems.length < 2 ? "" : signed(d, 3))));
    });
    $("query-list").replaceChildren(...items);
    $("matches").textContent = found.length === words.length
      ? `${words.length.toLocaleString("en")} queries`
      : `${found.length.toLocaleString("en")} of ${words.length.toLocaleString("en")} queries`;
    $("more").hidden = found.length <= state.shown;
  }
  // ---- keys: only while the focus is in this section, so that they do not affect the rest of the page -------------
  $("queries").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "/") { $("search").focus(); event.preventDefault(); }
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return;
    const found = matching(), at = found.indexOf(state.query);
    const next = found[at < 0 ? 0 : at + step];
    if (next === undefined) return;
    pick(next);
    showInList(found.indexOf(next));
  });
  $("query-list").addEventListener("keydown", (event) => {
    const ends = { Home: "firstElementChild", End: "lastElementChild" }[event.key];
    if (ends) { $("query-list")[ends]?.querySelector("button").focus(); event.preventDefault(); return; }
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = step && event.target.closest("li")[step];
    if (next) { next.querySelector("button").focus(); event.preventDefault(); }
  });
  function showInList(place) {
    if (place >= state.shown) { state.shown = place + PAGE; listQueries(); }
    $("query-list").querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest" });
  }
  $("search").addEventListener("keydown", (event) => {
    const first = $("query-list").querySelector("button");
    if (first && event.key === "ArrowDown") { first.focus(); event.preventDefault(); }
    if (first && event.key === "Enter") first.click();
  });

  // ---- two rankings ------------------------------------------------------------------------------------------
  function ranked(system) {
    const found = [];
    for (let d = queries.indptr[state.query]; d < queries.indptr[state.query + 1]; d++) found.push(d);
    return found.filter((d) => systems[system].ranks[d] < data.depth)
      .sort((x, y) => systems[system].ranks[x] - systems[system].ranks[y]);
  }

  function labelOf(d) {
    const label = documents.labels[d];
    const shade = documents.max_label > 0 ? Math.round(4 * Math.max(label, 0) / documents.max_label) : 0;
    return make("span", { className: `label l${shade}` }, String(Math.round(label * 1000) / 1000));
  }

  function move(d, from, to) {
    const steps = systems[from].ranks[d] - systems[to].ranks[d];
    if (!steps) return make("span", { className: "move" }, "=");
    return make("span", { className: `move ${steps > 0 ? "up" : "down"}` }, `${steps > 0 ? "▲" : "▼"} ${Math.abs(steps)}`);
  }

  function fillRanking(id, system, other, letter) {
    const whole = ranked(system), alone = systems.length < 2;
    const order = state.deep ? whole : whole.slice(0, TOP);
    const why = (d, next) => make("button", {
      type: "button", className: "why", title: "Why is it above the next one?",
      "aria-label": `Why is ${titleOf(d)} above the next one?`,
      on: { click: () => { state.why = { system, above: d, below: next }; fillWhy(); } },
    }, "why?");
    const rows = order.map((d, i) => make("tr", {},
      make("td", {}, String(systems[system].ranks[d] + 1)),
      make("td", { className: "document" }, make("span", { className: "title", title: titleOf(d) }, titleOf(d)),
        documents.titles && documents.ids ? make("span", { className: "aside" }, nameOf(d)) : "",
        i + 1 < order.length ? why(d, order[i + 1]) : ""),
      make("td", {}, labelOf(d)),
      make("td", {}, short(systems[system].scores[d])),
      alone ? "" : make("td", {}, move(d, other, system))));
    const head = ["#", "document", "label", "score", ...(alone ? [] : [`from ${letter === "A" ? "B" : "A"}`])];
    $(id).replaceChildren(
      make("caption", {}, `${alone ? "" : `${letter}: `}${systems[system].name}`),
      make("thead", {}, make("tr", {}, ...head.map((text) => make("th", {}, text)))),
      make("tbody", {}, ...rows));
    const size = queries.sizes[state.query];
    if (order.length < size) {
      const words = `… ${size - order.length} more`;
      const wider = () => { state.deep = true; showQuery(); $(id).querySelector("tbody tr:nth-child(11) button")?.focus(); };
      const more = order.length < whole.length
        ? make("button", { type: "button", className: "why", on: { click: wider } }, `${words}: show ${whole.length}`) : words;
      $(id).append(make("tfoot", {}, make("tr", {}, make("td", { colSpan: head.length }, more))));
    }
  }

  // ---- why one stands above another --------------------------------------------------------------------------
  function row(contributions, d) {
    const found = new Map();
    for (let i = contributions.indptr[d]; i < contributions.indptr[d + 1]; i++) {
      found.set(contributions.indices[i], contributions.values[i]);
    }
    return found;
  }

  function chooser(label, choices, chosen, onChange) {
    const select = make("select", { on: { change: () => onChange(Number(select.value)) } },
      ...choices.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
    return make("label", {}, `${label} `, select);
  }

  function fillWhy() {
    const panel = $("why"), { system, above, below } = state.why;
    const pairs = [...new Set([state.a, state.b])].map((s) => [s, systems[s].name]);
    const choices = ranked(system).map((d) => [d, `${systems[system].ranks[d] + 1}. ${titleOf(d)}`]);
    const change = (part) => (value) => { state.why = { ...state.why, [part]: value }; fillWhy(); };
    const controls = make("div", { className: "controls" },
      chooser("System", pairs, system, (value) => { resetWhy(value); fillWhy(); }),
      chooser("Why is", choices, above, change("above")), chooser("above", choices, below, change("below")));
    const head = make("h3", {}, "Why is one document above another?");
    if (above === undefined || below === undefined) { panel.replaceChildren(); return; }
    const { contributions, scores, name, silence } = systems[system];
    if (!contributions || state.query >= queries.explained) {
      const reason = silence || (state.query >= queries.explained && queries.explained
        ? `To keep this file small, only the first ${queries.explained.toLocaleString("en")} queries are explained.`
        : "Not available: this model does not say what each feature adds.");
      panel.replaceChildren(head, controls, make("p", { className: "silence" }, reason));
      return;
    }
    const a = row(contributions, above), b = row(contributions, below);
    const parts = [...new Set([...a.keys(), ...b.keys()])]
      .map((f) => [f, (a.get(f) || 0) - (b.get(f) || 0)]).filter(([, value]) => value !== 0)
      .sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]));
    const shown = parts.slice(0, MOST_FEATURES), rest = parts.slice(MOST_FEATURES);
    if (rest.length) shown.push([`${rest.length} more features`, rest.reduce((sum, [, value]) => sum + value, 0)]);
    const total = scores[above] - scores[below];
    const most = Math.max(...shown.map(([, value]) => Math.abs(value)), 1e-300);
    const bar = (value) => {
      const fill = make("span", { className: value >= 0 ? "fill c0" : "fill c1" });
      fill.style.width = `${50 * Math.abs(value) / most}%`;
      fill.style[value >= 0 ? "left" : "right"] = "50%";
      return make("span", { className: "track", "aria-hidden": "true" }, fill);
    };
    const named = (feature) => { // with a link to how scores move with it, where the page shows that
      if (typeof feature === "string") return feature;
      const there = document.getElementById(`feature-${feature}`);
      return there ? make("a", { href: `#feature-${feature}` }, features[feature]) : features[feature];
    };
    const table = make("table", { id: "contributions" },
      make("thead", {}, make("tr", {}, ...["feature", "adds", ""].map((text) => make(text ? "th" : "td", {}, text)))),
      make("tbody", {}, ...shown.map(([feature, value]) =>
        make("tr", {}, make("td", {}, named(feature)), make("td", {}, signed(value)), make("td", {}, bar(value))))),
      make("tfoot", {}, make("tr", {}, make("td", {}, "difference of the scores"), make("td", {}, signed(total)), make("td"))));
    const place = total > 0 ? "above" : total < 0 ? "below" : "level with";
    panel.replaceChildren(head, controls,
      make("p", {}, `${name} puts “${titleOf(above)}” ${place} “${titleOf(below)}”. What each feature adds to the difference:`),
      make("div", { className: "scroll" }, table));
  }

  function resetWhy(system) {
    const order = ranked(system);
    state.why = { system, above: order[0], below: order[1] };
  }

  // ---- together ----------------------------------------------------------------------------------------------
  function showQuery() {
    const text = queries.texts && queries.texts[state.query];
    $("query-title").textContent = `Query ${queries.ids[state.query]}${text ? `: ${text}` : ""}`;
    const value = (s) => { const v = valueOf(s, state.query); return Number.isNaN(v) ? "undefined" : v.toFixed(4); };
    const each = [...new Set([state.a, state.b])].map((s) => `${systems[s].name} ${value(s)}`).join(", ");
    $("query-values").textContent = `${measures[state.measure]}: ${each}; ${queries.sizes[state.query]} documents`;
    fillRanking("ranking-a", state.a, state.b, "A");
    $("ranking-b").parentElement.hidden = systems.length < 2;
    if (systems.length > 1) fillRanking("ranking-b", state.b, state.a, "B");
    resetWhy(state.a);
    fillWhy();
  }

  function pick(query) {
    state.query = query;
    for (const button of $("query-list").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.query) === query));
    }
    drawDifferences();
    showQuery();
    remember();
  }

  // ---- the address says what is shown: #query=…&a=…&b=…&measure=… ----------------------------------------------------
  function remember() {
    const parts = { query: queries.ids[state.query], a: systems[state.a].name, b: systems[state.b].name,
      measure: measures[state.measure] };
    const text = Object.entries(parts).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    try { history.replaceState(null, "", `#${text}`); } catch { /* some browsers refuse it for files on disk */ }
  }
  function recall() {
    const wanted = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    const query = queries.ids.indexOf(wanted.get("query"));
    if (query < 0) return false;
    const place = (list, name, otherwise) => (list.includes(wanted.get(name)) ? list.indexOf(wanted.get(name)) : otherwise);
    const names = systems.map((system) => system.name);
    state.query = query;
    state.a = place(names, "a", state.a);
    state.b = place(names, "b", state.b);
    state.measure = place(measures, "measure", state.measure);
    return true;
  }
  function follow() {
    if (!recall()) return;
    refresh();
    $("queries").querySelector("details").open = true;
    $("query-title").scrollIntoView();
    showInList(matching().indexOf(state.query));
  }
  addEventListener("hashchange", follow);

  // ---- tables as CSV; a cell that a spreadsheet would run as a formula begins with an apostrophe ------------------------
  function save(name, rows) {
    const cell = (value) => {
      if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
      const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const csv = rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
    const link = make("a", { download: name, href: URL.createObjectURL(new Blob([csv], { type: "text/csv" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  $("queries-csv").addEventListener("click", () => {
    const pair = [...new Set([state.a, state.b])];
    const extra = { text: queries.texts, segment: queries.segments };
    const columns = Object.keys(extra).filter((name) => extra[name]);
    const measure = measures[state.measure];
    const head = ["query", ...columns, ...pair.map((s) => `${measure} ${systems[s].name}`), ...(pair.length > 1 ? ["difference"] : [])];
    save("queries.csv", [head, ...matching().map((q) => [queries.ids[q], ...columns.map((name) => extra[name][q]),
      ...pair.map((s) => valueOf(s, q)), ...(pair.length > 1 ? [difference(q)] : [])])]);
  });
  $("ranking-csv").addEventListener("click", () => {
    const rows = [...new Set([state.a, state.b])].flatMap((s) => ranked(s).map((d) =>
      [queries.ids[state.query], systems[s].name, systems[s].ranks[d] + 1, nameOf(d), titleOf(d), documents.labels[d], systems[s].scores[d]]));
    save("rankings.csv", [["query", "system", "rank", "document", "title", "label", "score"], ...rows]);
  });

  function refresh() {
    for (const letter of ["a", "b"]) $(`system-${letter}`).value = state[letter];
    $("measure").value = state.measure;
    drawDifferences();
    listQueries();
    showQuery();
  }

  const option = (text, value) => make("option", { value }, text);
  for (const letter of ["a", "b"]) {
    const select = $(`system-${letter}`);
    select.append(...systems.map((system, i) => option(system.name, i)));
    select.addEventListener("change", () => { state[letter] = Number(select.value); refresh(); });
    select.parentElement.hidden = systems.length < 2;
  }
  for (const one of [$("swap"), $("order").parentElement, $("winner").parentElement]) one.hidden = systems.length < 2;
  $("segment").parentElement.hidden = !queries.segments;
  if (queries.segments) {
    $("segment").append(...[...new Set(queries.segments)].sort((x, y) => x - y || (x < y ? -1 : 1)).map((one) => make("option", { value: one }, one)));
  }
  $("measure").append(...measures.map(option));
  $("measure").addEventListener("change", () => { state.measure = Number($("measure").value); refresh(); });
  $("swap").addEventListener("click", () => { [state.a, state.b] = [state.b, state.a]; refresh(); });
  for (const [id, event] of [["search", "input"], ["order", "change"], ["segment", "change"], ["winner", "change"]]) {
    $(id).addEventListener(event, () => { state.shown = PAGE; listQueries(); });
  }
  $("more").addEventListener("click", () => { state.shown += 4 * PAGE; listQueries(); });
  addEventListener("resize", drawDifferences);
  state.query = Math.max(0, queries.ids.findIndex((_, q) => !Number.isNaN(difference(q))));
  if (recall()) follow(); else refresh();
})();
