/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_links.js - the links from a wait for a lock to the threads that held the lock during the
 * wait, and from a hold to the waits that it caused. The tool has found the holders. A wait or hold
 * that is too short to be a span of the page still has its time and its thread.
 */

const LINK_WIDE = 5;     /* in pixels; a wait that is narrower has no arrow */
const LINK_ARROWS = 400; /* the most arrows of one drawing */
const LINK_WAITS = 20;   /* the most waits that are listed for a hold */

/* Returns the index of the row's span with this begin and length, or -1 if the page lacks it. */
function spanIndex(row, begin, took) {
	for (let i = search(row.begin.length, k => row.begin[k], begin); i < row.begin.length && row.begin[i] === begin; i++)
		if (row.took[i] === took) return i;
	return -1;
}

for (const row of rows) {
	row.waits = new Map(); /* for a span that is a wait: this wait */
	row.holds = new Map(); /* for a span that is a hold: the waits that the hold caused */
}
waits.sort((a, b) => b.took - a.took);
for (const wait of waits) {
	for (const it of [wait, ...wait.holders]) Object.assign(it, { kind: "span", i: spanIndex(it.row, it.begin, it.took) });
	if (wait.i >= 0) wait.row.waits.set(wait.i, wait);
	for (const hold of wait.holders) {
		if (hold.i < 0) continue;
		if (!hold.row.holds.has(hold.i)) hold.row.holds.set(hold.i, []);
		hold.row.holds.get(hold.i).push(wait);
	}
}
/* The list has the index of a log, and behind it the text "PROCESS ADDRESS NAME". */
const lockNames = new Map((meta.links ? meta.links.locks : []).map((text, i, all) => {
	const [pid, address] = i % 2 ? text.split(" ", 2) : ["", ""];
	return i % 2 ? [all[i - 1] + " " + pid + " " + address, text.slice(pid.length + address.length + 2)] : ["", ""];
}));
const lockName = wait => lockNames.get(wait.row.log + " " + wait.row.pid + " " + wait.lock) || "0x" + wait.lock.toString(16);

const holdText = (hold, wait) => threadName(hold.row) + (hold.begin <= wait.begin ? ", which holds it since " : ", which holds it from ") +
	shortClock(hold.begin) + ", for " + span(hold.took);

/*
 * Returns the links of a span as lines. A line has a text, the item to which the text leads if it
 * is a link, and a second text behind it.
 */
function linksOf(row, i) {
	const wait = row.waits.get(i), caused = row.holds.get(i) || [], lines = [];

	if (wait) lines.push(["lock " + lockName(wait)], ...wait.holders.map((hold, k) => [(k ? "then for " : "waits for ") + holdText(hold, wait), hold]));
	lines.push(...caused.slice(0, LINK_WAITS).map(other => [threadName(other.row) + " waits " + span(other.took), other, " for this lock"]));
	if (caused.length > LINK_WAITS) lines.push(["and " + grouped(caused.length - LINK_WAITS) + " shorter waits"]);
	return lines;
}

/* Returns the height of the middle of a span, or of the row's spans if the page lacks the span. */
function middleOf(it) {
	const { row, i } = it;
	const lanes = row.folded ? 0 : i < 0 || row.lane[i] >= row.lanes ? row.lanes : row.lane[i] + 0.5;
	return AXIS + row.y - state.top + 3 + POINTS + lanes * LANE - 1;
}

/*
 * Draws an arrow from a visible wait to the first thread that held the lock, at the time at which
 * the wait began or, if that time is not visible, at the left edge. Only waits that are at least
 * LINK_WIDE pixels wide get an arrow, and of these only the longest.
 */
function drawLinks() {
	const some = { stroke: colours.ink, chosen: colours.accent };
	let left = LINK_ARROWS;

	pen.lineWidth = 1;
	for (const wait of waits) {
		const x = Math.max(LABEL + 2, Math.round(xOf(wait.begin)) + 0.5), end = xOf(wait.begin + wait.took);
		/* The longest waits are first, so all further ones are narrower. */
		if (wait.took / (state.to - state.from) * timeWidth() < LINK_WIDE || !left) break;
		if (end < LABEL + 2 || x > width || wait.row.hidden || wait.holders[0].row.hidden) continue;
		const isChosen = state.span && ((state.span.row === wait.row && state.span.i === wait.i) || wait.holders.some(hold => hold.row === state.span.row && hold.i === state.span.i));
		const from = middleOf(wait), to = middleOf(wait.holders[0]), tip = to < from ? 5 : -5;
		if (Math.max(from, to) < AXIS || Math.min(from, to) > height) continue;
		left--;
		pen.strokeStyle = pen.fillStyle = isChosen ? some.chosen : some.stroke;
		pen.globalAlpha = isChosen ? 1 : 0.55;
		pen.lineWidth = isChosen ? 2 : 1;
		pen.beginPath();
		pen.moveTo(x, from);
		pen.lineTo(x, to + tip);
		pen.stroke();
		pen.beginPath();
		pen.moveTo(x, to);
		pen.lineTo(x - 4, to + 1.6 * tip);
		pen.lineTo(x + 4, to + 1.6 * tip);
		pen.fill();
	}
	pen.globalAlpha = pen.lineWidth = 1;
}

/* Goes from the chosen wait to the holder of its lock, or from a hold to the longest wait. */
function followLink() {
	const it = state.span, wait = it && it.row.waits.get(it.i), caused = it ? it.row.holds.get(it.i) : null;

	if (wait) goToItem(wait.holders[0]);
	else if (caused) goToItem(caused[0]);
	else if (waits.length) goToItem(waits[0]);
	else return;
	openTab("selection");
}

function waitPanel() {
	const to = byId("waits");

	if (!meta.links) {
		document.querySelector("[data-tab=waits]").hidden = true;
		return;
	}
	to.append(element("p", { class: "note" }, !meta.links.holds ?
		"The log does not show who held a lock: 'posixtrace record --trace default,lock-hold' records it." :
		counted(waits.length, "wait") + " for a lock whose holder is known, of " + grouped(meta.links.waits) + "." +
		(meta.links.least_hold ? " Only holds of at least " + span(meta.links.least_hold) + " were kept." : "") +
		(meta.links.least_wait ? " Only waits of at least " + span(meta.links.least_wait) + " were kept." : "") +
		(waits.length > 200 ? " The longest 200:" : "")));
	if (waits.length)
		to.append(table("wait-list", [["Thread, lock and holder"], ["Waits", 1]], waits.slice(0, 200).map(wait => {
			const line = element("tr", {}, element("td", { class: "name" }, placeButton(threadName(wait.row), wait), " waits for lock " + lockName(wait) + " of ",
				placeButton(threadName(wait.holders[0].row), wait.holders[0])), cell(span(wait.took)));
			line.dataset.tid = wait.row.tid;
			line.dataset.holder = wait.holders[0].row.tid;
			line.dataset.took = wait.took;
			return line;
		})));
}
