/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page.js - draws what posixtrace html embedded: rows of points and spans, at any zoom in constant time.
 *
 * The tool counted points and short spans in bins, on levels of ever fewer. The level whose bins are half a
 * pixel to two pixels wide is drawn, and of the spans those that are longer than its bins, which cannot be more
 * than the pixels have room for; below the lowest level, items are drawn pixel by pixel.
 */
"use strict";
(function () {

const byId = id => document.getElementById(id);
const meta = JSON.parse(byId("meta").textContent);
const length = meta.length_ns;
const LABEL = 132, AXIS = 26, POINTS = 13, LANE = 15, SHORT = 7, GAP = 7;

/* ------------------------------------------------------------------ items */

function bytesOf(text) {
	const raw = atob(text.trim()), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

const rows = meta.rows.map(row => Object.assign({}, row));
const levels = [];

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
})();

/* Spans by length, in powers of four of the lowest level's bins: the first are shorter than one. */
const TIERS = levels.length + 1;
for (const row of rows) {
	const of = new Uint8Array(row.begin.length), size = new Array(TIERS).fill(0);
	for (let i = 0; i < of.length; i++) {
		let tier = 0;
		while (tier < levels.length && row.took[i] >= levels[tier].width) tier++;
		of[i] = tier;
		size[tier]++;
	}
	row.tiers = size.map(n => new Uint32Array(n));
	row.longest = new Array(TIERS).fill(0);
	const fill = new Array(TIERS).fill(0);
	for (let i = 0; i < of.length; i++) {
		row.tiers[of[i]][fill[of[i]]++] = i;
		row.longest[of[i]] = Math.max(row.longest[of[i]], row.took[i]);
	}
	row.hasShort = levels.some(level => level.rows[rows.indexOf(row)].spans.some(n => n));
	row.height = POINTS + row.lanes * LANE + (row.hasShort ? SHORT : 0) + GAP;
}
{
	let y = 0;
	for (const row of rows) {
		row.y = y;
		y += row.height;
	}
	rows.total = y;
}

/* The first index from which on value(i) is not less. */
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

function span(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size) return (ns / size).toPrecision(ns >= 1000 * size ? 6 : 4) + " " + unit;
	return Math.round(ns) + " ns";
}

/* Exact, as far as a number of nanoseconds from the beginning is. */
function clock(ns) {
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

const threadName = row => row.pid < 0 ? "other threads" : row.pid === 0 ? "the stream" :
	row.pid + " / " + row.tid;

/* ------------------------------------------------------------------ colours */

let dark = matchMedia("(prefers-color-scheme: dark)").matches;
let colours;

function hue(i, light, strength) {
	return "hsl(" + (i * 137.508 + 205) % 360 + " " + strength + "% " + light + "%)";
}

function setTheme() {
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	byId("theme").textContent = dark ? "Light" : "Dark";
	const style = getComputedStyle(document.documentElement);
	const get = name => style.getPropertyValue(name).trim();
	colours = {
		paper: get("--paper"), panel: get("--panel"), line: get("--line"), ink: get("--ink"),
		faint: get("--faint"), accent: get("--accent"), chosen: get("--chosen"), stripe: get("--stripe"),
		type: meta.types.map((type, i) => hue(i, dark ? 66 : 42, 62)),
		series: meta.series.map((series, i) => hue(i + 3.4, dark ? 38 : 74, dark ? 46 : 62)),
		band: { lost: dark ? "#ff6b60" : "#c5221f", stopped: dark ? "#8a94a3" : "#7b8494",
			full: dark ? "#ffb454" : "#c26a00", damaged: dark ? "#d28bff" : "#8d24c4" },
	};
	for (const dot of document.querySelectorAll(".dot"))
		dot.style.background = colours[dot.dataset.of][dot.dataset.index];
	for (const bar of document.querySelectorAll("svg rect.bar"))
		bar.setAttribute("fill", colours.accent);
}

/* ------------------------------------------------------------------ view */

const view = byId("view"), map = byId("map"), tip = byId("tip");
const pen = view.getContext("2d"), mapPen = map.getContext("2d");
const state = { from: 0, to: length, top: 0, chosen: null, matching: null, mark: null };
let width = 0, height = 0, mapWidth = 0, mapHeight = 0, drawn = false;

const timeWidth = () => Math.max(1, width - LABEL);
const xOf = time => LABEL + (time - state.from) / (state.to - state.from) * timeWidth();
const timeOf = x => state.from + (x - LABEL) / timeWidth() * (state.to - state.from);

function redraw() {
	if (drawn) return;
	drawn = true;
	requestAnimationFrame(() => {
		drawn = false;
		drawView();
		drawMap();
	});
}

function resize() {
	const scale = window.devicePixelRatio || 1;
	for (const canvas of [view, map]) {
		const box = canvas.getBoundingClientRect();
		canvas.width = Math.round(box.width * scale);
		canvas.height = Math.round(box.height * scale);
		canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
		if (canvas === view) { width = box.width; height = box.height; }
		else { mapWidth = box.width; mapHeight = box.height; }
	}
	redraw();
}

function show(from, to) {
	const least = Math.min(length, 20);
	let size = Math.min(length, Math.max(least, to - from));
	from = Math.max(0, Math.min(length - size, from));
	state.from = from;
	state.to = from + size;
	tip.hidden = true;
	redraw();
}

function zoom(factor, x) {
	const at = x === undefined ? (state.from + state.to) / 2 : timeOf(Math.max(LABEL, x));
	show(at - (at - state.from) * factor, at + (state.to - at) * factor);
}

function move(part) {
	const by = (state.to - state.from) * part;
	show(state.from + by, state.to + by);
}

function scroll(by) {
	state.top = Math.max(0, Math.min(rows.total - (height - AXIS), state.top + by));
	if (state.top < 0) state.top = 0;
	redraw();
}

const dimType = type => state.matching && !state.matching.types[type];
const dimSeries = series => state.matching && !state.matching.series[series];

/* The coarsest level whose bins are two pixels wide at most; -1: the items themselves. */
function levelFor(perPixel) {
	for (let l = levels.length - 1; l >= 0; l--)
		if (levels[l].width <= 2 * perPixel) return l;
	return -1;
}

function drawPoints(row, index, y, perPixel, l) {
	const raw = meta.has_points && l < 0;

	if (raw) {
		const time = row.time;
		let i = search(time.length, k => time[k], state.from);
		while (i < time.length && time[i] <= state.to) {
			const x = xOf(time[i]);
			pen.globalAlpha = dimType(row.type[i]) ? 0.15 : 1;
			pen.fillStyle = colours.type[row.type[i]];
			pen.fillRect(Math.floor(x), y, 1.6, POINTS - 2);
			/* What falls on the same pixel is not seen. */
			const next = time[i] + perPixel;
			i = time[i + 1] >= next ? i + 1 : search(time.length, k => time[k], next);
		}
		pen.globalAlpha = 1;
		return;
	}
	const level = levels[Math.max(0, l)], of = level.rows[index];
	const last = Math.ceil(state.to / level.width);
	for (let i = search(of.bin.length, k => of.bin[k], Math.floor(state.from / level.width));
	     i < of.bin.length && of.bin[i] <= last; i++) {
		if (!of.points[i]) continue;
		const x = xOf(of.bin[i] * level.width), right = xOf((of.bin[i] + 1) * level.width);
		const part = 0.3 + 0.7 * Math.log(1 + of.points[i]) / Math.log(1 + level.most);
		const high = (POINTS - 2) * part;
		pen.globalAlpha = dimType(of.type[i]) ? 0.15 : 1;
		pen.fillStyle = colours.type[of.type[i]];
		pen.fillRect(x, y + POINTS - 2 - high, Math.max(1, right - x), high);
	}
	pen.globalAlpha = 1;
}

function drawSpan(row, i, y) {
	const left = Math.max(LABEL, xOf(row.begin[i]));
	const right = Math.min(width, xOf(row.begin[i] + row.took[i]));
	const wide = Math.max(1, right - left);

	pen.globalAlpha = dimSeries(row.series[i]) ? 0.15 : 1;
	pen.fillStyle = colours.series[row.series[i]];
	pen.fillRect(left, y + row.lane[i] * LANE, wide > 3 ? wide - 0.6 : wide, LANE - 2);
	if (wide > 38) {
		pen.fillStyle = colours.ink;
		pen.save();
		pen.beginPath();
		pen.rect(left, y + row.lane[i] * LANE, wide - 3, LANE);
		pen.clip();
		pen.fillText(meta.series[row.series[i]].name, left + 3, y + row.lane[i] * LANE + 7);
		pen.restore();
	}
	pen.globalAlpha = 1;
}

/* Those that are too short to be seen: how many, as a strip, and behind all lanes where there are any. */
function drawShort(row, index, y, l) {
	if (!row.hasShort || (l < 0 && meta.has_spans)) return;
	const level = levels[Math.max(0, l)], of = level.rows[index], lanes = row.lanes * LANE;
	const last = Math.ceil(state.to / level.width);
	for (let i = search(of.bin.length, k => of.bin[k], Math.floor(state.from / level.width));
	     i < of.bin.length && of.bin[i] <= last; i++) {
		if (!of.spans[i]) continue;
		const x = xOf(of.bin[i] * level.width), right = xOf((of.bin[i] + 1) * level.width);
		const wide = Math.max(1, right - x);
		const strong = dimSeries(of.series[i]) ? 0.15 :
			0.45 + 0.55 * Math.log(1 + of.spans[i]) / Math.log(1 + level.shortest);
		pen.fillStyle = colours.series[of.series[i]];
		pen.globalAlpha = strong * 0.3;
		pen.fillRect(x, y, wide, lanes - 2);
		pen.globalAlpha = strong;
		pen.fillRect(x, y + lanes, wide, SHORT - 1);
	}
	pen.globalAlpha = 1;
}

function drawSpans(row, index, y, perPixel, l) {
	const least = l < 0 ? 0 : l + 1;

	drawShort(row, index, y, l);
	for (let tier = TIERS - 1; tier >= least; tier--) {
		const of = row.tiers[tier];
		let i = search(of.length, k => row.begin[of[k]], state.from - row.longest[tier]);
		while (i < of.length && row.begin[of[i]] <= state.to) {
			const it = of[i];
			if (row.begin[it] + row.took[it] >= state.from) drawSpan(row, it, y);
			if (row.took[it] >= perPixel) { i++; continue; }
			const next = row.begin[it] + perPixel / 4;
			i = i + 1 < of.length && row.begin[of[i + 1]] >= next ? i + 1 :
				Math.max(i + 1, search(of.length, k => row.begin[of[k]], next));
		}
	}
}

const patterns = {};
function hatch(colour) {
	if (patterns[colour]) return patterns[colour];
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const p = tile.getContext("2d");
	p.strokeStyle = colour;
	p.lineWidth = 1.5;
	p.beginPath();
	p.moveTo(-2, 10); p.lineTo(10, -2); p.moveTo(-2, 2); p.lineTo(2, -2); p.moveTo(6, 10); p.lineTo(10, 6);
	p.stroke();
	return patterns[colour] = pen.createPattern(tile, "repeat");
}

function drawBands() {
	for (const band of meta.bands) {
		if (band.end < state.from || band.begin > state.to) continue;
		const left = Math.max(LABEL, xOf(band.begin)), right = Math.min(width, xOf(band.end));
		pen.globalAlpha = 0.16;
		pen.fillStyle = colours.band[band.kind];
		pen.fillRect(left, AXIS, Math.max(2, right - left), height);
		pen.globalAlpha = 0.45;
		pen.fillStyle = hatch(colours.band[band.kind]);
		pen.fillRect(left, AXIS, Math.max(2, right - left), height);
		pen.globalAlpha = 1;
		pen.fillStyle = colours.band[band.kind];
		pen.fillRect(left, AXIS - 5, Math.max(2, right - left), 5);
	}
}

/* The least of 1, 2, 5, 10 ... nanoseconds whose marks are not too close. */
function step(perPixel) {
	let size = 1;
	for (let i = 0; size / perPixel < 90; i++)
		size *= i % 3 === 1 ? 2.5 : 2;
	return size;
}

function drawAxis(perPixel) {
	const by = step(perPixel);

	pen.fillStyle = colours.panel;
	pen.fillRect(0, 0, width, AXIS);
	pen.fillStyle = colours.faint;
	pen.strokeStyle = colours.line;
	pen.fillText("process / thread", 8, AXIS / 2);
	pen.beginPath();
	for (let t = Math.ceil(state.from / by) * by; t <= state.to; t += by) {
		const x = Math.round(xOf(t)) + 0.5;
		pen.moveTo(x, AXIS - 6);
		pen.lineTo(x, height);
		pen.fillText("+" + (t >= 1e9 && by < 1e6 ? (t / 1e9).toFixed(9).replace(/0+$/, "") + " s" : span(t).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ")),
			x + 3, AXIS / 2);
	}
	pen.stroke();
	pen.beginPath();
	pen.moveTo(0, AXIS - 0.5);
	pen.lineTo(width, AXIS - 0.5);
	pen.stroke();
}

function drawView() {
	const perPixel = (state.to - state.from) / timeWidth(), l = levelFor(perPixel);

	pen.fillStyle = colours.paper;
	pen.fillRect(0, 0, width, height);
	pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
	pen.textBaseline = "middle";
	drawAxis(perPixel);
	pen.save();
	pen.beginPath();
	pen.rect(0, AXIS, width, height - AXIS);
	pen.clip();
	rows.forEach((row, index) => {
		const y = AXIS + row.y - state.top;
		if (y + row.height < AXIS || y > height) return;
		if (index % 2) {
			pen.fillStyle = colours.stripe;
			pen.globalAlpha = 0.6;
			pen.fillRect(0, y, width, row.height);
			pen.globalAlpha = 1;
		}
		pen.save();
		pen.beginPath();
		pen.rect(LABEL, AXIS, width - LABEL, height - AXIS);
		pen.clip();
		drawPoints(row, index, y + 3, perPixel, l);
		drawSpans(row, index, y + 3 + POINTS, perPixel, l);
		pen.restore();
		pen.fillStyle = colours.ink;
		pen.fillText(threadName(row), 8, y + 3 + POINTS / 2);
		pen.strokeStyle = colours.line;
		pen.beginPath();
		pen.moveTo(0, y + row.height - 0.5);
		pen.lineTo(width, y + row.height - 0.5);
		pen.stroke();
	});
	pen.restore();
	drawBands();
	pen.strokeStyle = colours.line;
	pen.beginPath();
	pen.moveTo(LABEL - 0.5, AXIS);
	pen.lineTo(LABEL - 0.5, height);
	pen.stroke();
	for (const [range, colour] of [[state.chosen, colours.chosen]])
		if (range) {
			const left = Math.max(LABEL, xOf(range[0])), right = Math.min(width, xOf(range[1]));
			if (right >= left) {
				pen.fillStyle = colour;
				pen.fillRect(left, 0, Math.max(1, right - left), height);
			}
		}
	if (state.mark !== null) {
		pen.fillStyle = colours.accent;
		pen.fillRect(xOf(state.mark) - 0.5, AXIS, 1.5, height);
	}
}

function drawMap() {
	const level = levels.find(level => level.bins <= 2048) || levels[levels.length - 1];
	const sums = new Float64Array(level.bins);

	if (!drawMap.sums) {
		for (const of of level.rows)
			for (let i = 0; i < of.bin.length; i++)
				sums[of.bin[i]] += of.points[i];
		drawMap.sums = sums;
		drawMap.most = sums.reduce((a, b) => Math.max(a, b), 1);
	}
	mapPen.fillStyle = colours.panel;
	mapPen.fillRect(0, 0, mapWidth, mapHeight);
	mapPen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
	mapPen.fillStyle = colours.faint;
	mapPen.fillText("the whole log", 8, mapHeight / 2 + 4);
	const each = (mapWidth - LABEL) / level.bins;
	for (let i = 0; i < level.bins; i++) {
		const high = drawMap.sums[i] ? 2 + (mapHeight - 8) * Math.log(1 + drawMap.sums[i]) / Math.log(1 + drawMap.most) : 0;
		mapPen.fillRect(LABEL + i * each, mapHeight - high, Math.max(0.7, each), high);
	}
	for (const band of meta.bands) {
		mapPen.globalAlpha = 0.5;
		mapPen.fillStyle = colours.band[band.kind];
		mapPen.fillRect(LABEL + band.begin / length * (mapWidth - LABEL), 0,
			Math.max(1.5, (band.end - band.begin) / length * (mapWidth - LABEL)), mapHeight);
		mapPen.globalAlpha = 1;
	}
	mapPen.fillStyle = colours.chosen;
	mapPen.strokeStyle = colours.accent;
	const left = LABEL + state.from / length * (mapWidth - LABEL);
	const wide = Math.max(3, (state.to - state.from) / length * (mapWidth - LABEL));
	mapPen.fillRect(left, 0, wide, mapHeight);
	mapPen.lineWidth = 1.5;
	mapPen.strokeRect(left + 0.75, 0.75, Math.max(2, wide - 1.5), mapHeight - 1.5);
}

/* ------------------------------------------------------------------ what is under the pointer */

function rowAt(y) {
	y += state.top - AXIS;
	return rows.findIndex(row => y >= row.y && y < row.y + row.height);
}

function describe(x, y) {
	const time = timeOf(x), near = (state.to - state.from) / timeWidth() * 4;

	for (const band of meta.bands)
		if (y < AXIS && time >= band.begin - near && time <= band.end + near)
			return band.name + "\n" + clock(band.begin) + "\n" + span(band.end - band.begin);
	const index = rowAt(y);
	if (index < 0 || x < LABEL || y < AXIS) return null;
	const row = rows[index], lane = Math.floor((y + state.top - AXIS - row.y - 3 - POINTS) / LANE);
	if (lane >= 0 && lane < row.lanes) {
		let best = -1;
		for (let tier = 0; tier < TIERS; tier++) {
			const of = row.tiers[tier];
			let i = search(of.length, k => row.begin[of[k]], time - row.longest[tier] - near);
			for (let steps = 0; i < of.length && row.begin[of[i]] <= time + near / 2 && steps < 50000; i++, steps++) {
				const it = of[i];
				if (row.lane[it] === lane && row.begin[it] + Math.max(row.took[it], near / 2) >= time) best = it;
			}
		}
		if (best >= 0)
			return meta.series[row.series[best]].name + ": " + span(row.took[best]) + "\n" +
				clock(row.begin[best]) + "\n" + threadName(row);
	}
	if (y + state.top - AXIS - row.y <= POINTS + 3 && row.time.length) {
		let i = search(row.time.length, k => row.time[k], time);
		if (i > 0 && (i === row.time.length || time - row.time[i - 1] < row.time[i] - time)) i--;
		if (Math.abs(row.time[i] - time) <= near)
			return meta.types[row.type[i]].name + "\n" + clock(row.time[i]) + "\n" + threadName(row);
	}
	return null;
}

function hover(event) {
	const box = view.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
	const text = describe(x, y);

	tip.hidden = !text;
	if (!text) return;
	tip.textContent = text;
	const top = view.offsetTop + y + 16;
	tip.style.left = Math.min(x + 14, width - Math.min(430, tip.offsetWidth + 10)) + "px";
	tip.style.top = (top + tip.offsetHeight > view.offsetTop + height ? top - tip.offsetHeight - 26 : top) + "px";
}

/* ------------------------------------------------------------------ selection */

function inRange(from, to) {
	const types = new Float64Array(meta.types.length), took = meta.series.map(() => []);
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
		let i = search(row.begin.length, k => row.begin[k], from);
		for (; i < row.begin.length && row.begin[i] <= to; i++) took[row.series[i]].push(row.took[i]);
	});
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

const cell = text => element("td", { class: "n" }, text);

function showSelection() {
	const to = byId("selection");

	to.textContent = "";
	if (!state.chosen) {
		to.append(element("p", { class: "note" }, "Shift and drag, or drag on the axis, to select a span of time."));
		return;
	}
	const [from, end] = state.chosen, found = inRange(from, end);
	const order = [...meta.types.keys()].filter(i => found.types[i]).sort((a, b) => found.types[b] - found.types[a]);
	to.append(element("p", { class: "note" }, clock(from), element("br"), span(end - from) + ", ",
		element("b", { id: "selected-events" }, grouped(found.total)), found.exact ? " events, " : " events, about, ",
		span((end - from) / Math.max(1, found.total)) + " apart"));
	to.append(table("selected-types", [["Event type"], ["Events", 1], ["Per second", 1]], order.map(i =>
		element("tr", {}, element("td", { class: "name" }, dot("type", i), meta.types[i].name),
			cell(grouped(found.types[i])), cell((found.types[i] * 1e9 / Math.max(1, end - from)).toPrecision(4))))));
	const spans = [...meta.series.keys()].filter(i => found.took[i].length);
	if (!spans.length) return;
	to.append(table("selected-spans", [["Span that begins here"], ["Count", 1], ["p50", 1], ["p99", 1], ["Max", 1]], spans.map(i => {
		const sorted = Float64Array.from(found.took[i]).sort(), n = sorted.length;
		const at = part => span(sorted[Math.min(n - 1, Math.max(0, Math.ceil(n * part) - 1))]);
		return element("tr", {}, element("td", { class: "name" }, dot("series", i), meta.series[i].name),
			cell(grouped(n)), cell(at(0.5)), cell(at(0.99)), cell(span(sorted[n - 1])));
	})));
}

function choose(range) {
	state.chosen = range && range[1] > range[0] ? range : null;
	showSelection();
	redraw();
}

/* ------------------------------------------------------------------ search */

function find(text) {
	const wanted = text.trim().toLowerCase(), found = byId("found");

	state.mark = null;
	if (!wanted) {
		state.matching = null;
		found.textContent = "";
	} else {
		const fits = it => it.name.toLowerCase().includes(wanted);
		state.matching = { types: meta.types.map(fits), series: meta.series.map(fits) };
		const events = meta.types.reduce((sum, it) => sum + (fits(it) ? it.count : 0), 0);
		const spans = meta.series.reduce((sum, it) => sum + (fits(it) ? it.count : 0), 0);
		found.textContent = events || !spans ? grouped(events) + " events" : grouped(spans) + " spans";
		found.dataset.events = events;
		found.dataset.spans = spans;
	}
	redraw();
}

/* The match next to the mark, or to the middle, on any row. */
function step_to(forward) {
	if (!state.matching) return;
	const from = state.mark === null ? (forward ? state.from - 1 : state.to + 1) : state.mark;
	let best = null, bestRow = null;
	const offer = (time, row) => {
		if (forward ? time > from && (best === null || time < best) : time < from && (best === null || time > best)) {
			best = time;
			bestRow = row;
		}
	};
	for (const row of rows) {
		for (const [times, kinds, fits] of [[row.time, row.type, state.matching.types], [row.begin, row.series, state.matching.series]]) {
			let i = search(times.length, k => times[k], from);
			if (forward) {
				while (i < times.length && (times[i] <= from || !fits[kinds[i]])) i++;
				if (i < times.length) offer(times[i], row);
			} else {
				i--;
				while (i >= 0 && (times[i] >= from || !fits[kinds[i]])) i--;
				if (i >= 0) offer(times[i], row);
			}
		}
	}
	if (best === null) return;
	state.mark = best;
	if (best < state.from || best > state.to) {
		const half = (state.to - state.from) / 2;
		show(best - half, best + half);
	}
	const y = bestRow.y - state.top;
	if (y < 0 || y + bestRow.height > height - AXIS) scroll(y - (height - AXIS) / 2);
	redraw();
}

/* ------------------------------------------------------------------ panels */

function searchFor(name) {
	byId("search").value = name;
	find(name);
}

function bars(series) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const most = Math.max(...series.bars.map(bar => bar[1]), 1);
	const low = Math.log2(Math.max(1, series.bars[0][0])), high = Math.log2(series.bars[series.bars.length - 1][0] + 1);
	const slots = Math.max(8, Math.round((high - low) * 4) + 1), each = 360 / slots;

	svg.setAttribute("viewBox", "0 0 360 64");
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", "How often which duration");
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

	byId("types").append(table("type-counts", [["Event type"], ["Events", 1]],
		order(meta.types, t => t.count).filter(i => meta.types[i].count).map(i => {
			const line = element("tr", { class: "link", click: () => searchFor(meta.types[i].name) },
				element("td", { class: "name" }, dot("type", i), meta.types[i].name), cell(grouped(meta.types[i].count)));
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
			element("p", {}, grouped(series.count) + " × — p50 " + span(series.p50) + ", p99 " + span(series.p99) +
				", max " + span(series.max)), bars(series));
		card.dataset.name = series.name;
		card.dataset.count = series.count;
		durations.append(card);
	}
	byId("threads").append(table("thread-counts", [["Process / thread"], ["Events", 1], ["Spans", 1]], rows.map(row => {
		const line = element("tr", { class: "link", click: () => { scroll(row.y - state.top); } },
			element("td", { class: "name" }, threadName(row)), cell(grouped(row.points)), cell(grouped(row.spans)));
		line.dataset.pid = row.pid;
		line.dataset.tid = row.tid;
		line.dataset.count = row.points;
		return line;
	})));
	const gaps = byId("gaps");
	gaps.append(element("p", { class: "note" }, meta.lost ? grouped(meta.lost) + " events were lost." : "No event was lost."));
	if (meta.bands.length)
		gaps.append(table("gap-list", [["From"], ["What"], ["How long", 1]], meta.bands.map(band =>
			element("tr", { class: "link", click: () => { const by = Math.max(band.end - band.begin, length / 1000); show(band.begin - by, band.end + by); } },
				element("td", {}, clock(band.begin).slice(11, 26)), element("td", {}, band.name), cell(span(band.end - band.begin))))));
	showSelection();
}

function openTab(name) {
	for (const tab of document.querySelectorAll("nav button")) {
		const is = tab.dataset.tab === name;
		tab.setAttribute("aria-selected", is);
		byId(tab.dataset.tab).hidden = !is;
	}
}

/* ------------------------------------------------------------------ hands */

function hands() {
	let drag = null;

	view.addEventListener("pointerdown", event => {
		const box = view.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
		view.setPointerCapture(event.pointerId);
		drag = { x, y, from: state.from, to: state.to, top: state.top, time: timeOf(Math.max(LABEL, x)),
			selects: event.shiftKey || y < AXIS, moved: false };
	});
	view.addEventListener("pointermove", event => {
		if (!drag) { hover(event); return; }
		const box = view.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
		drag.moved = drag.moved || Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
		if (!drag.moved) return;
		tip.hidden = true;
		if (drag.selects) {
			const time = Math.max(0, Math.min(length, timeOf(Math.max(LABEL, x))));
			state.chosen = [Math.min(time, drag.time), Math.max(time, drag.time)];
			redraw();
		} else {
			const by = (drag.x - x) / timeWidth() * (drag.to - drag.from);
			show(drag.from + by, drag.to + by);
			scroll(drag.top + drag.y - y - state.top);
		}
	});
	view.addEventListener("pointerup", () => {
		if (drag && drag.selects) {
			choose(drag.moved ? state.chosen : null);
			if (state.chosen) openTab("selection");
		}
		drag = null;
	});
	view.addEventListener("pointerleave", () => { tip.hidden = true; });
	view.addEventListener("wheel", event => {
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			move((event.deltaX || event.deltaY) / timeWidth());
		else if (event.altKey || event.offsetX < LABEL)
			scroll(event.deltaY);
		else
			zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), event.offsetX);
	}, { passive: false });

	const follow = event => {
		const half = (state.to - state.from) / 2, at = (event.offsetX - LABEL) / (mapWidth - LABEL) * length;
		show(at - half, at + half);
	};
	map.addEventListener("pointerdown", event => { map.setPointerCapture(event.pointerId); follow(event); });
	map.addEventListener("pointermove", event => { if (event.buttons) follow(event); });

	byId("search").addEventListener("input", event => find(event.target.value));
	byId("find").addEventListener("submit", event => { event.preventDefault(); step_to(true); });
	byId("next").addEventListener("click", () => step_to(true));
	byId("previous").addEventListener("click", () => step_to(false));
	byId("in").addEventListener("click", () => zoom(0.5));
	byId("out").addEventListener("click", () => zoom(2));
	byId("all").addEventListener("click", () => show(0, length));
	byId("help").addEventListener("click", () => byId("keys").showModal());
	byId("theme").addEventListener("click", () => { dark = !dark; setTheme(); redraw(); });
	for (const tab of document.querySelectorAll("nav button"))
		tab.addEventListener("click", () => openTab(tab.dataset.tab));

	const keys = {
		ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15), a: () => move(-0.15), d: () => move(0.15),
		ArrowUp: () => scroll(-40), ArrowDown: () => scroll(40),
		PageUp: () => scroll(-(height - AXIS) * 0.8), PageDown: () => scroll((height - AXIS) * 0.8),
		"+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), w: () => zoom(0.7), s: () => zoom(1 / 0.7),
		Home: () => show(0, length), End: () => show(length - (state.to - state.from), length),
		f: () => state.chosen && show(...state.chosen),
		n: () => step_to(true), N: () => step_to(false),
		t: () => byId("theme").click(), "?": () => byId("help").click(),
		"/": () => byId("search").focus(),
		Escape: () => { choose(null); searchFor(""); },
	};
	document.addEventListener("keydown", event => {
		if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open) return;
		if (event.target === byId("search")) {
			if (event.key === "Escape") { searchFor(""); view.focus(); }
			return;
		}
		if (!keys[event.key] || (event.target.tagName === "BUTTON" && event.key === "Enter")) return;
		event.preventDefault();
		keys[event.key]();
	});
	window.addEventListener("resize", resize);
}

function summarise() {
	const text = [grouped(meta.events) + " events", grouped(meta.spans) + " spans", rows.filter(row => row.pid > 0).length + " threads",
		span(length), meta.host ? "on " + meta.host : ""].filter(Boolean).join(", ");
	const to = byId("summary");

	document.title = meta.log + " - posixtrace";
	byId("title").textContent = meta.log;
	to.textContent = text;
	to.dataset.events = meta.events;
	to.dataset.spans = meta.spans;
	to.dataset.lost = meta.lost;
	if (meta.lost) to.append(element("span", { class: "warn" }, "; " + grouped(meta.lost) + " lost"));
	if (!meta.has_points || !meta.has_spans)
		to.append("; at the deepest zoom " + (!meta.has_points ? "events" : "short spans") + " are counted, not shown");
}

/* For those who look from outside, tests above all: how much was drawn from, and how long it took. */
window.posixtrace = { state, rows, levels, meta, show, zoom, find, step_to, choose, inRange, drawView };

setTheme();
summarise();
fillPanels();
openTab("types");
hands();
resize();
document.documentElement.dataset.ready = "true";
})();
