/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_view.js - draws the axis, the rows, the bands and the whole log, and finds what is under the
 * pointer.
 */

const view = byId("view"), map = byId("map"), tip = byId("tip");
const pen = view.getContext("2d"), mapPen = map.getContext("2d");
const state = { from: 0, to: length, top: 0, chosen: null, matching: null, mark: null, hit: null, item: null, span: null };
let width = 0, height = 0, mapWidth = 0, mapHeight = 0, drawn = false;

const timeWidth = () => Math.max(1, width - LABEL);
const placeOf = time => (time - state.from) / (state.to - state.from) * timeWidth();
const xOf = time => LABEL + placeOf(time);
const timeOf = x => state.from + (x - LABEL) / timeWidth() * (state.to - state.from);

function redraw() {
	if (drawn) return;
	drawn = true;
	requestAnimationFrame(() => {
		const began = performance.now();
		drawn = false;
		drawView();
		drawMap();
		if (window.posixtrace.drew) window.posixtrace.drew(performance.now() - began);
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
	paint.resize(timeWidth(), Math.max(1, height - AXIS), scale);
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
	flameFollow();
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

/* Returns the ranges of heights of a log's rows, over which the log's bands are drawn. */
function bandHeights(log) {
	return rows.filter(row => row.log === log && !row.hidden)
		.map(row => [Math.max(AXIS, AXIS + row.y - state.top), Math.min(height, AXIS + row.y + row.height - state.top)])
		.filter(([top, bottom]) => bottom > top);
}

function drawBands() {
	const heights = isMany ? logs.map((it, log) => bandHeights(log)) : [[[AXIS, height]]];
	for (const band of meta.bands) {
		if (band.end < state.from || band.begin > state.to) continue;
		const left = Math.max(LABEL, xOf(band.begin)), right = Math.min(width, xOf(band.end));
		for (const [top, bottom] of heights[band.log || 0]) {
			pen.globalAlpha = 0.16;
			pen.fillStyle = colours.band[band.kind];
			pen.fillRect(left, top, Math.max(2, right - left), bottom - top);
			pen.globalAlpha = 0.45;
			pen.fillStyle = hatch(colours.band[band.kind]);
			pen.fillRect(left, top, Math.max(2, right - left), bottom - top);
		}
		pen.globalAlpha = 1;
		pen.fillStyle = colours.band[band.kind];
		pen.fillRect(left, AXIS - 5, Math.max(2, right - left), 5);
	}
}

/*
 * Returns the distance of the marks on the axis: the least of 1, 2, 5, 10 ... nanoseconds at which
 * they are at least `room` pixels apart.
 */
function step(perPixel, room) {
	let size = 1;
	for (let i = 0; size / perPixel < room; i++)
		size *= i % 3 === 1 ? 2.5 : 2;
	return size;
}

function drawAxis(perPixel) {
	const [name, unit] = [[" s", 1e9], [" ms", 1e6], [" µs", 1e3], [" ns", 1]].find(it => state.to >= it[1]) || [" ns", 1];
	const digits = by => Math.max(0, Math.ceil(Math.log10(unit / by) - 1e-9));
	const label = (t, by) => "+" + (t / unit).toFixed(digits(by)) + name;
	let by = step(perPixel, 90);

	/* A label with many digits needs more room. A greater distance never needs more digits. */
	by = step(perPixel, Math.max(90, pen.measureText(label(state.to, by)).width + 12));

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
		/* A label that would be cut at the edge is omitted. */
		if (x + 3 + pen.measureText(label(t, by)).width <= width)
			pen.fillText(label(t, by), x + 3, AXIS / 2);
	}
	pen.stroke();
	pen.beginPath();
	pen.moveTo(0, AXIS - 0.5);
	pen.lineTo(width, AXIS - 0.5);
	pen.stroke();
}

/* Draws the heading above the rows of a log. */
function drawHead(head) {
	const y = AXIS + head.y - state.top, log = logs[head.log];
	if (y + HEAD < AXIS || y > height) return;
	pen.fillStyle = colours.panel;
	pen.fillRect(0, y, width, HEAD);
	pen.fillStyle = colours.ink;
	pen.font = "bold 12px system-ui, 'DejaVu Sans', sans-serif";
	pen.fillText(log.name, 8, y + HEAD / 2);
	const from = 18 + pen.measureText(log.name).width;
	pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
	pen.fillStyle = colours.faint;
	pen.fillText(describeLog(log), from, y + HEAD / 2);
}

const describeLog = log => [log.host ? "on " + log.host : "", counted(log.events, "event"), counted(log.spans, "span"), log.lost ? grouped(log.lost) + " lost" : "no loss",
	log.error_ns < 0 ? "from its start" : "its clock agrees with those of the others to " + span(log.error_ns)].filter(Boolean).join(", ");

/* Draws a frame around the chosen item. The spans of a folded row are not visible. */
function drawChosen(it) {
	const [begin, took] = extentOf(it), left = Math.max(LABEL, xOf(begin)), right = Math.min(width + 2, xOf(begin + took)), y = AXIS + it.row.y - state.top;
	const [top, tall] = it.kind === "span" ? [middleOf(it) - LANE / 2 + 1, LANE - 2] : it.kind === "state" ? [y + stateTop(it.row) - 1, STATE + 1] : [y + 2, POINTS - 1];

	if (right < LABEL || left > width || (it.kind === "span" && it.row.folded)) return;
	pen.strokeStyle = colours.accent;
	pen.lineWidth = 2;
	pen.strokeRect(left, top, Math.max(3, right - left), tall);
	pen.lineWidth = 1;
}

function drawView() {
	const perPixel = (state.to - state.from) / timeWidth(), l = levelFor(perPixel);

	pen.fillStyle = colours.paper;
	pen.fillRect(0, 0, width, height);
	pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
	pen.textBaseline = "middle";
	drawAxis(perPixel);
	paint.begin();
	pen.save();
	pen.beginPath();
	pen.rect(0, AXIS, width, height - AXIS);
	pen.clip();
	rows.forEach((row, index) => {
		const y = AXIS + row.y - state.top;
		if (row.hidden) return;
		if (y + row.height < AXIS || y > height) return;
		if (index % 2) {
			pen.fillStyle = colours.stripe;
			pen.globalAlpha = 0.6;
			pen.fillRect(0, y, width, row.height);
			pen.globalAlpha = 1;
		}
		drawPoints(row, index, y - AXIS + 3, perPixel, l);
		drawHits(row, y - AXIS + 3, perPixel);
		if (!row.folded) drawSpans(row, index, y - AXIS + 3 + POINTS, perPixel, l);
		drawStates(row, y - AXIS + stateTop(row), perPixel);
		pen.fillStyle = colours.ink;
		pen.fillText((row.pinned ? "\u2605 " : "") + (row.folded ? "\u25b8 " : "") + (rows.heads.length ? shortName : threadName)(row), 8, y + 3 + POINTS / 2, LABEL - 14);
		pen.strokeStyle = colours.line;
		pen.beginPath();
		pen.moveTo(0, y + row.height - 0.5);
		pen.lineTo(width, y + row.height - 0.5);
		pen.stroke();
	});
	const seen = curves.filter(curve => !curve.hidden && AXIS + curve.y - state.top < height && AXIS + curve.y + CURVE - state.top > AXIS);
	for (const curve of seen) {
		drawCurve(curve, curve.y - state.top, perPixel);
		drawCurveLabel(curve, AXIS + curve.y - state.top);
		pen.strokeStyle = colours.line;
		pen.strokeRect(-1, AXIS + curve.y - state.top - 0.5, width + 2, CURVE);
	}
	paint.show(pen, LABEL, AXIS, colours.ink);
	pen.strokeStyle = colours.line;
	pen.beginPath();
	pen.moveTo(LABEL - 0.5, AXIS);
	pen.lineTo(LABEL - 0.5, height);
	pen.stroke();
	/* The text of a head crosses the line. */
	for (const head of rows.heads) drawHead(head);
	drawLinks();
	if (state.item && !state.item.row.hidden) drawChosen(state.item);
	pen.restore();
	drawBands();
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
		mapPen.fillRect(Math.floor(LABEL + i * each), mapHeight - high, Math.ceil(each), high);
	}
	drawMapHits();
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

/* Returns the index of the row or curve at a height of the view, or -1 if there is none. */
function rowAt(y, of) {
	y += state.top - AXIS;
	return of.findIndex(row => !row.hidden && y >= row.y && y < row.y + row.height);
}

/* Returns the span at a place of the view, or null. */
function spanAt(x, y) {
	const time = timeOf(x), near = (state.to - state.from) / timeWidth() * 4, index = rowAt(y, rows);
	if (index < 0 || x < LABEL || y < AXIS) return null;
	const row = rows[index], lane = Math.floor((y + state.top - AXIS - row.y - 3 - POINTS) / LANE);
	if (lane < 0 || lane >= row.lanes || row.folded) return null;
	let best = -1;
	for (const of of row.tiers[lane]) {
		const i = search(of.length, k => row.begin[of[k]], time + near / 2) - 1, it = of[i];
		if (i >= 0 && row.begin[it] + Math.max(row.took[it], near / 2) >= time) best = it;
	}
	return best < 0 ? null : { kind: "span", row, i: best };
}

function describe(x, y) {
	const time = timeOf(x), near = (state.to - state.from) / timeWidth() * 4;

	for (const band of meta.bands)
		if (y < AXIS && time >= band.begin - near && time <= band.end + near)
			return band.name + "\n" + clock(band.begin) + "\n" + span(band.end - band.begin);
	const index = rowAt(y, rows), curve = rowAt(y, curves);
	if (x < LABEL || y < AXIS) return null;
	if (curve >= 0) return describeCurve(curves[curve], time);
	if (index < 0) return null;
	const row = rows[index], found = spanAt(x, y), stay = stateUnder(x, y);
	if (stay) return describeState(stay, time);
	if (found)
		return [meta.series[row.series[found.i]].name + ": " + span(row.took[found.i]), clock(row.begin[found.i]), threadName(row),
			...linksOf(row, found.i).map(([text, to, tail]) => text + (tail || ""))].join("\n");
	const it = eventAt(x, y);
	return it ? [titleOf(it), clock(row.time[it.i]), threadName(row)].join("\n") : null;
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
