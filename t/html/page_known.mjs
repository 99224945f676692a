// SPDX-License-Identifier: MIT
//
// node page_known.mjs KNOWN.html EMPTY.html: what the page shows of made traces (make_page.mjs), whose numbers are
// known: of 100 calls of outer, each of which calls inner twice for 1 us; inner's call 60 takes 400 us, from 151.5 us
// on.
import { browse, check, open, pause, same, until } from './browser.mjs';

const [file, bare] = process.argv.slice(2);
const LONG = { from: 151500, to: 551500 };

// The middle of a time in a row, in pixels of the window.
const place = (page, row, at) =>
	page.evaluate(
		(r, t) => {
			const { app, timeline } = window.xaudit;
			const box = document.getElementById('lines').getBoundingClientRect();
			const item = app.layout.ofRow(r);
			const x = ((t - app.view.from) / (app.view.to - app.view.from)) * box.width;
			return [
				box.left + x,
				box.top + item.y - document.getElementById('scroll').scrollTop + item.h / 2,
				timeline !== null,
			];
		},
		row,
		at,
	);
const view = page => page.evaluate('[xaudit.app.view.from, xaudit.app.view.to]');
const show = (page, from, to) => page.evaluate((a, b) => window.xaudit.app.view.set(a, b), from, to);
const text = (page, selector) => page.$eval(selector, e => e.textContent);
const frame = page => page.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))');

async function table(page) {
	const rows = () =>
		page.$$eval('#table tbody tr', list => list.map(tr => [...tr.cells].map(c => c.textContent).join('|')));
	same(
		(await rows()).map(r => r.split('|').slice(0, 4).join('|')),
		[
			'outer|100|699.0 us|100.0 us',
			'inner|210|649.0 us|649.0 us',
			'other|10|200.0 us|150.0 us',
			'loose|2|60.00 us|60.00 us',
		],
		'the table has the functions, by total, with their numbers',
	);
	await page.evaluate(() => document.querySelectorAll('#table thead button')[1].click());
	same((await rows())[0].split('|')[0], 'inner', 'a click on Calls sorts by calls');
	same(
		await page.$$eval('#table th[aria-sort="descending"]', l => l.map(e => e.textContent)),
		['Calls'],
		'and the heading says so to those who do not see it',
	);
	await page.type('#filter', 'libother');
	same(
		(await rows()).map(r => r.split('|')[0]),
		['other', 'loose'],
		'the filter takes names of libraries',
	);
	await page.$eval('#filter', e => {
		e.value = '';
		e.dispatchEvent(new Event('input'));
	});
}

async function hover(page) {
	await show(page, 100000, 600000);
	await frame(page);
	await page.mouse.move(...(await place(page, 1, 300000)).slice(0, 2));
	check(await until(page, '!document.getElementById("tip").hidden'), 'there is something under the pointer');
	const tip = await text(page, '#tip');
	check(
		tip.startsWith('inner("file30", 0) = 60') && tip.includes('400.0 us') && tip.includes('at 151.500 us'),
		'it is the long call, with its values, time and moment',
		tip,
	);
	// An aggregate says that it is one.
	const many = await page.evaluate(async () => {
		const { app } = window.xaudit;
		const tile = await app.trace.wholeTile(1, 0);
		const runs = tile.row(1);
		const i = runs.form.indexOf(2);
		const from = tile.from + runs.end[i - 1] * tile.column;
		app.view.set(from - 3 * tile.column, from + 4 * tile.column);
		return from + tile.column / 2;
	});
	await frame(page);
	await page.mouse.move(...(await place(page, 1, many)).slice(0, 2));
	check(
		await until(page, 'document.getElementById("tip").textContent.includes("an aggregate")'),
		'an aggregate says so',
	);
	// Its stripes are more than one colour; a single call is one.
	const colours = (row, from, to) =>
		page.evaluate(
			(r, a, b) => {
				const { app, timeline } = window.xaudit;
				const item = app.layout.ofRow(r);
				const scale = timeline.painter.width / (app.view.to - app.view.from);
				const x = Math.ceil((a - app.view.from) * scale) + 3;
				const n = Math.floor((b - a) * scale) - 6;
				const { buffer, width } = timeline.painter;
				return new Set(buffer.subarray((item.y + 3) * width + x, (item.y + 3) * width + x + n))
					.size;
			},
			row,
			from,
			to,
		);
	check((await colours(1, many - 128, many + 128)) >= 2, 'and is striped');
	await show(page, 160000, 400000);
	await frame(page);
	same(await colours(0, 200000, 390000), 1, 'while one call has one colour');
	await page.mouse.move(...(await place(page, 0, 260000)).slice(0, 2));
	await page.evaluate(() => {
		const { app, timeline } = window.xaudit;
		timeline.lanes = app.layout.items.filter(i => i.kind === 'lane').map(i => i.lane);
	});
	same(
		await page.evaluate('xaudit.timeline.lanes'),
		['mark', 'request', 'event', 'load'],
		'there are lanes of outliers, requests, custom events and loads',
	);
	same(
		await page.$$eval('#names .loose', l => l.map(e => e.textContent)),
		['do not nest'],
		'and a row of calls that do not nest',
	);
	// On-CPU times: within the window on a processor, for 100 us and for 200 us, and 50 us not.
	const cpu = await page.evaluate(async () => {
		const win = await window.xaudit.app.trace.wholeWin(0);
		const on = win.cpu(2);
		return [[...on.start], [...on.lasts]];
	});
	same(
		cpu,
		[
			[148500, 298500],
			[100000, 200000],
		],
		'times on processors are those of the window',
	);
}

// The lines that are no calls: what the pointer finds in the middle of that item, at that time.
const item = (page, find, at) =>
	page.evaluate(
		(f, t) => {
			const { app, timeline } = window.xaudit;
			const i = app.layout.items.find(
				x => x.kind === f[0] && (f[1] === undefined || x[f[1]] === f[2]),
			);
			const box = document.getElementById('lines').getBoundingClientRect();
			const x = ((t - app.view.from) / (app.view.to - app.view.from)) * box.width;
			const hit = timeline.hitAt(
				box.left + x,
				box.top + i.y + i.h / 2 - document.getElementById('scroll').scrollTop,
			);
			return hit && [hit.title, ...hit.lines];
		},
		find,
		at,
	);

async function lines(page) {
	await show(page, 0, 1000000);
	await frame(page);
	same(
		await item(page, ['track', 'track', 0], 800000),
		['main 101', 'on a processor for 50 % of this time'],
		'a thread was on a processor for half of the time, where it is added up',
	);
	same(
		await item(page, ['track', 'track', 0], 200000),
		['main 101', 'on a processor for 100.0 us'],
		'and for one time, where times are there by themselves',
	);
	same(
		await item(page, ['track', 'track', 0], 270000),
		['main 101', 'waits: not on a processor'],
		'between them it waits',
	);
	same(
		await item(page, ['rest'], 500000),
		['3 more threads, added up', '1.5 of them are in a call, on average', '30 calls'],
		'threads without rows are added up',
	);
	same(
		await item(page, ['lane', 'lane', 'request'], 50000),
		['request-0', '89.00 us at 1.000 us', 'main 101'],
		'requests last',
	);
	same(
		await item(page, ['lane', 'lane', 'load'], 900000),
		['unload /lib/libknown.so.1', 'at 900.000 us'],
		'libraries are unloaded',
	);
}

async function fingers(page) {
	const cdp = await page.createCDPSession();
	const touch = (type, ...points) =>
		cdp.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
	await show(page, 200000, 600000);
	await frame(page);
	const [x, y] = await place(page, 0, 400000);
	await touch('touchStart', [x, y]);
	for (let i = 1; i <= 5; i++) await touch('touchMove', [x + 20 * i, y]);
	await touch('touchEnd');
	await frame(page);
	const [a, b] = await view(page);
	check(a < 190000 && Math.abs(b - a - 400000) < 1, 'a finger moves the time along', [a, b]);
	await show(page, 200000, 600000);
	await touch('touchStart', [x - 40, y], [x + 40, y]);
	for (let i = 1; i <= 5; i++) await touch('touchMove', [x - 40 - 12 * i, y], [x + 40 + 12 * i, y]);
	await touch('touchEnd');
	await frame(page);
	const [c, d] = await view(page);
	check(d - c < 200000 && c < 400000 && d > 400000, 'two that move apart zoom in', [c, d]);
}

async function empty(browser, name) {
	const { page, complaints } = await open(browser, name);
	for (const tab of ['flame', 'slow', 'about', 'functions']) await page.click('#tab-' + tab);
	await page.keyboard.press('w');
	await pause(100);
	same(await text(page, '#table .more'), 'no function was called', 'a trace without calls says so');
	same(complaints, [], 'and is no trouble');
	await page.close();
}

async function moves(page) {
	await show(page, 0, 1000000);
	await frame(page);
	const [x, y] = await place(page, 0, 500000);
	await page.mouse.move(x, y);
	await page.mouse.wheel({ deltaY: -300 });
	await frame(page);
	let [from, to] = await view(page);
	const kept = (500000 - from) / (to - from);
	check(to - from < 700000 && Math.abs(kept - 0.5) < 0.02, 'the wheel zooms to where the pointer is', [from, to]);
	await page.mouse.down();
	await page.mouse.move(x - 120, y, { steps: 4 });
	await page.mouse.up();
	const [dragged] = await view(page);
	check(dragged > from, 'dragging to the left shows what comes later', [from, dragged]);
	const press = async key => {
		await page.keyboard.press(key);
		await frame(page);
		return view(page);
	};
	await press('0');
	same(await view(page), [0, 1000000], '0 shows the whole trace');
	[from, to] = await press('w');
	check(to - from < 700000, 'W zooms in', [from, to]);
	const [a] = await press('d');
	const [b] = await press('ArrowLeft');
	check(a > from && b < a, 'D shows what comes later, an arrow what came before', [from, a, b]);
	const [c, d] = await press('-');
	check(d - c > to - from, 'minus zooms out', [c, d]);
	await page.keyboard.press('?');
	check(await page.$eval('#help', e => e.open), 'the question mark shows help');
	await page.keyboard.press('Escape');
	// Threads fold.
	const height = () => page.evaluate('xaudit.app.layout.height');
	const before = await height();
	await page.click('#names button.track');
	await frame(page);
	same(await page.$eval('#names button.track', e => e.getAttribute('aria-expanded')), 'false', 'a thread folds');
	check((await height()) < before, 'and takes less room');
	await page.click('#names button.track');
	await frame(page);
	same(await height(), before, 'and unfolds');
}

async function search(page) {
	await page.keyboard.press('0');
	const find = async word => {
		await page.$eval('#search', e => {
			e.value = '';
			e.focus();
		});
		await page.type('#search', word);
		await pause(200);
		await page.evaluate('xaudit.search.busy');
	};
	const hit = () =>
		page.evaluate(() => {
			const { hit } = window.xaudit.app;
			return hit && [hit.kind, hit.row, hit.from, hit.to];
		});
	const enter = async (key = 'Enter') => {
		await page.keyboard.press(key);
		await pause(50);
		await until(page, 'xaudit.app.hit !== null', 3000);
	};
	await find('inner');
	same((await text(page, '#found h3')).replace(/\s/g, ' '), 'Functions (1)', 'search finds the function');
	await enter();
	const [kind, row, at] = (await hit()) ?? [];
	check(kind !== undefined && row === 1 && Math.abs(at - 1500) <= 256, 'Enter goes to its first call', [
		kind,
		row,
		at,
	]);
	await find('file30');
	const values = await page.$$eval('#found button bdi', l => l.map(e => e.textContent));
	check(values.includes('inner("file30", 0) = 60'), 'search finds values', values);
	await enter();
	same(await hit(), ['call', 1, LONG.from, LONG.to], 'and goes to the call that had them');
	const [from, to] = await view(page);
	check(from < LONG.from && to > LONG.to, 'which is in view then', [from, to]);
	await enter();
	same((await hit())?.slice(0, 3), ['call', 1, 551700], 'next goes to the other one');
	await page.keyboard.down('Shift');
	await enter();
	await page.keyboard.up('Shift');
	same((await hit())?.slice(0, 3), ['call', 1, LONG.from], 'previous goes back');
	await find('number=2');
	await enter();
	same((await hit())?.slice(0, 3), ['mark', -1, 300000], 'search finds a custom event, and goes there');
	await find('nothing of that name');
	same(await text(page, '#found'), 'nothing found', 'and says where there is nothing');
	await page.keyboard.press('Escape');
}

async function panels(page) {
	await page.evaluate(() => window.xaudit.app.select(1));
	await until(page, 'document.querySelectorAll("#detail .edges").length > 0');
	same(
		await page.$$eval('#detail .edges tbody tr', l =>
			l.map(tr => [...tr.cells].map(c => c.textContent).join('|')),
		),
		['outer|200|599.0 us|599.0 us', 'other|10|50.00 us|50.00 us'],
		'inner has two callers',
	);
	await page.evaluate(() => window.xaudit.app.select(0));
	await until(page, 'document.querySelectorAll("#detail .edges").length === 2');
	same(
		await page.$$eval('#detail .edges tbody tr th', l => l.map(e => e.textContent)),
		['(not traced)', 'inner'],
		'outer has none that was traced, and calls inner',
	);
	const charts = await page.$$eval('#detail .chart', l => l.map(e => e.getAttribute('aria-label')));
	check(
		charts.length === 2 &&
			charts[0].includes('100 calls, from 2.816 us') &&
			charts[1].startsWith('Calls per second'),
		'its histogram and its rates are drawn, and said',
		charts,
	);
	await page.click('#tab-flame');
	await until(page, 'xaudit.flame.drawn.length > 2');
	const frames = () =>
		page.evaluate(() =>
			window.xaudit.flame.drawn.map(d => [
				d.frame.depth,
				window.xaudit.app.trace.fns[d.frame.fn]?.name ?? '',
				d.frame.weight,
			]),
		);
	same(
		await frames(),
		[
			[0, '', 959000],
			[1, 'outer', 699000],
			[2, 'inner', 599000],
			[1, 'other', 200000],
			[2, 'inner', 50000],
			[1, 'loose', 60000],
		],
		'the flame graph has the contexts and their times',
	);
	await page.click('#flame-mode input[value="inverted"]');
	await frame(page);
	same(
		await frames(),
		[
			[0, '', 959000],
			[1, 'inner', 649000],
			[2, 'outer', 599000],
			[2, 'other', 50000],
			[1, 'other', 150000],
			[1, 'outer', 100000],
			[1, 'loose', 60000],
		],
		'upside-down it has functions by their own time, and callers below',
	);
	await page.click('#flame-mode input[value="order"]');
	await frame(page);
	await frame(page);
	check(
		await page.$eval('#flame-order', e => !e.hidden && e.width > 500),
		'and in order of time it has the rows of a thread',
	);
	await page.click('#tab-slow');
	same(
		await page.$$eval('#slow tbody tr', l => l.map(tr => [...tr.cells].map(c => c.textContent).join('|'))),
		['inner|400.0 us|1.000 us|5.000 us|151.500 us|main 101'],
		'the outlier is listed',
	);
	await page.click('#slow tbody button');
	await frame(page);
	const [from, to] = await view(page);
	check(from < LONG.from && to > LONG.to && to - from < 600000, 'and one goes there by a click', [from, to]);
	check(
		await page.$eval('#lost', e => !e.hidden && e.title.includes('12 events were lost')),
		'what is lost is said',
	);
	await page.click('#lost');
	const about = await text(page, '#about');
	check(
		about.includes('12 events were lost') && about.includes('/usr/bin/known --trace'),
		'and of what the trace is',
		about,
	);
	await page.click('#tab-functions');
}

async function link(browser, page) {
	await page.evaluate(async () => {
		const { app, search } = window.xaudit;
		app.view.set(140000, 560000);
		app.select(1);
		app.showTab('flame');
		window.xaudit.flame.setMode('inverted');
		await search.busy;
	});
	await page.evaluate('xaudit.app.view.set(150000, 552000)');
	await frame(page);
	const spot = await place(page, 1, 300000);
	await page.mouse.click(spot[0], spot[1]);
	await pause(350);
	const hash = await page.evaluate('location.hash');
	const second = await open(browser, file, hash);
	const state = p =>
		p.evaluate(() => {
			const { app, flame } = window.xaudit;
			return [
				app.view.from,
				app.view.to,
				app.fn,
				app.hit?.from,
				app.hit?.to,
				flame.current,
				location.hash,
			];
		});
	same(await state(second.page), await state(page), 'a link shows the same moment, selection and picture');
	same(
		(await state(second.page)).slice(0, 6),
		[150000, 552000, 1, LONG.from, LONG.to, 'inverted'],
		'which are those that were chosen',
	);
	await second.page.close();
	const copied = await page.evaluate(async () => {
		let text = '';
		navigator.clipboard.writeText = t => {
			text = t;
			return Promise.resolve();
		};
		await window.xaudit.link.copy();
		return [text === location.href, document.getElementById('live').textContent];
	});
	same(copied, [true, 'link copied'], 'it can be copied');
	const odd = await open(browser, file, '#from=x&to=-5&fn=%3Cscript%3E&call=9:9:9&tab=none');
	same([await view(odd.page), odd.complaints], [[0, 1000000], []], 'a link to nothing that is here does no harm');
	await odd.page.close();
}

async function looks(browser, page) {
	const theme = () => page.evaluate('document.documentElement.dataset.theme');
	const first = await theme();
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
	await frame(page);
	same([first, await theme()], ['light', 'dark'], 'colours are light or dark as the system has it');
	await page.click('#theme');
	same(await theme(), 'light', 'or as one chooses');
	await page.click('#theme');
	await page.click('#theme');
	const narrow = await open(browser, file, '', { width: 400, height: 700 });
	const sizes = await narrow.page.evaluate(() => [
		document.documentElement.scrollWidth,
		document.getElementById('lines').clientWidth,
		document.getElementById('lines').clientHeight,
		[...document.querySelectorAll('header button, header input')].every(
			e => e.hidden || e.getBoundingClientRect().right <= 400,
		),
	]);
	check(sizes[0] <= 400 && sizes[1] > 250 && sizes[2] > 150 && sizes[3], 'all fits into 400 pixels', sizes);
	await narrow.page.close();
	const pdf = await page.pdf({ timeout: 60000 });
	check(pdf.length > 20000, 'it prints', pdf.length);
	await page.emulateMediaType('print');
	const shown = await page.evaluate(() =>
		['#table table', '#lines', '#search', '#splitter'].map(
			s => document.querySelector(s).getClientRects().length > 0,
		),
	);
	same(shown, [true, true, false, false], 'with the table and the picture, without what one presses');
	await page.emulateMediaType('screen');
	const bare = await page.$$eval('button, input, select, canvas[tabindex]', l =>
		l
			.filter(e => !(e.getAttribute('aria-label') ?? e.textContent.trim()) && !e.closest('label'))
			.map(e => e.outerHTML),
	);
	same(bare, [], 'whatever one can press has a name');
	const focus = await page.evaluate(() => {
		const b = document.querySelector('#names button');
		b.focus();
		return document.activeElement === b && b.matches(':focus');
	});
	check(focus, 'names of threads take the focus');
}

await browse(async browser => {
	const { page, complaints, requests } = await open(browser, file);
	same(await page.title(), 'known - xaudit', 'the page is shown');
	await table(page);
	await hover(page);
	await lines(page);
	await moves(page);
	await fingers(page);
	await search(page);
	await panels(page);
	await page.click('#tab-flame');
	await link(browser, page);
	await page.click('#tab-functions');
	await looks(browser, page);
	await empty(browser, bare);
	same(complaints, [], 'the browser has nothing to complain of');
	same(
		requests.filter(r => !r.startsWith('file://')),
		[],
		'and nothing is asked of a network',
	);
});
