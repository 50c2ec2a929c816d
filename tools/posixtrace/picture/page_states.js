/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_states.js - draws what each thread did, as a bar below its spans. If a pixel has several
 * states, it shows the share of each, so the bar is exact at any zoom. The first state is at the
 * bottom.
 */

/* before each group of this number of times, the sums of all states are stored */
const STATE_GROUP = 16;
const stateNames = meta.states ? meta.states.names : [], KINDS = stateNames.length;

for (const row of rows) {
	const n = row.stayBegin.length, sum = new Float64Array(KINDS);
	row.staySums = new Float64Array(Math.ceil(n / STATE_GROUP) * KINDS);
	for (let i = 0; i < n; i++) {
		if (i % STATE_GROUP === 0) row.staySums.set(sum, i / STATE_GROUP * KINDS);
		sum[row.stayKind[i]] += row.stayTook[i];
	}
	row.stayTotal = sum;
}

/* Returns the index of the last state that begins at or before a time, or -1 if there is none. */
function stayAt(row, time) {
	const n = row.stayBegin.length, i = search(n, k => row.stayBegin[k], time);
	return i < n && row.stayBegin[i] === time ? i : i - 1;
}

/* Stores for each state how long a row was in it before a time. i is stayAt() of that time. */
function staySum(row, i, time, to) {
	if (i < 0) return to.fill(0);
	const group = Math.floor(i / STATE_GROUP);
	for (let kind = 0; kind < KINDS; kind++) to[kind] = row.staySums[group * KINDS + kind];
	for (let k = group * STATE_GROUP; k < i; k++) to[row.stayKind[k]] += row.stayTook[k];
	to[row.stayKind[i]] += Math.min(row.stayTook[i], time - row.stayBegin[i]);
	return to;
}

/* Returns the time that a row spent in each state between two times. */
function stayShares(row, from, to) {
	const before = staySum(row, stayAt(row, from), from, new Float64Array(KINDS));
	return staySum(row, stayAt(row, to), to, new Float64Array(KINDS)).map((ns, kind) => ns - before[kind]);
}

/* Returns the distance of the bar from the top of its row. */
const stateTop = row => 3 + POINTS + (row.folded ? 0 : row.lanes * LANE + (row.hasShort ? SHORT : 0));

const stateBefore = new Float64Array(KINDS), stateAfter = new Float64Array(KINDS);

/* Draws the bar of a row. y is its top in the area to paint in. */
function drawStates(row, y, perPixel) {
	const n = row.stayBegin.length, wide = timeWidth(), tall = STATE - 1;

	/*
	 * stateBefore has the sums at the left edge of the pixel 'known', and 'next' is the state
	 * there.
	 */
	for (let x = 0, known = -1, next = 0; n && x < wide;) {
		const left = state.from + x * perPixel, right = left + perPixel, i = known === x ? next : stayAt(row, left);
		const end = i < 0 ? -1 : row.stayBegin[i] + row.stayTook[i];
		if (end >= right) {
			/*
			 * One state fills the pixel. It is drawn up to the pixel in which it ends.
			 */
			const until = Math.max(x + 1, Math.min(wide, Math.floor(placeOf(end))));
			paint.box(x, until, y, tall, colours.stateWord[row.stayKind[i]], 1);
			x = until;
			continue;
		}
		if (end <= left && (i + 1 >= n || row.stayBegin[i + 1] >= right)) {
			if (i + 1 >= n) return;
			x = Math.max(x + 1, Math.floor(placeOf(row.stayBegin[i + 1])));
			continue;
		}
		if (known !== x) staySum(row, i, left, stateBefore);
		next = stayAt(row, right);
		staySum(row, next, right, stateAfter);
		for (let kind = 0, at = y + tall; kind < KINDS; kind++) {
			const part = (stateAfter[kind] - stateBefore[kind]) / perPixel * tall;
			if (part > 0) paint.box(x, x + 1, at - part, part, colours.stateWord[kind], 1);
			at -= part;
		}
		stateBefore.set(stateAfter);
		known = ++x;
	}
}

/* Returns the state at a place of the view as an item, or null. */
function stateUnder(x, y) {
	const index = rowAt(y, rows), row = rows[index], time = timeOf(x);
	if (index < 0 || x < LABEL || y < AXIS || !row.stayBegin.length) return null;
	const below = y + state.top - AXIS - row.y - stateTop(row);
	if (below < 0 || below > STATE) return null;
	const i = stayAt(row, time);
	return i >= 0 && time < row.stayBegin[i] + row.stayTook[i] ? { kind: "state", row, i } : null;
}

const stayName = it => stateNames[it.row.stayKind[it.i]];

/* Describes the state under the pointer and, if the pixel has several, the share of each. */
function describeState(it, time) {
	const half = (state.to - state.from) / timeWidth() / 2, { row, i } = it;
	const lines = [stayName(it) + ": " + span(row.stayTook[i]), "from " + clock(row.stayBegin[i]), threadName(row)];
	const shares = stayShares(row, time - half, time + half), all = sumOf(shares);
	if (shares.filter(ns => ns > 0).length > 1)
		shares.forEach((ns, kind) => { if (ns > 0) lines.push("in this pixel " + percent(ns, all) + " " + stateNames[kind]); });
	if (meta.states.bin_ns && row.stayTook[i] < meta.states.bin_ns)
		lines.push("changes within " + span(meta.states.bin_ns) + " are put together");
	return lines.join("\n");
}

/* The longest time in each state; undefined: no thread has the state. */
const longestStays = [];
for (const row of rows)
	for (let i = 0; i < row.stayBegin.length; i++) {
		const kind = row.stayKind[i], best = longestStays[kind];
		if (!best || row.stayTook[i] > best.row.stayTook[best.i]) longestStays[kind] = { kind: "state", row, i };
	}

/* Returns the longest time in a state, or null. */
const longestStay = kind => longestStays[kind] || null;

/*
 * Shows the longest time in a state. Each call shows the next state of the list that any thread
 * has.
 */
let stateShown = -1;
function goToNextState() {
	for (let by = 1; by <= KINDS; by++) {
		const kind = (stateShown + by) % KINDS, it = longestStay(kind);
		if (!it) continue;
		stateShown = kind;
		goToItem(it);
		openTab("selection");
		return;
	}
}

/* Returns a bar of the shares of the states. Its text is for users who cannot see it. */
function shareBar(shares) {
	const all = sumOf(shares), text = [...shares.keys()].filter(kind => shares[kind] > 0)
		.map(kind => stateNames[kind] + " " + percent(shares[kind], all)).join(", ");
	const bar = element("div", { class: "shares", role: "img", title: text, "aria-label": text });
	shares.forEach((ns, kind) => {
		const part = dot("state", kind);
		part.style.flex = all ? ns / all : 0;
		bar.append(part);
	});
	return bar;
}

/* Returns the table of the states of all visible rows in a time. */
function stateTable(id, from, to) {
	const sums = new Float64Array(KINDS);
	for (const row of rows)
		if (!row.hidden && row.stayBegin.length) stayShares(row, from, to).forEach((ns, kind) => { sums[kind] += ns; });
	const all = sumOf(sums);
	return table(id, [["State of threads"], ["Time", 1], ["Share", 1]], [...sums.keys()].filter(kind => sums[kind] > 0).map(kind =>
		element("tr", {}, element("td", { class: "name" }, dot("state", kind), stateNames[kind]), cell(span(sums[kind])), cell(percent(sums[kind], all)))));
}

function statePanel() {
	const to = byId("states");

	if (!KINDS) {
		document.querySelector("[data-tab=states]").hidden = true;
		return;
	}
	const all = sumOf(meta.states.total);
	to.append(element("p", { class: "note" }, "The bar below each thread has these colors. A click on a time shows the longest." +
		(meta.states.bin_ns ? " There are many changes, so those within " + span(meta.states.bin_ns) + " are put together: the sums are exact, the order is not." : "")));
	to.append(table("state-list", [["State"], ["Time", 1], ["Share", 1], ["Longest", 1]], [...stateNames.keys()].map(kind => {
		const longest = longestStay(kind);
		const line = element("tr", {}, element("td", { class: "name" }, dot("state", kind), stateNames[kind]), cell(span(meta.states.total[kind])),
			cell(percent(meta.states.total[kind], all)), cell(longest ? placeButton(span(longest.row.stayTook[longest.i]), longest) : ""));
		line.dataset.name = stateNames[kind];
		line.dataset.total = meta.states.total[kind];
		return line;
	})));
	to.append(table("thread-states", [["Process / thread"]], rows.filter(row => row.stayBegin.length).map(row => {
		const line = element("tr", { class: "link", click: () => scroll(row.y - state.top) }, element("td", { class: "name" }, threadName(row), shareBar(row.stayTotal)));
		line.dataset.tid = row.tid;
		return line;
	})));
}
