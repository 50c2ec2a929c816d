// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * frames.js BROWSER PAGE - how smoothly a page of posixtrace html zooms and pans under a mouse and keys.
 *
 * Presses each key that does something. Prints for each motion how far apart the frames were and how long the page drew at each, in milliseconds, and
 * exits with 1 if a twentieth of the drawings took longer than a frame of 60 Hz has.
 */
"use strict";
const { openPage } = require("./browser.js");
const WIDTH = 1600, HEIGHT = 900, FRAME_MS = 1000 / 60;

/* Runs in the page: notes frames and drawings until it is ended. */
const WATCH = `(() => {
	const frames = [], drawn = [];
	let last = null, on = true;
	const frame = now => {
		if (last !== null) frames.push(now - last);
		last = now;
		if (on) requestAnimationFrame(frame);
	};
	requestAnimationFrame(frame);
	window.watched = () => { on = false; return { frames, drawn }; };
	posixtrace.drew = ms => drawn.push(ms);
})()`;

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
const at = (sorted, part) => sorted.length ? sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] : 0;
const three = list => {
	const sorted = [...list].sort((a, b) => a - b);
	return [0.5, 0.95, 1].map(part => at(sorted, part).toFixed(1)).join("/");
};

/* Inputs come when they come, each after a frame's time. */
async function wheel(page, x, y, steps, deltaY, modifiers) {
	for (let i = 0; i < steps; i++) {
		page.mouse("mouseWheel", x, y, { deltaX: 0, deltaY, modifiers: modifiers || 0 });
		await sleep(FRAME_MS);
	}
}

async function drag(page, from, to, y, steps) {
	await page.mouse("mousePressed", from, y, { button: "left", buttons: 1, clickCount: 1 });
	for (let i = 1; i <= steps; i++) {
		page.mouse("mouseMoved", from + (to - from) * i / steps, y, { button: "left", buttons: 1 });
		await sleep(FRAME_MS);
	}
	await page.mouse("mouseReleased", to, y, { button: "left", clickCount: 1 });
}

const motions = {
	"zoom to the deepest and back": async page => {
		for (const x of [300, 700, 1100]) {
			await wheel(page, x, 400, 60, -120);
			await wheel(page, x, 400, 60, 120);
		}
	},
	"pan at every zoom": async page => {
		for (let depth = 0; depth < 12; depth++) {
			await wheel(page, 700, 400, 4, -120);
			await drag(page, 900, 300, 300, 20);
			await drag(page, 300, 900, 300, 20);
		}
		await page.key("Home");
	},
	"walk by keys": async page => {
		for (let depth = 0; depth < 8; depth++) {
			for (let i = 0; i < 4; i++) await page.key("+");
			for (let i = 0; i < 12; i++) await page.key(i % 2 ? "ArrowRight" : "ArrowLeft");
		}
		await page.key("Home");
	},
	"drag over the whole log's map": async page => {
		await wheel(page, 700, 400, 12, -120);
		await drag(page, 200, 1150, 75, 80);
		await page.key("Home");
	},
	"select on the axis": async page => {
		for (let depth = 0; depth < 4; depth++) {
			await drag(page, 250, 1100, 110, 30);
			await page.key("Escape");
			await wheel(page, 700, 400, 6, -120);
		}
		await page.key("Home");
	},
	"hover": async page => {
		for (let depth = 0; depth < 4; depth++) {
			for (let i = 0; i < 40; i++) {
				page.mouse("mouseMoved", 200 + i * 22, 140 + i * 4);
				await sleep(FRAME_MS);
			}
			await wheel(page, 700, 400, 8, -120);
		}
		await page.key("Home");
	},
};

/* What each key must have done; in this order. */
const KEYS = [
	["?", "document.getElementById('keys').open"],
	["Escape", "!document.getElementById('keys').open"],
	["t", "document.documentElement.dataset.theme === 'dark'"],
	["t", "document.documentElement.dataset.theme === 'light'"],
	["/", "document.activeElement.id === 'search'"],
	["e", "posixtrace.state.matching !== null"],
	["Enter", "posixtrace.state.mark !== null"],
	["Escape", "posixtrace.state.matching === null && document.activeElement.id === 'view'"],
	["+", "posixtrace.state.to - posixtrace.state.from < posixtrace.meta.length_ns"],
	["End", "Math.abs(posixtrace.state.to - posixtrace.meta.length_ns) < 1"],
	["Home", "posixtrace.state.from === 0 && posixtrace.state.to === posixtrace.meta.length_ns"],
];

async function pressAll(page) {
	let bad = 0;
	for (const [key, done] of KEYS) {
		await page.key(key);
		if (await page.value(done)) continue;
		console.log("the key " + key + " does not do what it should: " + done);
		bad++;
	}
	console.log("FRAMES keys=" + KEYS.length + " bad=" + bad);
	return bad;
}

async function main(program, file) {
	const began = Date.now(), page = await openPage(program, "file://" + require("node:path").resolve(file), WIDTH, HEIGHT);
	const all = [];
	let bad = 0; /* motions that were not as smooth, and what should not be at all */

	await page.value("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
	const { events, spans } = await page.value("({ events: posixtrace.meta.events, spans: posixtrace.meta.spans })");
	console.log("FRAMES events=" + events + " spans=" + spans + " bytes=" + require("node:fs").statSync(file).size + " ready_ms=" + (Date.now() - began));
	bad += !events + await pressAll(page);
	bad += !events;
	for (const name in motions) {
		await page.value(WATCH);
		const before = await page.seconds();
		await motions[name](page);
		const spent = await page.seconds() - before;
		await sleep(100);
		const { frames, drawn } = await page.value("watched()");
		console.log("FRAMES motion=\"" + name + "\" frames=" + frames.length + " apart_p50/p95/max_ms=" + three(frames) +
			" drawings=" + drawn.length + " drawing_p50/p95/max_ms=" + three(drawn) + " cpu_each_ms=" + (spent * 1000 / Math.max(1, frames.length)).toFixed(1));
		bad += !drawn.length;
		all.push(...drawn);
	}
	console.log("FRAMES all drawings=" + all.length + " drawing_p50/p95/max_ms=" + three(all));
	bad += at(all.sort((a, b) => a - b), 0.95) > FRAME_MS;
	for (const error of page.errors) console.log("error in the page: " + error);
	bad += page.errors.length;
	await page.close();
	return bad ? 1 : 0;
}

main(...process.argv.slice(2)).then(code => process.exit(code), error => {
	console.error(error.message);
	process.exit(2);
});
