// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * panels.js BROWSER PAGE: the flame graph, the figures that lead to their places, and the rows that are filtered,
 * pinned, folded and sorted, on the page of tools/golden/logs/sched.events. Prints what is wrong.
 */
"use strict";
const { openPage } = require("./browser.js");

async function main(program, file) {
	const page = await openPage(program, "file://" + require("node:path").resolve(file), 1300, 800);
	let bad = 0;
	const check = async (what, expression, wanted) => {
		const found = JSON.stringify(await page.value(expression));
		if (found === JSON.stringify(wanted)) return;
		console.log("PANELS " + what + ": " + found + ", not " + JSON.stringify(wanted));
		bad++;
	};
	const settle = () => page.value("new Promise(resolve => setTimeout(resolve, 300))");

	await page.key("F");
	await check("the flame graph is there", "document.getElementById('flame').hidden", false);
	await check("it has all samples", "document.getElementById('flame-text').dataset.value", "4");
	await check("and a box for each function", "posixtrace.flame.boxes.length", 2);
	await page.value("posixtrace.choose([0, 1.5e6])");
	await settle();
	await check("of a selection those in it", "document.getElementById('flame-text').dataset.value", "1");
	await check("the table has the same", "document.querySelector('#function-shares tbody tr').dataset.self", "1");
	await page.value("posixtrace.choose(null)");
	await settle();
	await page.value("posixtrace.filterRows('eight')");
	await settle();
	await check("of the rows that are shown", "document.getElementById('flame-text').dataset.value", "3");
	await check("the others have no place", "posixtrace.rows.filter(row => !row.hidden).length", 1);
	await page.value("posixtrace.filterRows('')");
	await page.key("F");
	await check("it closes", "document.getElementById('flame').hidden", true);

	await page.value("document.querySelector('[data-tab=spans]').click()");
	await page.value("[...document.querySelectorAll('.card')].find(card => card.dataset.name === 'running').querySelectorAll('button.figure')[2].click()");
	await check("a figure leads to its span", "posixtrace.state.from < posixtrace.state.mark && posixtrace.state.mark < posixtrace.state.to", true);
	await check("which is the longest", "(() => { for (const row of posixtrace.rows) for (let i = 0; i < row.begin.length; i++) if (row.begin[i] === posixtrace.state.mark) return row.took[i]; })()",
		await page.value("posixtrace.meta.series.find(series => series.name === 'running').max"));

	await page.value("[...document.querySelectorAll('button.row[data-property=pinned]')].at(-1).click()");
	await check("a pinned row is the first", "posixtrace.rows.order[0]", await page.value("posixtrace.rows.length - 1"));
	await page.value("[...document.querySelectorAll('button.row[data-property=folded]')].at(-1).click()");
	await check("a folded row has no lanes", "posixtrace.rows.at(-1).height < posixtrace.rows.at(-1).all", true);
	await page.value("document.getElementById('row-order').value = 'events', posixtrace.layRows()");
	await check("rows are in order", "posixtrace.rows.order.slice(1).every((index, i, all) => !i || posixtrace.rows[all[i - 1]].points >= posixtrace.rows[index].points)", true);
	for (const error of page.errors) console.log("error in the page: " + error);
	bad += page.errors.length;
	console.log("PANELS bad=" + bad);
	await page.close();
	return bad ? 1 : 0;
}

main(...process.argv.slice(2)).then(code => process.exit(code), error => {
	console.error(error.message);
	process.exit(2);
});
