// SPDX-License-Identifier: MIT
//
// node page_budget.mjs PAGE.html [assert]: what the page takes: until one can use it, script time of frames while one
// zooms and scrolls, memory. Without `assert` it only says so: other work on the machine has its share in times.
import { statSync } from 'node:fs';
import { browse, check, open, pause, until } from './browser.mjs';

const [file, mode] = process.argv.slice(2);
const MB = 1e6;
const within = (value, most, sentence) =>
	check(mode !== 'assert' || value <= most, `${sentence}: ${value.toFixed(1)} of ${most}`, value);

// Script time of each step of a walk: in and out, and aside, at some places. Frames are drawn as fast as the screen
// shows them.
const walk = (page, parts) =>
	page.evaluate(async places => {
		const { app, timeline } = window.xaudit;
		const { view } = app;
		const steps = [];
		const step = async move => {
			timeline.frames.length = 0;
			move();
			await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
			steps.push(timeline.frames.reduce((a, b) => Math.max(a, b), 0));
		};
		for (const part of places) {
			const at = view.first + part * view.span;
			for (let i = 0; i < 100; i++) await step(() => view.zoom(0.88, at, false));
			for (let i = 0; i < 30; i++)
				await step(() => {
					view.pan((view.to - view.from) / 30, false);
					timeline.scrollBy(40);
				});
			for (let i = 0; i < 100; i++) await step(() => view.zoom(1 / 0.88, at, false));
		}
		return steps;
	}, parts);

await browse(async browser => {
	// Other work on the machine has its share in each time: of several rounds, each in a page that has loaded
	// nothing yet, the shortest of each step is what the page takes itself.
	let shown = null;
	let steps = null;
	let ready = Infinity;
	for (let round = 0; round < (mode === 'assert' ? 3 : 1); round++) {
		await shown?.page.close();
		shown = await open(browser, file, '', { width: 1600, height: 900 });
		ready = Math.min(ready, await shown.page.evaluate('xaudit.ready'));
		const times = await walk(shown.page, mode === 'assert' ? [0.13, 0.82] : [0.41]);
		steps = times.map((t, i) => Math.min(t, steps?.[i] ?? Infinity));
	}
	const { page, complaints } = shown;
	const sorted = steps.filter(t => t > 0).sort((a, b) => a - b);
	within(ready, 2000, 'milliseconds until one can use it');
	within(statSync(file).size / MB, 25, 'its megabytes');
	check(sorted.length > 200, `frames were drawn: ${sorted.length}`);
	within(sorted[sorted.length >> 1], 8, 'milliseconds of script in half of the frames');
	within(sorted[Math.floor(sorted.length * 0.95)], 16, 'milliseconds of script in 95 % of the frames');
	await page.click('#tab-flame');
	check(await until(page, 'xaudit.flame.drawn.length > 1', 20000), 'the flame graph is drawn');
	const took = await page.evaluate(async () => {
		const begun = performance.now();
		const { app, search } = window.xaudit;
		const input = document.getElementById('search');
		input.value = app.trace.fns[7].raw;
		input.dispatchEvent(new Event('input'));
		await new Promise(r => setTimeout(r, 200));
		await search.busy;
		await search.step(true);
		return [performance.now() - begun - 200, app.hit !== null];
	});
	check(took[1], `search went through all values and to a call in ${took[0].toFixed(0)} ms`);
	await pause(100);
	const cdp = await page.createCDPSession();
	const heap = await cdp.send('Runtime.getHeapUsage');
	const canvases = await page.evaluate(() =>
		[...document.querySelectorAll('canvas')].reduce((s, c) => s + c.width * c.height * 4, 0),
	);
	// The text of the blocks lies in the elements of the page.
	const bytes = heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0) + canvases;
	within((bytes + statSync(file).size) / MB, 500, 'megabytes of memory');
	check(complaints.length === 0, 'the browser has nothing to complain of', complaints);
});
