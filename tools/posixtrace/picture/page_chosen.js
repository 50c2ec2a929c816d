/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_chosen.js - the chosen item. The panel of the selection shows all that the page has about
 * it. An item is a span, an event or a state of a thread: { kind, row, i }, where i is its index in
 * the row. If the page lacks the item, i is -1, and the object has the members "begin" and "took"
 * instead. If the page has too many events to have each of them, the object of an event may have
 * the member "detail": the index of the event's fields.
 */

/* Returns the begin and the length of an item. */
function extentOf(it) {
	const { kind, row, i } = it;
	if (i < 0) return [it.begin, it.took];
	return kind === "span" ? [row.begin[i], row.took[i]] : kind === "state" ? [row.stayBegin[i], row.stayTook[i]] : [row.time[i], 0];
}

/* Returns whether the page can show an item in the panel of the selection. */
const isShown = it => it.i >= 0 || it.detail !== undefined;

const typeOfEvent = it => it.i < 0 ? it.row.detailType[it.detail] : it.row.type[it.i];
const nameOfItem = it => it.kind === "span" ? meta.series[it.row.series[it.i]].name : it.kind === "state" ? stayName(it) : meta.types[typeOfEvent(it)].name;
const titleOf = it => nameOfItem(it) + (it.kind === "event" ? "" : ": " + span(extentOf(it)[1]));
const dotOf = it => it.kind === "span" ? dot("series", it.row.series[it.i]) : it.kind === "state" ? dot("state", it.row.stayKind[it.i]) : dot("type", typeOfEvent(it));

/*
 * Chooses an item, or no item if it is null. If the item is a span, state.span refers to it, too.
 */
function chooseItem(it) {
	state.item = it;
	state.span = it && it.kind === "span" ? it : null;
	showSelection();
	redraw();
}

/* Shows an item in the middle, and chooses it if the page has it. */
function goToItem(it) {
	const { row } = it, [begin, took] = extentOf(it);
	/* An event has no length, so the zoom remains unless it shows a large part of the log. */
	const size = it.kind === "event" ? Math.max(50, Math.min((state.to - state.from) / 3, length / 300)) : Math.max(took, 50);

	row.hidden = false;
	if (it.kind === "span") row.folded = false;
	layRows();
	state.mark = begin;
	show(begin - size, begin + 2 * size);
	scroll(row.y - state.top - (height - AXIS - row.height) / 2);
	chooseItem(isShown(it) ? it : null);
}

/*
 * Shows a span of a series that begins between two times: the one whose duration is nearest to the
 * wanted one. Returns false if there is none.
 */
function goToSpan(series, took, from, to) {
	let best = null, bestBy = Infinity;

	for (const row of rows)
		for (let i = search(row.begin.length, k => row.begin[k], from); i < row.begin.length && row.begin[i] <= to; i++) {
			const by = row.series[i] === series ? Math.abs(row.took[i] - took) : Infinity;
			if (by < bestBy) { best = { kind: "span", row, i }; bestBy = by; }
		}
	if (!best) return false;
	goToItem(best);
	byId("found").textContent = titleOf(best);
	return true;
}

/* Returns a button that leads to an item. */
function placeButton(text, it, title) {
	return element("button", { type: "button", class: "figure", title: title || "Show it",
		click: event => { event.stopPropagation(); goToItem(it); openTab("selection"); } }, text);
}

/*
 * Returns the items of the same kind before and after an item. For a span or a state it also
 * returns the events of the thread before and after it.
 */
function neighboursOf(it) {
	const { kind, row, i } = it, all = kind === "span" ? row.begin : kind === "state" ? row.stayBegin : row.time, found = [];
	const offer = (words, of, k, n) => { if (k >= 0 && k < n) found.push([words, { kind: of, row, i: k }]); };

	if (i < 0) return found;
	offer("previous " + kind, kind, i - 1, all.length);
	offer("next " + kind, kind, i + 1, all.length);
	if (kind !== "event") {
		const [begin, took] = extentOf(it), n = row.time.length;
		offer("event before", "event", search(n, k => row.time[k], begin) - 1, n);
		offer("event after", "event", search(n, k => row.time[k], begin + took + 1), n);
	}
	return found;
}

/* Goes to the item before the chosen one, or after it. */
function goToNeighbour(forward) {
	const found = state.item && neighboursOf(state.item).find(([words]) => words === (forward ? "next " : "previous ") + state.item.kind);

	if (!found) return;
	goToItem(found[1]);
	openTab("selection");
}

/* Returns the event at a place of the view, or null. */
function eventAt(x, y) {
	const index = rowAt(y, rows), row = rows[index], time = timeOf(x), near = (state.to - state.from) / timeWidth() * 4;
	if (index < 0 || x < LABEL || y < AXIS || y + state.top - AXIS - row.y > POINTS + 3 || !row.time.length) return null;
	let i = search(row.time.length, k => row.time[k], time);
	if (i > 0 && (i === row.time.length || time - row.time[i - 1] < row.time[i] - time)) i--;
	return Math.abs(row.time[i] - time) <= near ? { kind: "event", row, i } : null;
}

/* Returns the item at a place of the view, or null. */
const itemAt = (x, y) => stateUnder(x, y) || spanAt(x, y) || eventAt(x, y);

/* Returns the names of the functions of the stack of an event with this time, the innermost first. */
function stackAt(row, time, type) {
	for (let i = search(row.stackTime.length, k => row.stackTime[k], time); i < row.stackTime.length && row.stackTime[i] === time; i++)
		if (type === undefined || row.stackType[i] === type)
			return meta.flames.stacks[row.stack[i]].map(name => meta.flames.names[name]);
	return [];
}

/* ------------------------------------------------------------------ fields */

/*
 * Returns the index of the fields of an event with this time for which fits() is true, or -1 if
 * there are none.
 */
function detailAt(row, time, fits) {
	for (let i = search(row.detailTime.length, k => row.detailTime[k], time); i < row.detailTime.length && row.detailTime[i] === time; i++)
		if (fits(i)) return i;
	return -1;
}

/*
 * Returns the index of the fields of an event of a row. If the page has the fields of all events,
 * they are in the order of the events.
 */
const detailOf = it => it.i < 0 ? it.detail : meta.details && meta.details.is_all && meta.has_points ? it.i :
	detailAt(it.row, it.row.time[it.i], k => it.row.detailType[k] === it.row.type[it.i]);

/*
 * Returns the events that begin and end a span, as [words, row, index]. The event that ends the
 * span is, in this order of preference: an event with the name of the span, one with the duration
 * of the span, or one without a duration. It may be an event of another thread.
 */
function edgesOf({ row, i }) {
	const begin = row.begin[i], end = begin + row.took[i], name = meta.series[row.series[i]].name;
	const named = (of, k) => meta.types[of.detailType[k]].name === name;
	const fits = of => [k => named(of, k), k => of.detailTook[k] - 1 === row.took[i], k => !of.detailTook[k]];
	const find = (of, time, tests) => tests.reduce((found, test) => found >= 0 ? found : detailAt(of, time, test), -1);
	let to = row, last = find(row, end, fits(row));

	for (const of of rows)
		if (last < 0 && of.pid === row.pid && of.log === row.log && (last = find(of, end, fits(of))) >= 0) to = of;
	const isCall = last >= 0 && (named(to, last) || to.detailTook[last]);
	const first = isCall ? -1 : find(row, begin, [k => !row.detailTook[k]]);
	return [[isCall ? "fields" : "fields of its end", to, last]].concat(isCall ? [] : [["fields of its begin", row, first]]);
}

/* Returns the fields of an event as pairs of name and value. */
function fieldsOf(row, k) {
	const text = row.detailText[k] ? meta.details.texts[row.detailText[k] - 1] : "";
	const fields = text.split("\n").filter(Boolean).map(line => { const at = line.indexOf("="); return at < 0 ? ["", line] : [line.slice(0, at), line.slice(at + 1)]; });
	return (row.detailTook[k] ? [["time", span(row.detailTook[k] - 1)]] : []).concat(fields);
}

/* Returns the command that prints the events of a thread at a time. */
function dumpCommand(row, time) {
	const at = clock(time).replace(" ", "T").replace(" UTC", "Z");
	const path = isMany ? logs[row.log].path : meta.log;
	return "posixtrace dump --tid " + row.tid + " --begin " + at + " --end " + at + " " + shellWord(path);
}

/* Appends the fields of an event to a card, or a text that says how to see them. */
function showFields(card, words, row, k, time) {
	if (k < 0) {
		card.append(element("p", {}, "The page does not have the " + words + (byStart ? "." : ":")));
		if (!byStart) card.append(element("pre", { class: "command" }, dumpCommand(row, time)));
		return;
	}
	const fields = fieldsOf(row, k), type = meta.types[row.detailType[k]].name;
	const heading = words + (words === "fields" ? "" : ", " + type);
	if (!fields.length) card.append(element("p", {}, heading.replace("fields of its", "its") + " has no fields"));
	else card.append(table("fields", [[words === "fields" ? "Field" : heading], ["Value"]], fields.map(([name, value]) => {
		const [left, right] = markField(name, value), line = element("tr", {}, element("td", { class: "name" }, ...left), element("td", { class: "name" }, ...right));
		line.dataset.field = name;
		return line;
	})));
}

/*
 * Goes to the next event of a type with an error behind the mark. Behind the last one it goes to
 * the first one.
 */
function goToError(type) {
	let best = null, first = null;
	for (const row of rows)
		for (let k = 0; k < row.detailTime.length; k++) {
			if (!row.detailError[k] || row.detailType[k] !== type) continue;
			const time = row.detailTime[k], at = { row, k, time };
			if (!first || time < first.time) first = at;
			if (state.mark !== null && time > state.mark && (!best || time < best.time)) best = at;
		}
	const found = best || first;
	if (!found) return;
	const i = meta.has_points ? search(found.row.time.length, n => found.row.time[n], found.time) : -1;
	let n = i;
	while (n >= 0 && found.row.time[n] === found.time && found.row.type[n] !== type) n++;
	goToItem(i >= 0 ? { kind: "event", row: found.row, i: n } : { kind: "event", row: found.row, i: -1, begin: found.time, took: 0, detail: found.k });
	byId("found").textContent = meta.types[type].name + ", " + clock(found.time);
	openTab("selection");
}

/* Returns a card with all that the page has about the chosen item. */
function chosenCard() {
	const it = state.item, { row, i } = it, [begin, took] = extentOf(it);
	const card = element("div", { class: "card", id: "chosen-" + it.kind },
		element("h3", {}, dotOf(it), titleOf(it)), element("p", {}, threadName(row)),
		element("p", {}, (it.kind === "event" ? "at " : "from ") + clock(begin)));

	if (it.kind !== "event") card.append(element("p", {}, "to " + clock(begin + took)));
	if (it.kind === "event") showFields(card, "fields", row, detailOf(it), begin);
	if (it.kind === "span") for (const [words, of, k] of edgesOf(it)) showFields(card, words, of, k, words.endsWith("begin") ? begin : begin + took);
	if (it.kind === "span") card.append(...linksOf(row, i).map(([text, to, tail]) => element("p", { class: to ? "link" : "" }, to ? placeButton(text, to) : text, tail || "")));
	const stack = stackAt(row, it.kind === "event" ? begin : begin + took, it.kind === "event" ? typeOfEvent(it) : undefined);
	if (it.kind !== "state" && stack.length)
		card.append(element("p", {}, "Stack:"), element("ol", { class: "stack" }, ...stack.map(name => element("li", {}, name))));
	const around = element("ul", { class: "around" });
	for (const [words, to] of neighboursOf(it))
		around.append(element("li", {}, words + ": ", placeButton(titleOf(to), to), " " + distance(begin, extentOf(to)[0])));
	card.append(around);
	return card;
}

/* Returns in words how far a time is from another one. */
const distance = (from, to) => to === from ? "at the same time" : span(Math.abs(to - from)) + (to < from ? " earlier" : " later");
