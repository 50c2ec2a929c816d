/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_hands.js - handles mouse and keys. Its last lines start the page. */

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
	view.addEventListener("pointerup", event => {
		if (drag && !drag.moved && !drag.selects) {
			const box = view.getBoundingClientRect();
			chooseItem(itemAt(event.clientX - box.left, event.clientY - box.top));
			if (state.item) openTab("selection");
		}
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

	/* On a large page the search waits until the user has typed, so that no key is delayed. */
	const isLarge = rows.reduce((sum, row) => sum + row.time.length + row.detailTime.length, 0) > 500000;
	let typed = 0;
	const findNow = () => { if (typed) { clearTimeout(typed); typed = 0; find(byId("search").value); } };
	byId("search").addEventListener("input", event => {
		if (!isLarge) { find(event.target.value); return; }
		clearTimeout(typed);
		typed = setTimeout(findNow, 150);
	});
	byId("find").addEventListener("submit", event => { event.preventDefault(); findNow(); step_to(true); });
	byId("next").addEventListener("click", () => step_to(true));
	byId("previous").addEventListener("click", () => step_to(false));
	byId("in").addEventListener("click", () => zoom(0.5));
	byId("out").addEventListener("click", () => zoom(2));
	byId("all").addEventListener("click", () => show(0, length));
	byId("help").addEventListener("click", () => byId("keys").showModal());
	byId("theme").addEventListener("click", () => { dark = !dark; setTheme(); redraw(); flameUpdate(); });
	for (const tab of document.querySelectorAll("nav button"))
		tab.addEventListener("click", () => openTab(tab.dataset.tab));

	const keys = {
		ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15), a: () => move(-0.15), d: () => move(0.15),
		ArrowUp: () => scroll(-40), ArrowDown: () => scroll(40),
		PageUp: () => scroll(-(height - AXIS) * 0.8), PageDown: () => scroll((height - AXIS) * 0.8),
		"+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), w: () => zoom(0.7), s: () => zoom(1 / 0.7),
		Home: () => show(0, length), End: () => show(length - (state.to - state.from), length),
		f: () => state.chosen && show(...state.chosen),
		l: followLink,
		"[": () => goToNeighbour(false), "]": () => goToNeighbour(true),
		b: goToNextState,
		n: () => step_to(true), N: () => step_to(false),
		F: () => flameOpen(!flame.open),
		t: () => byId("theme").click(), "?": () => byId("help").click(),
		"/": () => byId("search").focus(),
		Escape: () => { chooseItem(null); choose(null); searchFor(""); },
	};
	document.addEventListener("keydown", event => {
		if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open) return;
		if (event.target.tagName === "SELECT") return;
		if (event.target === byId("row-filter")) {
			if (event.key === "Escape") { event.target.value = ""; filterRows(""); view.focus(); }
			return;
		}
		if (event.target === byId("search")) {
			if (event.key === "Escape") { searchFor(""); view.focus(); }
			if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); findNow(); step_to(false); }
			return;
		}
		if (!keys[event.key] || (event.target.tagName === "BUTTON" && event.key === "Enter")) return;
		event.preventDefault();
		keys[event.key]();
	});
	window.addEventListener("resize", resize);
}

function summarise() {
	const text = [counted(meta.events, "event"), counted(meta.spans, "span"),
		counted(rows.filter(row => row.pid > 0).length, "thread"), span(length), isMany ? byStart ? "each log from its start" : "clocks agree to " + span(Math.max(...logs.map(log => log.error_ns))) : "", !isMany && meta.host ? "on " + meta.host : ""].filter(Boolean).join(", ");
	const to = byId("summary");

	const names = isMany ? logs.map(log => log.name).join(", ") : meta.log;
	document.title = names + " - posixtrace";
	byId("title").textContent = names;
	to.textContent = text;
	to.dataset.events = meta.events;
	to.dataset.spans = meta.spans;
	to.dataset.lost = meta.lost;
	if (meta.lost) to.append(element("span", { class: "warn" }, "; " + grouped(meta.lost) + " lost"));
	if (!meta.has_points || !meta.has_spans)
		to.append("; at the deepest zoom " + (!meta.has_points ? "events" : "short spans") + " are counted, not shown");
}

/*
 * This object is for code outside of the page's function, such as tests: it has the state and the
 * data. If such code sets drew(), the page calls it with the milliseconds that each drawing took.
 */
window.posixtrace = { state, rows, levels, logs, curves, curveRange, curveScale, curvePlace, waits, followLink, meta, show, zoom, find, step_to, listHits, openTab, flame, flameOpen, goToSpan, goToItem, goToError, edgesOf, fieldsOf, detailOf, longestStay, chooseItem, itemAt, stayShares, stateTop, xOf, filterRows, layRows, choose, inRange, drawView, drew: null };

setTheme();
summarise();
fillPanels();
openTab("types");
hands();
flameHands();
resize();
document.documentElement.dataset.ready = "true";
})();
