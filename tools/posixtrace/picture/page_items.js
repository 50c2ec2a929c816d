/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_items.js - the data that posixtrace html embedded: rows of points and spans, drawn at any
 * zoom in constant time. The files page_*.js are one function, in the order items, paint, rows,
 * curves, links, states, chosen, view, panels, search, flame, hands.
 *
 * The tool has counted points and short spans in bins, on levels with fewer and fewer bins. The
 * page draws the level whose bins are about a pixel wide, and the spans that are longer than such a
 * bin. Spans of a lane do not overlap, so a lane has no more of these spans than pixels. Spans that
 * fitted into no lane are counted with the short spans. If even the bins of the lowest level are
 * too wide, the items themselves are drawn, at most one for each pixel.
 */
"use strict";
(function () {

const byId = id => document.getElementById(id);
const meta = JSON.parse(byId("meta").textContent);
const length = meta.length_ns;
/* The logs, if the page has several. Each row, band and counter then has the index of its log. */
const logs = meta.logs || [];
const isMany = logs.length > 1, byStart = isMany && logs.every(log => log.error_ns < 0);
const LABEL = isMany ? 220 : meta.curves || meta.rows.some(row => row.name) ? 190 : 132, AXIS = 26, POINTS = 13, LANE = 15, SHORT = 7, GAP = 7, STATE = 9;
const CURVE = 56, CURVE_EDGE = 5, HEAD = 22;
/* A text in quotes for a shell, and a path as a word of a shell. */
const quoted = text => "'" + text.replace(/'/g, "'\\''") + "'";
const shellWord = path => /^[\w.,:+@%\/][\w.,:+@%\/-]*$/.test(path) ? path : quoted(path);

/* ------------------------------------------------------------------ items */

function bytesOf(text) {
	const raw = atob(text.trim()), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

const rows = meta.rows.map(row => Object.assign({ isCurve: false, log: 0 }, row));
const levels = [];
const curves = (meta.curves || []).map(curve => Object.assign({ isCurve: true, log: 0, points: curve.count, spans: 0, begin: [] }, curve));
const waits = []; /* the waits for locks whose holder is known */

(function decode() {
	const bytes = bytesOf(byId("items").textContent);
	let at = 0;

	function number() {
		let value = 0, scale = 1, byte;
		do {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return value;
	}

	for (const row of rows) {
		const n = number();
		row.time = new Float64Array(n);
		row.type = new Uint16Array(n);
		for (let i = 0, time = 0; i < n; i++) {
			row.time[i] = time += number();
			row.type[i] = number();
		}
	}
	for (const row of rows) {
		const n = number();
		row.begin = new Float64Array(n);
		row.took = new Float64Array(n);
		row.series = new Uint16Array(n);
		row.lane = new Uint8Array(n);
		for (let i = 0, time = 0; i < n; i++) {
			row.begin[i] = time += number();
			row.took[i] = number();
			row.series[i] = number();
			row.lane[i] = number();
		}
	}
	for (const row of rows) {
		const n = meta.flames ? number() : 0;
		row.stackTime = new Float64Array(n);
		row.stackType = new Uint16Array(n);
		row.stackTook = new Float64Array(n);
		row.stack = new Uint32Array(n);
		for (let i = 0, time = 0; i < n; i++) {
			row.stackTime[i] = time += number();
			row.stackType[i] = number();
			row.stackTook[i] = number();
			row.stack[i] = number();
		}
	}
	for (let l = 0; l < meta.levels.length; l++) {
		const level = { bins: meta.levels[l], width: length / meta.levels[l], rows: [], most: 1, shortest: 1 };
		for (let r = 0; r < rows.length; r++) {
			const n = number();
			const to = { bin: new Uint32Array(n), points: new Uint32Array(n), spans: new Uint32Array(n),
				type: new Uint16Array(n), series: new Uint16Array(n) };
			for (let i = 0, bin = -1; i < n; i++) {
				to.bin[i] = bin += number();
				to.points[i] = number();
				to.spans[i] = number();
				if (to.points[i]) to.type[i] = number();
				if (to.spans[i]) to.series[i] = number();
				level.most = Math.max(level.most, to.points[i]);
				level.shortest = Math.max(level.shortest, to.spans[i]);
			}
			level.rows.push(to);
		}
		levels.push(level);
	}

	/* Reads a double. It is stored as an integer of 64 bits, whose lowest byte has the sign. */
	const double = new DataView(new ArrayBuffer(8));
	function bits() {
		let low = 0, high = 0, shift = 0, byte;
		do {
			byte = bytes[at++];
			const part = byte & 127;
			if (shift < 32) low |= part << shift;
			if (shift > 25) high |= shift < 32 ? part >>> (32 - shift) : part << (shift - 32);
			shift += 7;
		} while (byte & 128);
		double.setInt32(0, low, true);
		double.setInt32(4, high, true);
		return double.getFloat64(0);
	}
	for (const curve of curves) {
		const n = number();
		curve.time = new Float64Array(n);
		curve.value = new Float64Array(n);
		for (let i = 0, time = 0; i < n; i++) {
			curve.time[i] = time += number();
			curve.value[i] = bits();
		}
	}
	const place = () => ({ row: rows[number()], begin: number(), took: number() });
	for (let n; (n = number());) {
		const wait = Object.assign(place(), { lock: number(), holders: [] });
		while (n--) wait.holders.push(place());
		waits.push(wait);
	}
	for (const row of rows) {
		const n = meta.states ? number() : 0;
		row.stayBegin = new Float64Array(n);
		row.stayTook = new Float64Array(n);
		row.stayKind = new Uint8Array(n);
		for (let i = 0, end = 0; i < n; i++) {
			row.stayBegin[i] = end + number();
			row.stayTook[i] = number();
			row.stayKind[i] = number();
			end = row.stayBegin[i] + row.stayTook[i];
		}
	}
	for (const row of rows) {
		const n = meta.details ? number() : 0;
		row.detailTime = new Float64Array(n);
		row.detailType = new Uint16Array(n);
		row.detailText = new Uint32Array(n); /* the index of the text + 1 */
		row.detailError = new Uint8Array(n);
		row.detailTook = new Float64Array(n); /* + 1 */
		for (let i = 0, time = 0; i < n; i++) {
			row.detailTime[i] = time += number();
			row.detailType[i] = number();
			const text = number();
			row.detailText[i] = Math.floor(text / 2);
			row.detailError[i] = text % 2;
			row.detailTook[i] = number();
		}
	}
})();

/*
 * The spans of each lane are sorted into tiers by their length: spans of the first tier are shorter
 * than a bin of the lowest level, and each further tier has spans of four times the length. One
 * more list, behind those of the lanes, has the spans for which there was no lane.
 */
const TIERS = levels.length + 1;
rows.forEach((row, index) => {
	const place = new Uint16Array(row.begin.length), size = new Array((row.lanes + 1) * TIERS).fill(0);
	for (let i = 0; i < place.length; i++) {
		let tier = 0;
		while (tier < levels.length && row.took[i] >= levels[tier].width) tier++;
		place[i] = row.lane[i] < row.lanes ? row.lane[i] * TIERS + tier : row.lanes * TIERS;
		size[place[i]]++;
	}
	const lists = size.map(n => new Uint32Array(n));
	size.fill(0);
	for (let i = 0; i < place.length; i++) lists[place[i]][size[place[i]]++] = i;
	row.tiers = Array.from({ length: row.lanes }, (none, lane) => lists.slice(lane * TIERS, (lane + 1) * TIERS));
	row.crowded = lists[row.lanes * TIERS];
	row.hasShort = levels.some(level => level.rows[index].spans.some(n => n));
	row.all = POINTS + row.lanes * LANE + (row.hasShort ? SHORT : 0) + (row.stayBegin.length ? STATE : 0) + GAP;
	row.hidden = row.pinned = row.folded = false;
});

for (const curve of curves) {
	curve.hidden = curve.pinned = false;
	curve.after = rows.reduce((last, row, index) => row.pid === curve.pid && row.log === curve.log ? index : last, rows.length);
}

/*
 * Gives the rows and curves their places. Pinned ones are first. The curves of a process are below
 * its threads if rows are in the order of processes, and otherwise at the end. If they are in the
 * order of processes, each of several logs has a heading. A hidden row has no height. A folded row
 * shows only its events and states. The array of rows is not sorted, because the levels have its
 * order.
 */
function placeRows(by) {
	const keys = { process: () => 0, events: row => -row.points, spans: row => -row.spans,
		begin: row => Math.min(row.time.length ? row.time[0] : Infinity, row.begin.length ? row.begin[0] : Infinity) };
	const key = keys[by] || keys.process, mixed = key === keys.process;
	const places = rows.map((it, at) => ({ it, at })).concat(curves.map((it, i) => ({ it, at: it.after + (i + 1) / (curves.length + 1) })));
	places.sort((a, b) => b.it.pinned - a.it.pinned || (mixed ? 0 : a.it.isCurve - b.it.isCurve) || key(a.it) - key(b.it) || a.at - b.at);
	let y = 0, log = -1;
	rows.heads = [];
	for (const { it: row } of places) {
		if (isMany && mixed && !row.pinned && !row.hidden && row.log !== log) {
			log = row.log;
			rows.heads.push({ y, log });
			y += HEAD;
		}
		row.y = y;
		row.height = row.hidden ? 0 : row.isCurve ? CURVE : row.folded ? POINTS + (row.stayBegin.length ? STATE : 0) + GAP : row.all;
		y += row.height;
	}
	rows.total = y;
	rows.order = places.filter(place => !place.it.isCurve).map(place => place.at);
}
placeRows("process");

/* Returns the first index i for which value(i) is not less than wanted. */
function search(n, value, wanted) {
	let low = 0, high = n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (value(middle) < wanted) low = middle + 1; else high = middle;
	}
	return low;
}

/* ------------------------------------------------------------------ words */

const grouped = n => n.toLocaleString("en");

const sumOf = numbers => numbers.reduce((sum, n) => sum + n, 0);

/* Returns a part of a sum in percent. If the sum is 0, so is the part. */
const percent = (part, all) => (all ? 100 * part / all : 0).toFixed(1) + " %";

function span(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size) return (ns / size).toPrecision(ns >= 1000 * size ? 6 : 4) + " " + unit;
	return Math.round(ns) + " ns";
}

/*
 * Returns the time of day of a place on the axis. It is exact if ns is exact, which is certain for
 * numbers up to 2^53.
 */
function clock(ns) {
	if (byStart) return "+" + (ns / 1e9).toFixed(9) + " s after the start";
	const time = BigInt(meta.begin_ns) + BigInt(Math.round(ns));
	const second = time / 1000000000n - (time % 1000000000n < 0n ? 1n : 0n);
	const date = new Date(Number(second) * 1000);
	return date.toISOString().slice(0, 19).replace("T", " ") + "." +
		String(time - second * 1000000000n).padStart(9, "0") + " UTC";
}

function element(name, attributes, ...children) {
	const it = document.createElement(name);
	for (const key in attributes || {})
		if (key === "class") it.className = attributes[key];
		else if (key === "click") it.addEventListener("click", attributes[key]);
		else it.setAttribute(key, attributes[key]);
	it.append(...children);
	return it;
}

/* Returns the time of day without the date. */
const shortClock = ns => byStart ? clock(ns) : clock(ns).slice(11);

const shortName = row => row.pid < 0 ? "other threads" : row.pid === 0 ? "the stream" :
	(row.name ? row.name + " " : "") + row.pid + " / " + row.tid;
const threadName = row => (isMany && row.pid >= 0 ? logs[row.log].name + ": " : "") + shortName(row);
const counted = (n, what) => grouped(n) + " " + what + (n === 1 ? "" : "s");

/* ------------------------------------------------------------------ colours */

let dark = matchMedia("(prefers-color-scheme: dark)").matches;
let colours;

/*
 * Returns a colour that depends on the name alone, so that all pages have the same colour for a
 * name. Two names may have the same hue by chance, so the hash also changes the lightness a bit. The
 * hash begins with a number for which types that are often side by side, such as sched.in and
 * sched.out, have very different hues.
 */
function colourOfName(name, light, strength) {
	let hash = 263793;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
	hash = Math.imul(hash ^ hash >>> 15, 2246822507) >>> 0;
	return "hsl(" + hash % 360 + " " + strength + "% " + (light + (hash >>> 16) % 3 * 5 - 5) + "%)";
}

function setTheme() {
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	byId("theme").textContent = dark ? "Light" : "Dark";
	const style = getComputedStyle(document.documentElement);
	const get = name => style.getPropertyValue(name).trim();
	colours = {
		paper: get("--paper"), panel: get("--panel"), line: get("--line"), ink: get("--ink"),
		faint: get("--faint"), accent: get("--accent"), chosen: get("--chosen"), stripe: get("--stripe"),
		type: meta.types.map(type => colourOfName(type.name, dark ? 66 : 42, 62)),
		series: meta.series.map(series => colourOfName(series.name, dark ? 38 : 76, dark ? 46 : 62)),
		band: { lost: dark ? "#ff6b60" : "#c5221f", stopped: dark ? "#8a94a3" : "#7b8494",
			full: dark ? "#ffb454" : "#c26a00", damaged: dark ? "#d28bff" : "#8d24c4" },
		/* running, runnable, lock, file, peer, sleeping, page fault, unknown, stopped */
		state: dark ? ["#3fb950", "#f2a33a", "#ff6b60", "#c38bff", "#5aa2ff", "#3b4654", "#ff7ac6", "#778393", "#d6c65a"] :
			["#2e9e44", "#e88a00", "#cf2a20", "#8a4ad6", "#2f7be0", "#cfd6df", "#d6308f", "#98a2b0", "#a08c00"],
	};
	colours.typeWord = colours.type.map(word);
	colours.seriesWord = colours.series.map(word);
	colours.stateWord = colours.state.map(word);
	colours.accentWord = word(colours.accent);
	for (const dot of document.querySelectorAll(".dot"))
		dot.style.background = colours[dot.dataset.of][dot.dataset.index];
	for (const bar of document.querySelectorAll("svg rect.bar"))
		bar.setAttribute("fill", colours.accent);
}
