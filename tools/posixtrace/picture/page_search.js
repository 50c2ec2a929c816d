/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_search.js - the search. A hit is an event or a span whose name contains the text, or an event
 * with a field that fits it. The fields are those that the page has: see details.h of the tool.
 *
 * Each row has lists of hits of three kinds, as indexes in the order of time. Points are events
 * that the page shows one by one. Details are events of which the page has only the fields. The
 * third kind is spans. All hits are ordered by time, then by row, kind and index, so a step never
 * leaves out a hit of the same time.
 */

const HIT_KINDS = ["points", "details", "spans"];
const HIT_LINES = 100; /* the most hits that are listed at once */
const HIT_WORD = 120;  /* the most characters of a field that a line of the list shows */

/* Returns the sorted times of the hits of a kind, as a function of the index among the hits. */
const hitTime = (row, kind) => {
	const times = kind === 0 ? row.time : kind === 1 ? row.detailTime : row.begin, of = row.hits[kind];
	return k => times[of[k]];
};

/* Returns the item of a hit. */
function itemOfHit({ row, kind, k }) {
	const i = row.hits[kind][k];
	return kind === 0 ? { kind: "event", row, i } : kind === 2 ? { kind: "span", row, i } :
		{ kind: "event", row, i: -1, begin: row.detailTime[i], took: 0, detail: i };
}

/* ------------------------------------------------------------------ what fits */

const escaped = text => text.replace(/[\\^$.*+?()[\]{}|\/-]/g, "\\$&");
const isNumber = text => /^-?(0x[\da-f]+|\d+(\.\d+)?)$/i.test(text);

/*
 * Returns the pattern that finds a text in the lines "name=value". A number fits whole numbers
 * only, so that fd=3 does not find fd=35. The text before a "=" must be the whole name of a field.
 */
function fieldPattern(text) {
	const at = text.indexOf("="), value = text.slice(at + 1).trim();
	const whole = word => isNumber(word) ? (word[0] === "-" ? "(?<![\\w.])" : "(?<![\\w.-])") + escaped(word) + "(?![\\w.])" : escaped(word);
	const anywhere = whole(text);
	if (at < 1) return new RegExp(anywhere, "im");
	const named = "^" + escaped(text.slice(0, at).trim()) + "=" + (isNumber(value) ? escaped(value) + "(?![\\w.])" : ".*?" + escaped(value));
	return new RegExp(isNumber(value) ? named : named + "|" + anywhere, "im");
}

/*
 * Returns the range of durations that are written like the text, as [least, end], or null if the
 * text is not a duration.
 */
function durationRange(text) {
	const found = /^(?:time\s*=\s*)?(\d+(?:\.(\d+))?)\s*(ns|us|µs|ms|s)$/i.exec(text);
	if (!found) return null;
	const unit = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 }[found[3].toLowerCase()], half = unit * 10 ** -(found[2] || "").length / 2;
	return [Number(found[1]) * unit - half, Number(found[1]) * unit + half];
}

/* Returns whether the duration of a row's event with fields k is in a range, which may be null. */
const tookFits = (row, k, range) => range !== null && row.detailTook[k] > 0 && row.detailTook[k] - 1 >= range[0] && row.detailTook[k] - 1 < range[1];

/*
 * Returns a function of a row and an index k of fields, which returns whether one of these fields
 * fits.
 */
function detailFits(pattern, range) {
	const texts = meta.details ? meta.details.texts : [], fits = new Uint8Array(texts.length + 1);

	for (let i = 0; i < texts.length; i++) fits[i + 1] = pattern.test(texts[i]);
	return (row, k) => fits[row.detailText[k]] === 1 || tookFits(row, k, range);
}

/* ------------------------------------------------------------------ the hits */

/* Returns the indexes for which fits() is true. */
function indexesOf(n, fits) {
	const list = new Uint32Array(n);
	let count = 0;
	for (let i = 0; i < n; i++) if (fits(i)) list[count++] = i;
	return list.slice(0, count);
}

/*
 * Finds the hits of a row. An event of which the page has both the point and the fields is one hit.
 * A call that is a point is not a second hit as a span. Adds the number of events whose fields fit
 * to matching.values.
 */
function rowHits(row, matching, fits) {
	const values = indexesOf(row.detailTime.length, k => fits(row, k)), byName = k => matching.types[row.detailType[k]];

	matching.values += values.length;
	if (!meta.has_points) {
		row.hits = [new Uint32Array(0), indexesOf(row.detailTime.length, (next => k => {
			const is = values[next] === k;
			if (is) next++;
			return is || byName(k);
		})(0))];
	} else {
		const flags = new Uint8Array(row.time.length);
		let i = 0;
		for (const k of values) {
			/* Fields are in the order of the events. All fields belong to an event. */
			while (i < row.time.length && (row.time[i] < row.detailTime[k] || (row.time[i] === row.detailTime[k] && row.type[i] !== row.detailType[k]))) i++;
			if (i < row.time.length && row.time[i] === row.detailTime[k]) flags[i++] = 1;
		}
		row.hits = [indexesOf(row.time.length, n => flags[n] || matching.types[row.type[n]]), new Uint32Array(0)];
	}
	row.hits.push(matching.alone.some(Boolean) ? indexesOf(row.begin.length, i => matching.alone[row.series[i]]) : new Uint32Array(0));
}

/*
 * Returns the number of hits of a row and kind that precede a hit. If after is true, the hit itself
 * counts, too. The hit has the members time, index, kind and k; k may be missing.
 */
function hitsBefore(row, index, kind, hit, after) {
	const n = row.hits[kind].length, time = hitTime(row, kind);
	if (index === hit.index && kind === hit.kind) return hit.k + (after ? 1 : 0);
	const isFirst = index < hit.index || (index === hit.index && kind < hit.kind);
	return search(n, time, hit.time + (isFirst ? 0.5 : 0));
}

/* Calls use() for the kinds of hits of the rows that are shown. */
function eachHits(use) {
	rows.forEach((row, index) => {
		if (!row.hidden) HIT_KINDS.forEach((none, kind) => row.hits[kind].length && use(row, index, kind));
	});
}

/* Returns the hit after a hit, or before it, or null. */
function nextHit(hit, forward) {
	let best = null;
	eachHits((row, index, kind) => {
		const k = forward ? hitsBefore(row, index, kind, hit, true) : hitsBefore(row, index, kind, hit, false) - 1;
		if (k < 0 || k >= row.hits[kind].length) return;
		const time = hitTime(row, kind)(k);
		const order = best ? time - best.time || index - best.index || kind - best.kind : 0;
		if (!best || (forward ? order < 0 : order > 0)) best = { time, index, kind, k, row };
	});
	return best;
}

/* Returns the number of hits before a hit. */
function hitPlace(hit) {
	let count = 0;
	eachHits((row, index, kind) => { count += hitsBefore(row, index, kind, hit, false); });
	return count;
}

const beforeAll = { time: -Infinity, index: -1, kind: -1, k: 0 }, afterAll = { time: Infinity, index: Infinity, kind: 9, k: 0 };

function find(text) {
	const wanted = text.trim().toLowerCase();

	state.mark = state.hit = state.matching = null;
	byId("found-list").textContent = "";
	if (wanted) {
		const fits = it => it.name.toLowerCase().includes(wanted), sum = list => list.reduce((n, it) => n + (fits(it) ? it.count : 0), 0);
		state.matching = { text: text.trim(), pattern: fieldPattern(text.trim()), range: durationRange(text.trim()), types: meta.types.map(fits), series: meta.series.map(fits),
			values: 0, events: sum(meta.types), spans: sum(meta.series) };
		const shown = new Set(meta.has_points ? meta.types.filter(type => type.count).map(type => type.name) : []);
		/* the series whose spans are hits of their own */
		state.matching.alone = meta.series.map(series => fits(series) && !shown.has(series.name));
		const test = detailFits(state.matching.pattern, state.matching.range);
		for (const row of rows) rowHits(row, state.matching, test);
		markMap();
	}
	byId("found-tab").hidden = !wanted;
	if (!wanted && !byId("hits").hidden) openTab("types");
	sayFound();
	if (!byId("hits").hidden) listHits();
	redraw();
	if (flame.open) flameDraw();
}

/* Notes which bins of the picture of the whole log have a hit. */
function markMap() {
	const bins = 1024, marks = state.matching.map = new Uint8Array(bins);
	for (const row of rows)
		HIT_KINDS.forEach((none, kind) => {
			const n = row.hits[kind].length, time = hitTime(row, kind);
			for (let k = 0; k < n;) {
				const bin = Math.min(bins - 1, Math.floor(time(k) / length * bins));
				marks[bin] = 1;
				k = Math.max(k + 1, search(n, time, (bin + 1) / bins * length));
			}
		});
}

/* ------------------------------------------------------------------ words about the hits */

/* Returns which part of the values a search can find, or "" if it finds all. */
function searchLimit() {
	const kept = meta.details ? meta.details.count : 0;
	if (kept >= meta.events) return "";
	return "The page has the fields of " + grouped(kept) + " of " + counted(meta.events, "event") + "; a search finds no values of the others";
}

/* Returns the command that searches all values. */
function searchCommand() {
	const paths = (isMany ? logs.map(log => log.path) : [meta.log]).map(shellWord);
	return "posixtrace dump " + paths.join(" ") + " | grep -i -F -e " + quoted(state.matching.text);
}

/* Writes the number of hits and the place of the current one, also for screen readers. */
function sayFound() {
	const to = byId("found"), { matching, hit } = state;
	to.textContent = "";
	for (const name of ["events", "spans", "values", "hits", "place"]) delete to.dataset[name];
	if (!matching) return;
	let all = 0, shown = 0;
	for (const row of rows) HIT_KINDS.forEach((none, kind) => { all += row.hits[kind].length; if (!row.hidden) shown += row.hits[kind].length; });
	Object.assign(to.dataset, { events: matching.events, spans: matching.spans, values: matching.values, hits: shown });
	if (hit) to.dataset.place = hitPlace(hit) + 1;
	to.append(hit ? grouped(hitPlace(hit) + 1) + " of " + counted(shown, "hit") : counted(shown, "hit"));
	const limit = searchLimit(), left = (meta.has_points ? 0 : matching.events) + (meta.has_spans ? 0 : matching.spans);
	if (all > shown) to.append(", " + grouped(all - shown) + " in hidden threads");
	if (limit) {
		const part = (meta.details ? meta.details.count : 0) / Math.max(1, meta.events) * 100;
		to.append(element("span", { class: "warn", title: limit }, "; searched the values of " + (part && part < 1 ? "< 1" : Math.floor(part)) + " % of the events"));
	}
	if (left) to.append("; the name has " + grouped(left) + " in the log");
	if (hit) to.append(element("span", { class: "unseen" }, ": " + hitText(hit)));
}

/* Returns the field of an event that fits, as [name, value], or null if its name fits only. */
function fittingField(row, k) {
	const { pattern, range } = state.matching;
	const found = fieldsOf(row, k).find(([name, value]) => pattern.test(name + "=" + value) || (name === "time" && tookFits(row, k, range)));
	return found || null;
}

const fieldOfHit = hit => { const it = itemOfHit(hit), k = it.kind === "span" ? -1 : detailOf(it); return k < 0 ? null : fittingField(it.row, k); };
const hitText = hit => { const field = fieldOfHit(hit); return titleOf(itemOfHit(hit)) + (field ? ", " + field.join("=").slice(0, HIT_WORD) : "") + ", " + threadName(hit.row) + ", " + shortClock(hit.time); };

/*
 * Returns a field as nodes for its name and its value, in which the text that fits is marked. If
 * most is given, a long value is cut around the mark.
 */
function markField(name, value, most) {
	const found = state.matching ? state.matching.pattern.exec(name + "=" + value) : null;
	const from = found ? found.index : 0, to = found ? from + found[0].length : 0, start = name.length + 1;
	const cut = most && value.length > most ? Math.max(0, Math.min(value.length - most, to - start - most)) : 0, end = most ? cut + most : value.length;
	const part = (text, at, a, b) => {
		const low = Math.max(a, from - at), high = Math.min(b, to - at);
		return low < high ? [text.slice(a, low), element("mark", {}, text.slice(low, high)), text.slice(high, b)] : [text.slice(a, b)];
	};
	return [part(name, 0, 0, name.length), [cut ? "\u2026" : "", ...part(value, start, cut, Math.min(end, value.length)), end < value.length ? "\u2026" : ""]];
}

/* Lists the hits from the current one on, or from the first hit. */
function listHits() {
	const to = byId("found-list");
	to.textContent = "";
	if (!state.matching) return;
	const limit = searchLimit(), total = Number(byId("found").dataset.hits), lines = [];
	let hit = state.hit || nextHit(beforeAll, true);
	const first = hit ? hitPlace(hit) : 0;
	for (let k = 0; hit && k < HIT_LINES; k++, hit = nextHit(hit, true)) {
		const at = hit, field = fieldOfHit(at), item = itemOfHit(at), [name, value] = field ? markField(...field, HIT_WORD) : [[], []];
		const line = element("tr", at === state.hit ? { "aria-current": "true" } : {},
			element("td", { class: "n" }, grouped(first + k + 1)), element("td", { class: "name" }, dotOf(item),
				element("button", { type: "button", class: "figure", title: "Show it", click: () => { goToHit(at); openTab("selection"); } }, titleOf(item)),
				...(field ? [element("br"), ...name, name.length && field[0] ? "=" : "", ...value] : [])),
			element("td", { class: "name" }, shortClock(at.time), element("br"), shortName(at.row)));
		lines.push(line);
	}
	to.append(element("p", { class: "note" }, total ? "Hits " + grouped(first + 1) + " to " + grouped(first + lines.length) + " of " + grouped(total) + " for " : "No hit for ", element("b", {}, state.matching.text), "."));
	if (limit) to.append(element("p", { class: "note", id: "found-limit" }, limit + ". This command searches all:"), element("pre", { class: "command" }, searchCommand()));
	if (!lines.length) return;
	to.append(table("hit-list", [["", 1], ["Event"], ["When, thread"]], lines));
	const jump = (text, place) => element("button", { type: "button", click: () => { goToHit(place); listHits(); } }, text);
	const more = hit ? [jump("More hits", hit)] : [];
	if (first) more.unshift(jump("From the first", nextHit(beforeAll, true)));
	if (more.length) to.append(element("p", { class: "note", id: "found-more" }, ...more));
}

/* ------------------------------------------------------------------ steps */

/* Shows a hit, at the zoom that is shown, and its fields. */
function goToHit(hit) {
	const { row, time } = hit, item = itemOfHit(hit);

	state.hit = hit;
	state.mark = time;
	if (time < state.from || time > state.to) {
		const half = (state.to - state.from) / 2;
		show(time - half, time + half);
	}
	if (item.kind === "span" && row.folded) { row.folded = false; layRows(); }
	const y = row.y - state.top;
	if (y < 0 || y + row.height > height - AXIS) scroll(y - (height - AXIS) / 2);
	chooseItem(item);
	sayFound();
}

/*
 * Goes to the next hit, or the one before, on any row that is shown. Without a current hit the
 * search begins at the mark, or at the edge of the time that is shown. Behind the last hit it goes
 * to the first one.
 */
function step_to(forward) {
	if (!state.matching) return;
	const from = state.hit || { ...(forward ? beforeAll : afterAll), time: state.mark !== null ? state.mark : forward ? state.from : state.to };
	const hit = nextHit(from, forward) || nextHit(forward ? beforeAll : afterAll, forward);
	if (!hit) return;
	goToHit(hit);
	if (byId("hits").hidden) openTab("selection"); else listHits();
}

function searchFor(name) {
	byId("search").value = name;
	find(name);
}

/* ------------------------------------------------------------------ drawing */

/* Returns whether a row's span begins or ends at a hit. */
function isHitSpan(row, i) {
	const at = time => [0, 1].some(kind => {
		const n = row.hits[kind].length, of = hitTime(row, kind), k = n ? search(n, of, time) : 0;
		return k < n && of(k) === time;
	});
	return at(row.begin[i] + row.took[i]) || at(row.begin[i]);
}

/* Marks the events of a row that are hits; y is the top of the row's events. */
function drawHits(row, y, perPixel) {
	if (!state.matching) return;
	for (const kind of [0, 1]) {
		const of = row.hits[kind], time = hitTime(row, kind), type = kind ? row.detailType : row.type;
		eachPixel(of.length, time, perPixel, k => {
			const x = placeOf(time(k));
			paint.box(x, x + 2, y, POINTS - 2, colours.typeWord[type[of[k]]], 1);
			paint.box(x - 0.5, x + 2.5, y - 3, 2, colours.accentWord, 1);
		});
	}
}

/* Marks the hits below the picture of the whole log. */
function drawMapHits() {
	if (!state.matching) return;
	const marks = state.matching.map, each = (mapWidth - LABEL) / marks.length;
	mapPen.fillStyle = colours.accent;
	marks.forEach((is, bin) => { if (is) mapPen.fillRect(LABEL + bin * each, mapHeight - 4, Math.max(1.5, each), 4); });
}
