// SPDX-License-Identifier: MIT
//
// node page_hostile.mjs HOSTILE.html BROKEN.html: names and values that would be markup, scripts, attributes or turn
// the direction of writing stay text. BROKEN.html has a head of a format that is not known.
import { browse, check, open, pause, same, until } from './browser.mjs';

const [file, broken] = process.argv.slice(2);

await browse(async browser => {
	const { page, complaints, requests, dialogs } = await open(browser, file);
	for (const tab of ['flame', 'slow', 'about', 'functions']) {
		await page.click('#tab-' + tab);
		await pause(60);
	}
	for (const fn of [0, 1, 2, 3]) {
		await page.evaluate(f => window.xaudit.app.select(f), fn);
		await pause(40);
	}
	await page.type('#search', '<');
	await pause(250);
	await page.evaluate('xaudit.search.busy');
	const listed = await page.$$eval('#found button bdi', l => l.map(e => e.textContent));
	check(
		listed.some(t => t.includes('</script><script>window.harm = 1</script>')),
		'names of markup are found, as text',
		listed,
	);
	await page.keyboard.press('Escape');
	// Over each place of the timeline.
	const box = await page.$eval('#lines', e => {
		const { left, top, width, height } = e.getBoundingClientRect();
		return [left, top, width, height];
	});
	for (let y = 5; y < box[3]; y += 12) await page.mouse.move(box[0] + box[2] * 0.4, box[1] + y);
	check(await until(page, 'typeof xaudit === "object"'), 'the page is alive');
	const seen = await page.evaluate(() => ({
		harm: window.harm ?? null,
		strange: [
			...document.querySelectorAll(
				'img, iframe, object, embed, [onload], [onerror], [onmouseover], [onclick]',
			),
		].length,
		scripts: [...document.scripts].filter(s => !s.type).length,
		hidden: [
			...[...document.querySelectorAll('body :not(script)')].flatMap(e => [
				e.getAttribute('title') ?? '',
				e.getAttribute('aria-label') ?? '',
				...[...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data),
			]),
			document.title,
		].filter(t => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/.test(t)),
		title: document.title,
		shown: document.querySelector('#names button').textContent,
	}));
	same(seen.harm, null, 'no script of the trace ran');
	same([seen.strange, seen.scripts], [0, 1], 'no element came of it');
	same(seen.hidden, [], 'no control and no turn of direction is left in any text');
	check(seen.shown.includes('<b onclick=alert(1)>\\u202e'), 'they are shown as escapes', seen.shown);
	same(dialogs, [], 'nothing opened');
	same(complaints, [], 'the browser has nothing to complain of');
	same(
		requests.filter(r => !r.startsWith('file://')),
		[],
		'and nothing is asked of a network',
	);
	// The policy of the page stops a script that would come in nevertheless.
	await page.evaluate(() => {
		const s = document.createElement('script');
		s.textContent = 'window.harm = 5';
		document.body.append(s);
	});
	same(await page.evaluate('window.harm ?? null'), null, 'a script that is put in does not run');

	const bad = await open(browser, broken, '', { broken: true });
	check(await until(bad.page, '!document.getElementById("failed").hidden'), 'a page of another format says that');
	same(
		await bad.page.$eval('#failed', e => e.textContent),
		"This page can't be shown: format 99 is not known to this page",
		'in words',
	);
});
