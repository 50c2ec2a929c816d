/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_panels.js - the side of the page, which has counts, durations, threads, gaps and the
 * selection.
 */

/* ------------------------------------------------------------------ selection */

function inRange(from, to) {
	const types = new Float64Array(meta.types.length), count = meta.series.map(() => 0);
	let total = 0, exact = meta.has_points;

	rows.forEach((row, index) => {
		if (meta.has_points) {
			let i = search(row.time.length, k => row.time[k], from);
			for (; i < row.time.length && row.time[i] <= to; i++) { types[row.type[i]]++; total++; }
		} else {
			const level = levels[0], of = level.rows[index];
			let i = search(of.bin.length, k => of.bin[k], Math.floor(from / level.width));
			for (; i < of.bin.length && of.bin[i] * level.width <= to; i++) {
				types[of.type[i]] += of.points[i];
				total += of.points[i];
			}
		}
	});
	const each = use => rows.forEach(row => {
		const first = search(row.begin.length, k => row.begin[k], from);
		for (let i = first; i < row.begin.length && row.begin[i] <= to; i++) use(row.series[i], row.took[i]);
	});
	each(series => { count[series]++; });
	const took = count.map(n => new Float64Array(n));
	count.fill(0);
	each((series, ns) => { took[series][count[series]++] = ns; });
	for (const list of took) list.sort();
	return { types, took, total, exact };
}

function dot(of, index) {
	const it = element("span", { class: "dot" });
	it.dataset.of = of;
	it.dataset.index = index;
	it.style.background = colours[of][index];
	return it;
}

function table(id, heads, lines) {
	const body = element("tbody");
	for (const line of lines) body.append(line);
	return element("table", { id },
		element("thead", {}, element("tr", {}, ...heads.map(([text, right]) =>
			element("th", right ? { class: "n", scope: "col" } : { scope: "col" }, text)))), body);
}

const perSecond = rate => rate >= 1000 ? grouped(Math.round(rate)) : rate.toPrecision(4);
const cell = text => element("td", { class: "n" }, text);

function showSelection() {
	const to = byId("selection");

	to.textContent = "";
	if (state.item) to.append(chosenCard());
	if (!state.chosen) {
		to.append(element("p", { class: "note" }, "Shift and drag, or drag on the axis, to select a span of time. A click on an event, a span or a state shows all about it."));
		return;
	}
	const [from, end] = state.chosen, found = inRange(from, end);
	const order = [...meta.types.keys()].filter(i => found.types[i]).sort((a, b) => found.types[b] - found.types[a]);
	to.append(element("p", { class: "note" }, clock(from), element("br"), span(end - from) + ", ",
		element("b", { id: "selected-events" }, grouped(found.total)), found.exact ? " events, " : " events, about, ",
		span((end - from) / Math.max(1, found.total)) + " apart"));
	to.append(table("selected-types", [["Event type"], ["Events", 1], ["Per second", 1]], order.map(i =>
		element("tr", {}, element("td", { class: "name" }, dot("type", i), meta.types[i].name),
			cell(grouped(found.types[i])), cell(perSecond(found.types[i] * 1e9 / Math.max(1, end - from)))))));
	if (KINDS) to.append(stateTable("selected-states", from, end));
	const spans = [...meta.series.keys()].filter(i => found.took[i].length);
	if (!spans.length) return;
	to.append(table("selected-spans", [[meta.has_spans ? "Span that begins here" : "Span that begins here; short ones were not kept"], ["Count", 1], ["p50", 1], ["p99", 1], ["Max", 1]], spans.map(i => {
		const sorted = found.took[i], n = sorted.length;
		const at = part => figure(i, sorted[Math.min(n - 1, Math.max(0, Math.ceil(n * part) - 1))], from, end);
		return element("tr", {}, element("td", { class: "name" }, dot("series", i), meta.series[i].name),
			cell(grouped(n)), cell(at(0.5)), cell(at(0.99)), cell(at(1)));
	})));
}

/* ------------------------------------------------------------------ figures and rows */

/* Returns a button with a duration, which shows the place of the span that has this duration. */
function figure(series, took, from, to) {
	return element("button", { type: "button", class: "figure", title: "Show this " + meta.series[series].name,
		click: event => { event.stopPropagation(); goToSpan(series, took, from, to); } }, span(took));
}

/* Returns a button with the number of errors of a type. Each click shows the next error. */
function errorButton(type) {
	return element("button", { type: "button", class: "figure", title: "Show the next error of " + meta.types[type].name,
		click: event => { event.stopPropagation(); goToError(type); } }, grouped(meta.types[type].errors));
}

function layRows() {
	placeRows(byId("row-order") ? byId("row-order").value : "process");
	scroll(0);
	if (flame.open) flameUpdate();
}

/* Hides the rows whose name does not have the text. */
function filterRows(text) {
	const wanted = text.trim().toLowerCase();
	for (const row of rows) row.hidden = wanted !== "" && !threadName(row).toLowerCase().includes(wanted);
	for (const curve of curves) curve.hidden = wanted !== "" && !(curveName(curve) + " " + curveProcess(curve)).toLowerCase().includes(wanted);
	layRows();
	if (state.hit && state.hit.row.hidden) state.hit = null;
	sayFound();
	if (!byId("hits").hidden) listHits();
}

function rowButton(row, property, on, off, what) {
	const button = element("button", { type: "button", class: "row", title: what, "aria-label": what + " " + (row.isCurve ? curveName(row) : threadName(row)), "aria-pressed": "false",
		click: event => {
			event.stopPropagation();
			row[property] = !row[property];
			button.textContent = row[property] ? on : off;
			button.setAttribute("aria-pressed", row[property]);
			layRows();
		} }, off);
	button.dataset.property = property;
	return button;
}

function rowTools() {
	const filter = element("input", { id: "row-filter", type: "search", placeholder: "Filter threads", "aria-label": "Show threads with this name only", autocomplete: "off" });
	const order = element("select", { id: "row-order", "aria-label": "Order of threads" },
		...[["process", "by process"], ["events", "most events first"], ["spans", "most spans first"], ["begin", "by beginning"]].map(([value, text]) => element("option", { value }, text)));
	filter.addEventListener("input", () => filterRows(filter.value));
	order.addEventListener("change", layRows);
	return element("p", { class: "note", id: "row-tools" }, filter, order);
}

function choose(range) {
	state.chosen = range && range[1] > range[0] ? range : null;
	showSelection();
	redraw();
	flameFollow();
}

/* ------------------------------------------------------------------ panels */

function bars(series) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const most = Math.max(...series.bars.map(bar => bar[1]), 1);
	const low = Math.log2(Math.max(1, series.bars[0][0])), high = Math.log2(series.bars[series.bars.length - 1][0] + 1);
	const slots = Math.max(8, Math.round((high - low) * 4) + 1), each = 360 / slots;

	svg.setAttribute("viewBox", "0 0 360 64");
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", "Number of spans by duration");
	for (const [from, count] of series.bars) {
		const slot = Math.round((Math.log2(Math.max(1, from)) - low) * 4), rect = document.createElementNS(svg.namespaceURI, "rect");
		const tall = Math.max(1, 48 * count / most);
		rect.setAttribute("class", "bar");
		rect.setAttribute("x", slot * each);
		rect.setAttribute("y", 50 - tall);
		rect.setAttribute("width", Math.max(1, each - 1));
		rect.setAttribute("height", tall);
		rect.setAttribute("fill", colours.accent);
		const title = document.createElementNS(svg.namespaceURI, "title");
		title.textContent = "from " + span(from) + ": " + grouped(count);
		rect.append(title);
		svg.append(rect);
	}
	for (const [x, text, anchor] of [[0, span(series.min), "start"], [180, "", "middle"], [360, span(series.max), "end"]]) {
		const label = document.createElementNS(svg.namespaceURI, "text");
		label.setAttribute("x", x);
		label.setAttribute("y", 62);
		label.setAttribute("font-size", 10);
		label.setAttribute("fill", "currentColor");
		label.setAttribute("opacity", 0.7);
		label.setAttribute("text-anchor", anchor);
		label.textContent = text;
		svg.append(label);
	}
	return svg;
}

function fillPanels() {
	const order = (list, value) => [...list.keys()].sort((a, b) => value(list[b]) - value(list[a]));

	const failed = meta.types.some(type => type.errors);
	byId("types").append(table("type-counts", [["Event type"], ["Events", 1]].concat(failed ? [["Errors", 1]] : []),
		order(meta.types, t => t.count).filter(i => meta.types[i].count).map(i => {
			const line = element("tr", { class: "link", click: () => searchFor(meta.types[i].name) },
				element("td", { class: "name" }, dot("type", i), meta.types[i].name), cell(grouped(meta.types[i].count)),
				...(failed ? [cell(meta.types[i].errors ? errorButton(i) : "")] : []));
			line.dataset.name = meta.types[i].name;
			line.dataset.count = meta.types[i].count;
			return line;
		})));
	const durations = byId("spans");
	if (!meta.series.length)
		durations.append(element("p", { class: "note" }, "No event type of this log begins, ends or times anything."));
	for (const i of order(meta.series, s => s.total)) {
		const series = meta.series[i];
		if (!series.count) continue;
		const card = element("div", { class: "card" },
			element("h3", { click: () => searchFor(series.name) }, dot("series", i), series.name),
			element("p", {}, grouped(series.count) + " × — p50 ", figure(i, series.p50, 0, length), ", p99 ", figure(i, series.p99, 0, length),
				", max ", figure(i, series.max, 0, length)), bars(series));
		card.dataset.name = series.name;
		card.dataset.count = series.count;
		durations.append(card);
	}
	if (isMany)
		byId("threads").append(table("log-list", [["Log"], ["Events", 1], ["Spans", 1], ["Lost", 1]], logs.map((log, index) => {
			const line = element("tr", { class: "link", click: () => { const head = rows.heads.find(it => it.log === index); if (head) scroll(head.y - state.top); } },
				element("td", { class: "name", title: log.path }, log.name, element("br"), describeLog(log)), cell(grouped(log.events)), cell(grouped(log.spans)), cell(grouped(log.lost)));
			line.dataset.name = log.name;
			line.dataset.count = log.events;
			return line;
		})));
	byId("threads").append(rowTools(), table("thread-counts", [["Process / thread"], ["Events", 1], ["Spans", 1]], rows.map(row => {
		const line = element("tr", { class: "link", click: () => { scroll(row.y - state.top); } },
			element("td", { class: "name" }, rowButton(row, "pinned", "\u2605", "\u2606", "Pin to the top"),
				rowButton(row, "folded", "\u25b8", "\u25be", "Fold"), threadName(row)), cell(grouped(row.points)), cell(grouped(row.spans)));
		line.dataset.pid = row.pid;
		line.dataset.tid = row.tid;
		line.dataset.count = row.points;
		return line;
	})));
	const gaps = byId("gaps");
	gaps.append(element("p", { class: "note" }, meta.lost ? counted(meta.lost, "event") + " lost." :
		meta.bands.some(band => band.kind === "lost") ? "How many events were lost is not known." : "No event was lost."));
	if (meta.bands.length)
		gaps.append(table("gap-list", [["From"], ["What"], ["How long", 1]], meta.bands.map(band =>
			element("tr", { class: "link", click: () => { const by = Math.max(band.end - band.begin, length / 1000); show(band.begin - by, band.end + by); } },
				element("td", {}, (byStart ? clock(band.begin) : clock(band.begin).slice(11, 26))), element("td", {}, (isMany ? logs[band.log].name + ": " : "") + band.name), cell(span(band.end - band.begin))))));
	statePanel();
	curvePanel();
	waitPanel();
	showSelection();
}

function openTab(name) {
	for (const tab of document.querySelectorAll("nav button")) {
		const is = tab.dataset.tab === name;
		tab.setAttribute("aria-selected", is);
		byId(tab.dataset.tab).hidden = !is;
	}
	if (name === "hits") listHits();
}
