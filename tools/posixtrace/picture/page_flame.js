/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_flame.js - the flame graph, which shows by which functions each function was called. It uses
 * the events with a stack in the selected time or, if no time is selected, in the shown time. The
 * outermost function is at the top.
 */

const flame = { open: false, zoomed: null, boxes: [], tree: null, from: -1, to: -1, timer: 0 };
const FLAME_LINE = 18, FLAME_LEAST = 0.4;

/*
 * Returns for each stack the number of events of the type that have it in a span of time. If byTime
 * is true, returns the sum of their durations instead.
 */
function flameSums(from, to, type, byTime) {
	const sums = new Float64Array(meta.flames.stacks.length);

	for (const row of rows) {
		if (row.hidden) continue;
		for (let i = search(row.stackTime.length, k => row.stackTime[k], from); i < row.stackTime.length && row.stackTime[i] <= to; i++)
			if (row.stackType[i] === type)
				sums[row.stack[i]] += byTime ? row.stackTook[i] : 1;
	}
	return sums;
}

function flameTree(sums) {
	const root = { name: "all", value: 0, self: 0, children: new Map(), parent: null };

	sums.forEach((value, index) => {
		if (!value) return;
		const frames = meta.flames.stacks[index];
		let node = root;
		root.value += value;
		for (let i = frames.length - 1; i >= 0; i--) {
			const name = meta.flames.names[frames[i]];
			let next = node.children.get(name);
			if (!next) node.children.set(name, next = { name, value: 0, self: 0, children: new Map(), parent: node });
			next.value += value;
			node = next;
		}
		node.self += value;
	});
	return root;
}

const flameByTime = () => byId("flame-by").value === "time";
const flameAmount = value => flameByTime() ? span(value) : counted(value, Number(byId("flame-type").value) === flame.sample ? "sample" : "event");
const flameText = node => node.name + "\n" + flameAmount(node.value) + ", " + (100 * node.value / Math.max(1, flame.tree.value)).toFixed(1) +
	" %\nin itself " + flameAmount(node.self);

function flameRange() {
	return state.chosen || [state.from, state.to];
}

/*
 * Finds the node at the end of a path of names from the root, or the last node of the path that
 * exists. So the node that fills the width remains when the tree is made again.
 */
function flameFind(path) {
	let node = flame.tree;
	for (const name of path) {
		if (!node.children.has(name)) break;
		node = node.children.get(name);
	}
	return node;
}

function flamePath(node) {
	const path = [];
	for (; node && node.parent; node = node.parent) path.unshift(node.name);
	return path;
}

function flameDraw() {
	const canvas = byId("flame-view"), pen = canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
	const wide = byId("flame-scroll").clientWidth, wanted = byId("search").value.trim().toLowerCase();
	const top = flamePath(flame.zoomed).length;

	flame.boxes = [];
	const place = (node, depth, left, right) => {
		flame.boxes.push({ node, depth, left, right });
		const each = (right - left) / Math.max(1, node.value);
		for (const child of [...node.children.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
			const end = left + child.value * each;
			if (end - left >= FLAME_LEAST) place(child, depth + 1, left, end);
			left = end;
		}
	};
	for (let node = flame.zoomed.parent, depth = top - 1; node; node = node.parent, depth--)
		flame.boxes.push({ node, depth, left: 0, right: wide });
	if (flame.tree.value) place(flame.zoomed, top, 0, wide);
	const high = FLAME_LINE * (1 + flame.boxes.reduce((most, box) => Math.max(most, box.depth), 0));
	canvas.width = Math.round(wide * scale);
	canvas.height = Math.round(high * scale);
	canvas.style.height = high + "px";
	pen.setTransform(scale, 0, 0, scale, 0, 0);
	pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
	pen.textBaseline = "middle";
	for (const { node, depth, left, right } of flame.boxes) {
		const y = depth * FLAME_LINE, fits = !wanted || node.name.toLowerCase().includes(wanted);
		pen.globalAlpha = fits ? depth < top ? 0.55 : 1 : 0.25;
		pen.fillStyle = colourOfName(node.name, dark ? 38 : 76, dark ? 40 : 65);
		pen.fillRect(left, y, Math.max(0.5, right - left - 0.5), FLAME_LINE - 1);
		pen.globalAlpha = fits ? 1 : 0.5;
		if (right - left > 24) {
			pen.fillStyle = colours.ink;
			pen.fillText(fitText(pen, node.name, right - left - 6), left + 3, y + FLAME_LINE / 2);
		}
	}
	pen.globalAlpha = 1;
}

function fitText(pen, text, room) {
	const all = pen.measureText(text).width;
	return all <= room ? text : text.slice(0, Math.max(1, Math.floor(text.length * room / all) - 1)) + "\u2026";
}

/*
 * Fills the table of the functions in which most was spent. It is for users who cannot see the
 * graph, and for search.
 */
function flameTable() {
	const self = new Map(), total = new Map();
	const visit = (node, above) => {
		const is = above.has(node.name);
		self.set(node.name, (self.get(node.name) || 0) + node.self);
		if (!is) total.set(node.name, (total.get(node.name) || 0) + node.value);
		if (!is) above.add(node.name);
		for (const child of node.children.values()) visit(child, above);
		if (!is) above.delete(node.name);
	};
	for (const child of flame.tree.children.values()) visit(child, new Set());
	const all = flame.tree.value, to = byId("functions");
	const order = [...total.keys()].sort((a, b) => self.get(b) - self.get(a) || total.get(b) - total.get(a)).slice(0, 200);

	to.textContent = "";
	to.append(element("p", { class: "note" }, flameAmount(flame.tree.value) + (state.chosen ? " selected" : " shown")));
	to.append(table("function-shares", [["Function"], ["In itself", 1], ["With callees", 1]], order.map(name => {
		const line = element("tr", { class: "link", click: () => searchFor(name) },
			element("td", { class: "name" }, name), cell(percent(self.get(name), all)),
			cell(percent(total.get(name), all)));
		line.dataset.name = name;
		line.dataset.self = self.get(name);
		line.dataset.total = total.get(name);
		return line;
	})));
}

/* Makes the tree anew, for the present range of time. */
function flameUpdate() {
	if (!flame.open) return;
	const [from, to] = flameRange(), path = flamePath(flame.zoomed);

	flame.from = from;
	flame.to = to;
	flame.tree = flameTree(flameSums(from, to, Number(byId("flame-type").value), flameByTime()));
	flame.zoomed = flameFind(path);
	byId("flame-text").textContent = flameAmount(flame.tree.value) + (state.chosen ? " in the selection of " : " in the shown ") + span(to - from) +
		(meta.flames.left_out ? "; " + grouped(meta.flames.left_out) + " were not kept" : "");
	byId("flame-text").dataset.value = flame.tree.value;
	flameDraw();
	flameTable();
}

/*
 * Called after each motion. Makes the tree anew only when the motion has paused, because the tree
 * of a million samples takes some milliseconds.
 */
function flameFollow() {
	const [from, to] = flame.open ? flameRange() : [0, 0];
	if (!flame.open || (from === flame.from && to === flame.to)) return;
	clearTimeout(flame.timer);
	flame.timer = setTimeout(flameUpdate, 120);
}

function flameOpen(open) {
	if (!meta.flames) return;
	flame.open = open;
	byId("flame").hidden = !open;
	byId("flames").setAttribute("aria-pressed", open);
	resize();
	flameUpdate();
}

function flameBoxAt(event) {
	const y = Math.floor(event.offsetY / FLAME_LINE);
	return flame.boxes.find(box => box.depth === y && event.offsetX >= box.left && event.offsetX < box.right);
}

function flameHands() {
	if (!meta.flames) {
		byId("flames").hidden = true;
		document.querySelector("[data-tab=functions]").hidden = true;
		return;
	}
	const types = [...new Set(rows.flatMap(row => [...new Set(row.stackType)]))];
	flame.sample = types.find(type => meta.types[type].name === "cpu.sample");
	for (const type of types.sort((a, b) => meta.types[b].count - meta.types[a].count))
		byId("flame-type").append(element("option", { value: type }, meta.types[type].name));
	if (flame.sample !== undefined) byId("flame-type").value = flame.sample;
	const canvas = byId("flame-view");
	canvas.addEventListener("pointermove", event => {
		const box = flameBoxAt(event);
		canvas.title = box ? flameText(box.node) : "";
	});
	canvas.addEventListener("click", event => {
		const box = flameBoxAt(event);
		if (box) { flame.zoomed = box.node; flameDraw(); }
	});
	byId("flame-type").addEventListener("change", () => { flame.zoomed = null; flameUpdate(); });
	byId("flame-by").addEventListener("change", flameUpdate);
	byId("flames").addEventListener("click", () => flameOpen(!flame.open));
	byId("flame-close").addEventListener("click", () => flameOpen(false));
}
