// SPDX-License-Identifier: MIT
//
// node page_live.mjs PAGE.html REPORT.json PICTURE: a page of a recorded program (page_program.cc) has the numbers of
// `xaudit report --format=json`, and shows what the program did. PICTURE, if it is given, is drawn for people.
import { readFileSync } from 'node:fs';
import { browse, check, open, pause, same, until } from './browser.mjs';

const [file, report, picture] = process.argv.slice(2);
const { functions, lost } = JSON.parse(readFileSync(report, 'utf8'));

await browse(async browser => {
	const { page, complaints, requests } = await open(browser, file, '', { width: 1400, height: 850 });
	const numbers = await page.evaluate(() =>
		window.xaudit.app.trace.fns.map(f => [
			f.raw,
			f.library,
			f.calls,
			f.total,
			f.self,
			f.min,
			f.p50,
			f.p90,
			f.p99,
			f.max,
			f.counted,
		]),
	);
	const key = l => l.map(f => JSON.stringify(f)).sort();
	same(
		key(numbers),
		key(
			functions.map(f => [
				f.function,
				f.library,
				f.calls,
				f.total_ns,
				f.self_ns,
				f.min_ns,
				f.p50_ns,
				f.p90_ns,
				f.p99_ns,
				f.max_ns,
				f.counted,
			]),
		),
		"each function's numbers are those of the report",
	);
	const byName = Object.fromEntries(functions.map(f => [f.function, f]));
	const handle = '_ZN4shop6Server6handleEPKci';
	same(byName[handle]?.calls, 800, 'of the calls that the program made');
	// What the charts, the graph and the lists of callers add up to.
	const sums = await page.evaluate(
		async (name, own) => {
			const to = i => edges.filter(e => e.to === i);
			const { trace } = window.xaudit.app;
			const [tree, edges, rates] = [await trace.tree(), await trace.edges(), await trace.rates()];
			const fn = trace.fns.findIndex(f => f.raw === name);
			const add = (n, f) => Array.from({ length: n }, (_, i) => f(i)).reduce((a, b) => a + b, 0);
			return {
				hist: trace.fns.every(f => f.hist.slice(1).reduce((a, b) => a + b, 0) === f.calls),
				calls: add(tree.n, i => (tree.fn[i] === fn ? tree.calls[i] : 0)),
				self: Math.abs(add(tree.n, i => tree.self[i]) - own) <= tree.n,
				edges: trace.fns.every((f, i) => to(i).reduce((s, e) => s + e.calls, 0) === f.calls),
				// Each line's clock ticks are rounded to nanoseconds by themselves.
				selves: trace.fns.every(
					(f, i) =>
						Math.abs(to(i).reduce((s, e) => s + e.self, 0) - f.self) <=
						to(i).length,
				),
				rates: rates.all.reduce((a, b) => a + b, 0),
			};
		},
		handle,
		functions.reduce((s, f) => s + f.self_ns, 0),
	);
	const all = functions.reduce((s, f) => s + f.calls, 0);
	same(
		sums,
		{
			hist: true,
			calls: 800,
			self: true,
			edges: true,
			selves: true,
			rates: all,
		},
		'histograms, graph, callers and rates add up to them',
	);
	same(lost, 0, 'nothing was lost');
	check(await page.$eval('#lost', e => e.hidden), 'and the page says nothing else');
	const names = await page.$$eval('#names button.track bdi', l => l.map(e => e.textContent));
	check(
		names.some(n => /^front [0-9]+$/.test(n)),
		'threads have the names that the program gave them',
		names,
	);

	// The slow call is found by its function, and named where one zooms to it.
	await page.type('#search', 'Database::query');
	await pause(250);
	await page.keyboard.press('Enter');
	check(await until(page, 'xaudit.app.hit !== null'), 'search goes to a call');
	const longest = byName['_ZN4shop8Database5queryEPKci'].max_ns;
	await page.click('#tab-slow');
	const slow = await page.evaluate(most => {
		const b = [...document.querySelectorAll('#slow tbody button')].find(
			e => e.textContent.includes('sleep_for') || e.textContent.includes('query'),
		);
		b?.click();
		const { hit } = window.xaudit.app;
		return hit && hit.to - hit.from <= most && hit.to - hit.from >= 4000000;
	}, longest);
	check(slow === true, 'a slow call is listed, and took what it took');
	await page.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))');
	await page.click('#tab-functions');
	const found = await page.evaluate(async () => {
		const { app, timeline } = window.xaudit;
		const track = app.hit.track;
		const { left, top, width } = document.getElementById('lines').getBoundingClientRect();
		app.reveal(app.trace.tracks[track].rows[0], track);
		await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
		const x = (((app.hit.from + app.hit.to) / 2 - app.view.from) / (app.view.to - app.view.from)) * width;
		const scroll = document.getElementById('scroll').scrollTop;
		return app.trace.tracks[track].rows
			.map(r => {
				const item = app.layout.ofRow(r);
				return timeline.hitAt(left + x, top + item.y - scroll + item.h / 2);
			})
			.filter(Boolean)
			.map(h => [h.title, ...h.lines].join('; '));
	});
	check(
		found.some(
			t =>
				t.startsWith('shop::Server::handle(char const*, int)') &&
				t.includes('37') &&
				t.includes('request'),
		) && found.some(t => t.startsWith('shop::Database::query')),
		'around it are its callers, with arguments and request',
		found,
	);
	const kinds = await page.evaluate(() => [...new Set(window.xaudit.app.trace.marks.map(m => m.kind))].sort());
	same(kinds, ['event', 'load', 'mark', 'request'], 'custom events, loads, slow calls and requests are marked');
	check(
		await page.evaluate(() => window.xaudit.app.trace.marks.some(m => m.text.includes('the slow one'))),
		'the mark of the program is among them',
	);
	same(complaints, [], 'the browser has nothing to complain of');
	same(
		requests.filter(r => !r.startsWith('file://')),
		[],
		'and nothing is asked of a network',
	);
	if (picture) {
		await page.evaluate(() => window.xaudit.app.select(null));
		await page.screenshot({ path: picture });
	}
});
