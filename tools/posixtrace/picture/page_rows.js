/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_rows.js - draws the points and spans of a row at any zoom. x is relative to the area to
 * paint in.
 */

const DIM = 0.15; /* the opacity of items that do not match the search */
const dimType = type => state.matching && !state.matching.types[type];
const dimSeries = series => state.matching && !state.matching.series[series];
const dimSpan = (row, i) => dimSeries(row.series[i]) && !isHitSpan(row, i);

/*
 * Returns the coarsest level whose bins are at most three pixels wide; -1: the items themselves are
 * drawn.
 */
function levelFor(perPixel) {
	for (let l = levels.length - 1; l >= 0; l--)
		if (levels[l].width <= 3 * perPixel) return l;
	return -1;
}

/* Calls use() for the sorted times that are shown, at most once for each pixel. */
function eachPixel(n, time, perPixel, use) {
	let i = search(n, time, state.from);
	while (i < n && time(i) <= state.to) {
		use(i);
		const next = time(i) + perPixel;
		i = i + 1 < n && time(i + 1) >= next ? i + 1 : Math.max(i + 1, search(n, time, next));
	}
}

/* Calls use() for the bins of a row that are shown and not empty. */
function eachBin(level, index, use) {
	const of = level.rows[index], bin = k => of.bin[k], last = Math.ceil(state.to / level.width);
	for (let i = search(of.bin.length, bin, Math.floor(state.from / level.width)); i < of.bin.length && of.bin[i] <= last; i++)
		use(of, i, placeOf(of.bin[i] * level.width), placeOf((of.bin[i] + 1) * level.width));
}

const strength = (count, most) => Math.log(1 + count) / Math.log(1 + most);

function drawPoints(row, index, y, perPixel, l) {
	const tall = POINTS - 2;

	if (meta.has_points && l < 0) {
		eachPixel(row.time.length, k => row.time[k], perPixel, i => {
			const x = placeOf(row.time[i]), type = row.type[i];
			paint.box(x, x + 2, y, tall, colours.typeWord[type], dimType(type) ? DIM : 1);
		});
		return;
	}
	const level = levels[Math.max(0, l)];
	eachBin(level, index, (of, i, left, right) => {
		if (!of.points[i]) return;
		const high = tall * (0.3 + 0.7 * strength(of.points[i], level.most));
		paint.box(left, right, y + tall - high, high, colours.typeWord[of.type[i]], dimType(of.type[i]) ? DIM : 1);
	});
}

function drawSpan(row, i, y) {
	const left = Math.max(0, placeOf(row.begin[i])), right = Math.min(timeWidth(), placeOf(row.begin[i] + row.took[i]));

	/* Leaves a pixel between spans that touch each other. */
	paint.box(left, right - left > 3 ? right - 1 : right, y, LANE - 2, colours.seriesWord[row.series[i]],
		dimSpan(row, i) ? DIM : 1);
	if (right - left > 38)
		paint.label(meta.series[row.series[i]].name, left + 3, right - 4, y + 7);
}

/* Draws the begins of the spans for which there was no lane. */
function drawCrowded(row, y, perPixel) {
	const of = row.crowded;

	eachPixel(of.length, k => row.begin[of[k]], perPixel, i => {
		const x = placeOf(row.begin[of[i]]), series = row.series[of[i]];
		paint.box(x, x + 2, y, SHORT - 1, colours.seriesWord[series], dimSpan(row, of[i]) ? DIM : 1);
	});
}

/*
 * Draws the spans that are counted in bins: a strip shows how many there are, and a light colour
 * behind all lanes shows where they are.
 */
function drawShort(row, index, y, perPixel, l) {
	const level = levels[Math.max(0, l)], lanes = row.lanes * LANE;

	if (!row.hasShort) return;
	if (l < 0 && meta.has_spans) {
		drawCrowded(row, y + lanes, perPixel);
		return;
	}
	eachBin(level, index, (of, i, left, right) => {
		if (!of.spans[i]) return;
		if (lanes) paint.box(left, right, y, lanes - 2, colours.accentWord, 0.1);
		paint.box(left, right, y + lanes, SHORT - 1, colours.seriesWord[of.series[i]],
			dimSeries(of.series[i]) ? DIM : 0.45 + 0.55 * strength(of.spans[i], level.shortest));
	});
}

function drawSpans(row, index, y, perPixel, l) {
	drawShort(row, index, y, perPixel, l);
	row.tiers.forEach((tiers, lane) => {
		for (const of of tiers.slice(l + 1)) {
			const begin = k => row.begin[of[k]], draw = k => drawSpan(row, of[k], y + lane * LANE);
			/* The span before the first one may reach into the time that is shown. */
			const before = search(of.length, begin, state.from) - 1;
			if (before >= 0 && begin(before) + row.took[of[before]] >= state.from) draw(before);
			eachPixel(of.length, begin, perPixel, draw);
		}
	});
}
