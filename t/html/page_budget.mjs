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

await browse(async browser => {
	const { page, complaints } = await open(browser, file, '', { width: 1600, height: 900 });
	within(await page.evaluate('xaudit.ready'), 2000, 'milliseconds until one can use it');
	within(statSync(file).size / MB, 25, 'its megabytes');
	// In and out, at three places, by the wheel and by scrolling, as fast as the screen shows it.
	const measured = await page.evaluate(
		async parts => {
			const { app, timeline } = window.xaudit;
			const { view } = app;
			const shown = () => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
			timeline.frames.length = 0;
			for (const part of parts) {
				const at = view.first + part * view.span;
				for (let i = 0; i < 120; i++) {
					view.zoom(0.9, at, false);
					await shown();
				}
				for (let i = 0; i < 40; i++) {
					view.pan((view.to - view.from) / 30, false);
					timeline.scrollBy(40);
					await shown();
				}
				for (let i = 0; i < 120; i++) {
					view.zoom(1 / 0.9, at, false);
					await shown();
				}
			}
			const all = [...timeline.frames].sort((a, b) => a - b);
			return {
				n: all.length,
				median: all[all.length >> 1],
				late: all[Math.floor(all.length * 0.95)],
			};
		},
		mode === 'assert' ? [0.13, 0.41, 0.82] : [0.41],
	);
	check(measured.n > 250, `frames were drawn: ${measured.n}`);
	within(measured.median, 8, 'milliseconds of script in half of the frames');
	within(measured.late, 16, 'milliseconds of script in 95 % of the frames');
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
