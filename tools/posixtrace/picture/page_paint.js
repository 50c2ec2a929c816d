/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_paint.js - draws ten thousands of rectangles in each frame. It stores the pixels of the
 * rectangles itself, which takes a tenth of the time that a canvas needs to draw rectangles. At the
 * end it writes the names over the rectangles.
 */

const paint = (function () {
	const canvas = document.createElement("canvas");
	const to = canvas.getContext("2d", { willReadFrequently: true });
	let image, pixels, wide = 0, high = 0, scale = 1, any = false, labels = [];

	/* Sets the size of the area to paint in, in CSS pixels. */
	function resize(width, height, ratio) {
		scale = ratio;
		wide = canvas.width = Math.max(1, Math.floor(width * scale));
		high = canvas.height = Math.max(1, Math.floor(height * scale));
		image = to.createImageData(wide, high);
		pixels = new Uint32Array(image.data.buffer);
	}

	function begin() {
		if (any) pixels.fill(0);
		any = false;
		labels = [];
	}

	/*
	 * Paints a box from left to right, at least a pixel wide. colour is a result of word(), and
	 * part is the opacity.
	 */
	function box(left, right, top, height, colour, part) {
		const x = Math.max(0, Math.floor(left * scale)), y = Math.max(0, Math.round(top * scale));
		const end = Math.min(wide, Math.max(Math.floor(left * scale) + 1, Math.floor(right * scale)));
		const bottom = Math.min(high, Math.max(Math.round(top * scale) + 1, Math.round((top + height) * scale)));
		const value = part < 1 ? (colour & 0xffffff | Math.round(part * 255) << 24) >>> 0 : colour;
		if (end <= x) return;
		any = true;
		for (let line = y; line < bottom; line++) {
			const at = line * wide;
			if (end - x < 16)
				for (let i = at + x; i < at + end; i++) pixels[i] = value;
			else
				pixels.fill(value, at + x, at + end);
		}
	}

	function label(text, left, right, middle) {
		labels.push([text, left, right, middle]);
	}

	/* Returns a name, shortened to the room that it has. */
	const widths = new Map();
	function fit(pen, text, room) {
		if (!widths.has(text)) widths.set(text, pen.measureText(text).width);
		const all = widths.get(text);
		return all <= room ? text : text.slice(0, Math.max(1, Math.floor(text.length * room / all) - 1)) + "\u2026";
	}

	/*
	 * Copies the area onto a canvas, with its upper left corner at x, y, and writes the names.
	 */
	function show(pen, x, y, ink) {
		if (any) {
			to.putImageData(image, 0, 0);
			pen.imageSmoothingEnabled = false;
			pen.drawImage(canvas, x, y, wide / scale, high / scale);
		}
		pen.fillStyle = ink;
		for (const [text, left, right, middle] of labels)
			pen.fillText(fit(pen, text, right - left), x + left, y + middle, right - left);
	}

	return { resize, begin, box, label, show };
})();

/* Returns a colour as the number that a pixel of an image contains. */
const word = (function () {
	const one = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	return colour => {
		one.fillStyle = colour;
		one.fillRect(0, 0, 1, 1);
		return new Uint32Array(one.getImageData(0, 0, 1, 1).data.buffer)[0];
	};
})();
