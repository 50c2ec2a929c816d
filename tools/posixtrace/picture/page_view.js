/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_view.js - draws the rows, the axis, the bands and the whole log; what is under the pointer. */

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

/* The coarsest level whose bins are three pixels wide at most; -1: the items themselves. */
function levelFor(perPixel) {
	for (let l = levels.length - 1; l >= 0; l--)
		if (levels[l].width <= 3 * perPixel) return l;
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
	const first = search(of.bin.length, k => of.bin[k], Math.floor(state.from / level.width));
	/* One rectangle for all that touch: there may be many. */
	pen.globalAlpha = 0.1;
	pen.fillStyle = colours.accent;
	for (let i = first, from = -1; lanes && i < of.bin.length && of.bin[i] <= last; i++) {
		if (from < 0) from = of.bin[i];
		if (i + 1 < of.bin.length && of.bin[i + 1] === of.bin[i] + 1 && of.bin[i] < last) continue;
		pen.fillRect(xOf(from * level.width), y, xOf((of.bin[i] + 1) * level.width) - xOf(from * level.width), lanes - 2);
		from = -1;
	}
	for (let i = first; i < of.bin.length && of.bin[i] <= last; i++) {
		if (!of.spans[i]) continue;
		const x = xOf(of.bin[i] * level.width), right = xOf((of.bin[i] + 1) * level.width);
		pen.globalAlpha = dimSeries(of.series[i]) ? 0.15 :
			0.45 + 0.55 * Math.log(1 + of.spans[i]) / Math.log(1 + level.shortest);
		pen.fillStyle = colours.series[of.series[i]];
		pen.fillRect(x, y + lanes, Math.max(1, right - x), SHORT - 1);
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
	const [name, unit] = [[" s", 1e9], [" ms", 1e6], [" µs", 1e3], [" ns", 1]].find(it => state.to >= it[1]) || [" ns", 1];
	const digits = Math.max(0, Math.ceil(Math.log10(unit / by) - 1e-9));

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
		pen.fillText("+" + (t / unit).toFixed(digits) + name, x + 3, AXIS / 2);
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
