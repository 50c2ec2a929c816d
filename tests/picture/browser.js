// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * browser.js - a headless browser with one page, driven by Chromium's DevTools protocol over a pipe: no port,
 * and nothing but node's own modules.
 */
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const SWITCHES = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
	"--no-first-run", "--remote-debugging-pipe"];

/* The page at url, or, without one, an empty page. */
async function openPage(program, url, width, height) {
	const home = fs.mkdtempSync(path.join(os.tmpdir(), "posixtrace-browser."));
	const browser = spawn(program, [...SWITCHES, "--user-data-dir=" + home, "--window-size=" + width + "," + height, "about:blank"],
		{ env: { ...process.env, HOME: home }, stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
	const waiting = new Map(), listeners = [];
	let last = 0, held = "";

	const gone = new Promise((resolve, reject) => {
		browser.on("error", reject);
		browser.on("exit", code => {
			for (const it of waiting.values()) it.reject(new Error("the browser ended: " + code));
			resolve();
		});
	});
	browser.stdio[4].setEncoding("utf8");
	browser.stdio[4].on("data", text => {
		const messages = (held + text).split("\0");
		held = messages.pop();
		for (const message of messages.map(JSON.parse)) {
			const call = waiting.get(message.id);
			waiting.delete(message.id);
			if (!call) listeners.forEach(listener => listener(message));
			else if (message.error) call.reject(new Error(message.error.message));
			else call.resolve(message.result);
		}
	});
	const ask = (method, params, sessionId) => new Promise((resolve, reject) => {
		waiting.set(++last, { resolve, reject });
		browser.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + "\0");
	});

	const clean = () => {
		browser.kill("SIGKILL");
		fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
	};
	for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => { clean(); process.exit(2); });
	process.on("exit", clean);

	const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
	const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
	const page = {
		/* What went wrong in the page, one text each. */
		errors: [],
		send: (method, params) => ask(method, params || {}, sessionId),
		/* The value of an expression; promises are waited for. */
		async value(expression) {
			const answer = await page.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
			if (answer.exceptionDetails)
				throw new Error(answer.exceptionDetails.exception.description || expression);
			return answer.result.value;
		},
		mouse: (type, x, y, more) => page.send("Input.dispatchMouseEvent", { type, x, y, ...more }),
		async key(key, modifiers) {
			const text = key.length === 1 ? { text: key } : key === "Enter" ? { text: "\r", windowsVirtualKeyCode: 13 } : key === "Escape" ? { windowsVirtualKeyCode: 27 } : {};
			await page.send("Input.dispatchKeyEvent", { type: "keyDown", key, modifiers, ...text });
			await page.send("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers });
		},
		async picture(file) {
			const { data } = await page.send("Page.captureScreenshot", { format: "png" });
			fs.writeFileSync(file, Buffer.from(data, "base64"));
		},
		/* Seconds of the processor that the page's thread has taken. */
		async seconds() {
			const { metrics } = await page.send("Performance.getMetrics");
			return metrics.find(it => it.name === "ThreadTime").value;
		},
		async close() {
			await ask("Browser.close").catch(() => {});
			await gone;
		},
	};
	listeners.push(message => {
		if (message.method === "Runtime.exceptionThrown")
			page.errors.push(message.params.exceptionDetails.exception.description);
		if (message.method === "Log.entryAdded" && message.params.entry.level === "error")
			page.errors.push(message.params.entry.text);
	});
	const loaded = new Promise(resolve => listeners.push(message => message.method === "Page.loadEventFired" && resolve()));
	await page.send("Page.enable");
	await page.send("Runtime.enable");
	await page.send("Log.enable");
	await page.send("Performance.enable", { timeDomain: "threadTicks" });
	if (url) {
		await page.send("Page.navigate", { url });
		await loaded;
	}
	return page;
}

module.exports = { openPage };
