// SPDX-License-Identifier: MIT
//
// node make_page.mjs PAGE.html OUT.html KIND: puts a made trace into the page, in the blocks that `xaudit html` writes.
// KIND: known (few calls, whose numbers the test knows), hostile (the same with names and values that would do harm),
// empty (no call, no thread, no process), many (300 threads, 2000 rows, 5 levels of tiles, 12 windows of 100 000
// calls), half (half as many).
import { readFileSync, writeFileSync } from 'node:fs';
import { container, headOf, page, sums } from './page_blocks.mjs';
import { many } from './page_many.mjs';
import { edgesOf, summed, tilesOf, treeOf, windowOf } from './page_sums.mjs';

// Two threads: the first calls outer 100 times, each of which calls inner twice; call 60 of inner takes 400 us, the
// others 1 us. The second calls other 10 times, each of which calls inner for 5 us; two of
// its calls do not nest.
function known(hostile) {
	const names = hostile
		? [
				[
					'</script><script>window.harm = 1</script>',
					'/lib/<img src=x onerror="window.harm=2">.so',
				],
				['a"onmouseover="window.harm=3" b=\'', '/lib/\u202eso.lairt\u202c.so'],
				['evil\u202egnp.exe\u0007\u001b[31m\u200b', '/lib/x.so'],
				['${window.harm=4}{{constructor}}', '/lib/x.so'],
			]
		: [
				['outer', '/lib/libknown.so.1'],
				['inner', '/lib/libknown.so.1'],
				['other', '/lib/libother.so.2'],
				['loose', '/lib/libother.so.2'],
				// Known as a caller only.
				['never', '/lib/libother.so.2'],
			];
	const calls = [];
	let now = 1000;
	for (let i = 0; i < 100; i++) {
		const outer = calls.length;
		calls.push({ track: 0, fn: 0, start: now, depth: 0, parent: -1, self: 0, row: 0, text: '' });
		let t = now + 500;
		for (let j = 0; j < 2; j++) {
			const lasts = 2 * i + j === 60 ? 400000 : 1000;
			calls.push({
				track: 0,
				fn: 1,
				start: t,
				lasts,
				depth: 1,
				parent: outer,
				self: lasts,
				row: 1,
				text: `("${hostile ? '</script>\u202e' : 'file' + i}", ${j}) = ${2 * i + j}`,
				request: i < 10 ? 'request-' + i : '',
			});
			t += lasts + 200;
		}
		calls[outer].lasts = t + 100 - now;
		calls[outer].self = calls[outer].lasts - calls[outer + 1].lasts - calls[outer + 2].lasts;
		now += calls[outer].lasts + 2000;
	}
	for (let i = 0; i < 10; i++) {
		const start = 5000 + i * 50000;
		const at = { track: 1, lasts: 20000, text: '', start };
		calls.push({ ...at, fn: 2, depth: 0, parent: -1, self: 15000, row: 3 });
		calls.push({
			...at,
			fn: 1,
			start: start + 1000,
			lasts: 5000,
			depth: 1,
			parent: calls.length - 1,
			self: 5000,
			row: 4,
		});
	}
	for (let i = 0; i < 2; i++)
		calls.push({
			track: 1,
			fn: 3,
			start: 15000 + i * 50000,
			lasts: 30000,
			depth: 0,
			parent: -1,
			self: 30000,
			row: 5,
			loose: true,
			how: 2,
		});
	const end = 1000000;
	const rows = [
		{ track: 0, kind: 'calls', depth: 0, levels: 2, calls: 100 },
		{ track: 0, kind: 'calls', depth: 1, levels: 2, calls: 200 },
		// On a processor for half of the time.
		{ track: 0, kind: 'cpu', depth: 0, levels: 2, calls: 0, value: 9 },
		{ track: 1, kind: 'calls', depth: 0, levels: 2, calls: 10 },
		{ track: 1, kind: 'calls', depth: 1, levels: 2, calls: 10 },
		{ track: 1, kind: 'loose', depth: 0, levels: 2, calls: 2 },
		// One and a half of the other threads are in a call.
		{ track: null, kind: 'rest', depth: 0, levels: 2, calls: 30, value: 24 },
	];
	const name = hostile ? '<b onclick=alert(1)>\u202e' : 'known';
	const tracks = [
		{
			process: 0,
			tid: 101,
			stack: 0,
			name: hostile ? '"><svg onload=alert(1)>' : 'main',
			calls: 300,
			time: 700000,
			first: 1000,
			last: now,
			depth: 2,
			row: 0,
			rows: 2,
			loose: null,
			cpu: 2,
			deeper: 0,
		},
		{
			process: 0,
			tid: 102,
			stack: 0,
			name: 'second',
			calls: 22,
			time: 260000,
			first: 5000,
			last: 475000,
			depth: 2,
			row: 3,
			rows: 2,
			loose: 5,
			cpu: null,
			deeper: 0,
		},
	];
	const long = calls.find(c => c.lasts === 400000);
	const head = headOf({
		range: [0, end],
		rows,
		tracks,
		processes: [
			{
				pid: 100,
				parent: 1,
				name,
				exe: '/usr/bin/known',
				command: 'known --all',
				host: 'host',
				module: '0.1.0',
				start: 0,
				end,
				lost: 0,
				state: 'ended',
				rules: '',
				notes: [],
				threads: 2,
				cpu_ns: null,
			},
		],
		totals: { calls: calls.length, functions: 4, tracks: 2, rows: 7, events: 3 },
		pyramid: { columns: 2048, from: 0, width: 256, levels: 2 },
		windows: [
			{
				id: 0,
				why: 'outlier',
				text: `${names[1][0]} took 400 us`,
				from: long.start - 3000,
				to: long.start + 403000,
				track: null,
				function: 1,
				time: long.start,
				duration: 400000,
				calls: 0,
				segments: 2,
				whole: true,
			},
		],
		outliers: [
			{
				function: 1,
				time: long.start,
				duration: 400000,
				p99: 1000,
				median: 1000,
				track: 0,
				window: 0,
			},
		],
		rest: { tracks: 3, calls: 30, time: 1500000, row: 6 },
		rates: { columns: 100, functions: [1, 0], from: 0, width: end / 100 },
	});
	head.info.left = ['12 events were lost: a buffer was full'];
	head.info.sums = { ...sums, lost: 12 };
	head.info.sched = true;
	const rate = fn => {
		const out = new Array(100).fill(0);
		for (const c of calls) if (fn < 0 || c.fn === fn) out[Math.floor(c.start / 10000)]++;
		return out;
	};
	const win = head.windows[0];
	const cpu = [
		{
			track: 0,
			list: [
				[win.from, 100000, 1],
				[win.from + 150000, 200000, 1],
			],
		},
	];
	const json = x => Buffer.from(JSON.stringify(x));
	return [
		head,
		[
			['functions', json({ functions: summed(names, calls), others: null })],
			...tilesOf(rows, calls, 2048, 0, 256, 2),
			['w0', windowOf(tracks, calls, win.from, win.to, cpu)],
			['tree', treeOf(calls)],
			['edges', edgesOf(calls)],
			['rates', container([[rate(-1), rate(1), rate(0)]])],
			[
				'events',
				json({
					types: [{ name: hostile ? '<i>' : 'frame', count: 3, bytes: 24, kept: 3 }],
					type: [0, 0, 0],
					time: [10000, 300000, 700000],
					track: [0, 0, 1],
					tid: [101, 101, 102],
					text: [
						'number=1',
						hostile ? '<script>alert(1)</script>' : 'number=2',
						'number=3',
					],
					mark: [0, 1, 0],
				}),
			],
			[
				'loads',
				json({
					objects: [names[0][1]],
					count: 2,
					what: [1, 0],
					time: [500, 900000],
					process: [0, 0],
					object: [0, 0],
					tid: [101, 101],
				}),
			],
			['requests', json({ count: 1, text: ['request-0'], track: [0], from: [1000], to: [90000] })],
		],
	];
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
	const [template, out, kind] = process.argv.slice(2);
	const kinds = {
		known: () => known(false),
		hostile: () => known(true),
		many: () => many(1),
		half: () => many(0.5),
		empty: () => {
			const head = headOf({});
			for (const key of ['command', 'status', 'version', 'host', 'exe']) head.info[key] = null;
			return [head, []];
		},
	};
	const [head, blocks] = kinds[kind]();
	writeFileSync(out, page(readFileSync(template, 'utf8'), head, blocks));
}
