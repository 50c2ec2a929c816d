/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_rows.js - draws the points and spans of a row at any zoom; x is that of the place to paint in. */

const DIM = 0.15; /* what is not searched */
const dimType = type => state.matching && !state.matching.types[type];
const dimSeries = series => state.matching && !state.matching.series[series];

/* The coarsest level whose bins are three pixels wide at most; -1: the items themselves. */
function levelFor(perPixel) {
	for (let l = levels.length - 1; l >= 0; l--)
		if (levels[l].width <= 3 * perPixel) return l;
	return -1;
}

/* Of times in order those that are shown, one for each pixel. */
function eachPixel(n, time, perPixel, use) {
	let i = search(n, time, state.from);
	while (i < n && time(i) <= state.to) {
		use(i);
		const next = time(i) + perPixel;
		i = i + 1 < n && time(i + 1) >= next ? i + 1 : Math.max(i + 1, search(n, time, next));
	}
}

/* The bins of a row that are shown and used. */
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

	/* A little room between those that touch. */
	paint.box(left, right - left > 3 ? right - 1 : right, y, LANE - 2, colours.seriesWord[row.series[i]],
		dimSeries(row.series[i]) ? DIM : 1);
	if (right - left > 38)
		paint.label(meta.series[row.series[i]].name, left + 3, right - 4, y + 7);
}

/* Where those begin that no lane had room for. */
function drawCrowded(row, y, perPixel) {
	const of = row.crowded;

	eachPixel(of.length, k => row.begin[of[k]], perPixel, i => {
		const x = placeOf(row.begin[of[i]]), series = row.series[of[i]];
		paint.box(x, x + 2, y, SHORT - 1, colours.seriesWord[series], dimSeries(series) ? DIM : 1);
	});
}

/* Those that are not in a lane: how many, as a strip, and behind all lanes where there are any. */
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
			/* The one before may still go on. */
			const before = search(of.length, begin, state.from) - 1;
			if (before >= 0 && begin(before) + row.took[of[before]] >= state.from) draw(before);
			eachPixel(of.length, begin, perPixel, draw);
		}
	});
}
