/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_curves.js - draws the counters as step lines: a value holds until the next one. A pixel that
 * has several values shows the range from the least to the greatest of them, so no peak is lost at
 * any zoom. The scale fits the values that are shown.
 */

/* this number of elements of a level becomes one element of the level above */
const CURVE_GROUP = 8;

/* Makes the levels of the least and greatest values: each element is for a group of the level below. */
function curveLevels(values) {
	const levels = [{ low: values, high: values }];
	for (let below = levels[0]; below.low.length > CURVE_GROUP; below = levels[levels.length - 1]) {
		const n = Math.ceil(below.low.length / CURVE_GROUP), low = new Float64Array(n).fill(Infinity), high = new Float64Array(n).fill(-Infinity);
		for (let i = 0; i < below.low.length; i++) {
			const to = Math.floor(i / CURVE_GROUP);
			if (below.low[i] < low[to]) low[to] = below.low[i];
			if (below.high[i] > high[to]) high[to] = below.high[i];
		}
		levels.push({ low, high });
	}
	return levels;
}

/*
 * The least and the greatest value are computed here, because those of the tool are rounded. The
 * last value may be a string, because the tool writes integers of 64 bits as strings.
 */
for (const curve of curves) {
	curve.levels = curveLevels(curve.value);
	curve.last = Number(curve.last);
	[curve.min, curve.max] = curveRange(curve, 0, curve.value.length);
}

/* Returns the least and greatest of the values from index i to the one before index end. */
function curveRange(curve, i, end) {
	let low = Infinity, high = -Infinity, size = 1, l = 0;
	const take = (level, k) => {
		low = Math.min(low, level.low[k]);
		high = Math.max(high, level.high[k]);
	};

	/* On each level the loop uses the elements at both ends that fill no whole group.
	 * The whole groups between them are elements of the level above. */
	for (; i < end && l < curve.levels.length; l++) {
		const level = curve.levels[l], is_top = l === curve.levels.length - 1;
		while (i < end && (is_top || i % CURVE_GROUP)) take(level, i++);
		while (i < end && end % CURVE_GROUP) take(level, --end);
		i /= CURVE_GROUP;
		end /= CURVE_GROUP;
	}
	return [low, high];
}

/* Returns the index of the value that holds at a time, or -1 before the first value. */
const curveAt = (curve, time) => search(curve.time.length, k => curve.time[k], time + 1e-6) - 1;

/* Returns the least and greatest value that are shown, or null if none is. */
function curveShown(curve) {
	const first = Math.max(0, curveAt(curve, state.from)), end = curveAt(curve, state.to) + 1;
	return end > first ? curveRange(curve, first, end) : null;
}

/* Returns the scale of the values that are shown: it begins at 0 unless they are far from 0. */
function curveScale(range) {
	let [low, high] = range;
	if (low > 0 && low < high / 2) low = 0;
	if (high < 0 && high > low / 2) high = 0;
	if (low < high) return [low, high];
	/* 1 is not enough for large numbers: the next double is more than 1 away. */
	const pad = Math.max(1, Math.abs(low) * 1e-3), most = Number.MAX_VALUE;
	return [Math.max(-most, low - pad), Math.min(most, high + pad)];
}

/* Returns the place of a value in the scale: 0 is its top, 1 its bottom. */
function curvePlace([low, high], value) {
	/*
	 * The difference of two doubles may be too large for a double. If so, the halves are used.
	 */
	const part = Number.isFinite(high - low) ? 1 : 0.5;
	return (high * part - value * part) / (high * part - low * part);
}

function curveNumber(curve, value) {
	if (curve.is_time) return value < 0 ? "-" + span(-value) : span(value);
	const size = Math.abs(value);
	return size && (size >= 1e15 || size < 1e-3) ? value.toExponential(3) :
		value.toLocaleString("en", { maximumFractionDigits: Number.isInteger(value) ? 0 : size >= 100 ? 2 : 5 });
}

const curveProcess = curve => {
	const first = rows.find(row => row.log === curve.log && row.pid === curve.pid && row.tid === curve.pid);
	return (isMany ? logs[curve.log].name + ": " : "") + (first && first.name ? first.name + " " : "") + curve.pid;
};
const curveName = curve => meta.types[curve.type].name + " " + curve.field;

/* y is the top of the curve's place in the area to paint in. */
function drawCurve(curve, y, perPixel) {
	const range = curveShown(curve), word = colours.typeWord[curve.type], part = dimType(curve.type) ? DIM : 1;

	curve.shown = range;
	if (!range) return;
	const scale = curveScale(range), tall = CURVE - 2 * CURVE_EDGE, wide = timeWidth(), n = curve.time.length;
	const yOf = value => y + CURVE_EDGE + curvePlace(scale, value) * tall;
	const base = y + CURVE_EDGE + tall;
	/* i is the value that holds at the left edge of the column x. */
	let i = curveAt(curve, state.from), x = i < 0 ? Math.max(0, Math.floor(placeOf(curve.time[0]))) : 0;

	while (x < wide) {
		const end = Math.max(i + 1, search(n, k => curve.time[k], state.from + (x + 1) * perPixel));
		if (end === i + 1) {
			/* No value begins here, so the line is level up to the next value. */
			const until = end < n ? Math.max(x + 1, Math.min(wide, Math.floor(placeOf(curve.time[end])))) : wide;
			const at = yOf(curve.value[i]);
			if (i >= 0) {
				paint.box(x, until, at, base - at, word, 0.22 * part);
				paint.box(x, until, at - 0.75, 1.5, word, part);
			}
			x = until;
			continue;
		}
		const [least, most] = curveRange(curve, Math.max(0, i), end), top = yOf(most);
		paint.box(x, x + 1, top, base - top, word, 0.22 * part);
		paint.box(x, x + 1, top - 0.75, yOf(least) - top + 1.5, word, part);
		i = end - 1;
		x++;
	}
}

/* Writes the name of a curve and its scale at its left. top is the top of its place. */
function drawCurveLabel(curve, top) {
	pen.fillStyle = colours.ink;
	pen.fillText((curve.pinned ? "\u2605 " : "") + curveName(curve), 8, top + 12, LABEL - 14);
	pen.fillStyle = colours.faint;
	pen.fillText(curveProcess(curve), 8, top + 27, LABEL - 14);
	if (!curve.shown) return;
	const [low, high] = curveScale(curve.shown);
	const scale = curve.shown[0] === curve.shown[1] ? curveNumber(curve, curve.shown[0]) :
		curveNumber(curve, low) + " to " + curveNumber(curve, high);
	pen.fillText(scale, 8, top + 42, LABEL - 14);
}

/* Describes the value at a time, and the ranges of the values that are shown and of all values. */
function describeCurve(curve, time) {
	const i = curveAt(curve, time), near = (state.to - state.from) / timeWidth();
	const between = (low, high) => low === high ? curveNumber(curve, low) : curveNumber(curve, low) + " to " + curveNumber(curve, high);
	const lines = [curveName(curve) + ", " + curveProcess(curve)];

	if (i < 0) lines.push("no value yet");
	else lines.push(curveNumber(curve, curve.value[i]), "since " + clock(curve.time[i]));
	const first = Math.max(0, curveAt(curve, time - near / 2)), end = curveAt(curve, time + near / 2) + 1;
	if (end - first > 1) lines.push("in this pixel: " + between(...curveRange(curve, first, end)));
	const shown = curveShown(curve);
	if (shown) lines.push("shown: " + between(...shown));
	if (curve.count) lines.push("in all: " + between(curve.min, curve.max) + ", mean " + curveNumber(curve, curve.mean));
	return lines.join("\n");
}

/* Shows the first time at which a curve has its least or greatest value. */
function goToValue(curve, value) {
	const i = curve.value.indexOf(value), half = (state.to - state.from) / 2;

	if (i < 0) return;
	curve.hidden = false;
	layRows();
	state.mark = curve.time[i];
	show(curve.time[i] - half, curve.time[i] + half);
	scroll(curve.y - state.top - (height - AXIS - CURVE) / 2);
	byId("found").textContent = curveName(curve) + " " + curveNumber(curve, value);
}

function curvePanel() {
	const to = byId("counters");

	if (!curves.length) {
		document.querySelector("[data-tab=counters]").hidden = true;
		return;
	}
	to.append(element("p", { class: "note" }, "A click on a value shows where it is." + (meta.has_values ? "" : " There are many values, so the page has only the least and the greatest of each short time.") +
		(meta.values_left_out ? " " + counted(meta.values_left_out, "value") + " of further counters are left out." : "")));
	for (const curve of curves) {
		const value = (number, what) => element("button", { type: "button", class: "figure", title: "Show the " + what + " value of " + curveName(curve),
			click: () => goToValue(curve, number) }, curveNumber(curve, number));
		const card = element("div", { class: "card" },
			element("h3", { click: () => scroll(curve.y - state.top) }, rowButton(curve, "pinned", "\u2605", "\u2606", "Pin to the top"), dot("type", curve.type), curveName(curve) + ", " + curveProcess(curve)),
			curve.count ? element("p", {}, counted(curve.count, "value") + " \u2014 least ", value(curve.min, "least"), ", greatest ", value(curve.max, "greatest"),
				", mean " + curveNumber(curve, curve.mean) + ", last " + curveNumber(curve, curve.last)) : element("p", {}, "no value"),
			element("p", {}, curve.unknown ? counted(curve.unknown, "value") + " more that cannot be drawn" : ""));
		card.dataset.name = curveName(curve);
		card.dataset.pid = curve.pid;
		card.dataset.count = curve.count;
		to.append(card);
	}
}
