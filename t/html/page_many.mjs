// SPDX-License-Identifier: MIT
//
// A made trace of 100 million calls, of which there are no calls but what a page would show of them.
import { container, headOf } from './page_blocks.mjs';
import { windowOf } from './page_sums.mjs';

let seed = 1;
const random = () => {
	seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
	return seed / 4294967296;
};

export function many(part) {
	const [threads, deep, levels, columns] = [Math.round(300 * part), 7, part < 1 ? 4 : 5, 2048];
	const [width, functions] = [25000 * 2 ** (5 - levels), 3000];
	const end = columns * 2 ** (levels - 1) * width;
	const names = Array.from({ length: functions }, (_, i) => [
		`ns${i % 40}::Type${i % 300}<int, std::allocator<char> >::` + `method_${i}(int, char const*)`,
		`/usr/lib/x86_64-linux-gnu/libmade${i % 60}.so.1`,
	]);
	const rows = [];
	const tracks = [];
	for (let t = 0; t < threads; t++) {
		const row = rows.length;
		const n = Math.min(deep, Math.floor((2000 * part - row) / (threads - t)));
		for (let d = 0; d < n; d++) rows.push({ track: t, kind: 'calls', depth: d, levels, calls: 40000 });
		tracks.push({
			process: t % 3,
			tid: 1000 + t,
			stack: 0,
			name: 'worker-' + t,
			calls: 333333,
			time: end / 2,
			first: 0,
			last: end,
			depth: n,
			row,
			rows: n,
			loose: null,
			cpu: null,
			deeper: 0,
		});
	}
	const pick = () => Math.floor(random() * random() * functions);
	const blocks = [];
	for (let level = 0; level < levels; level++)
		for (let k = 0; k < 2 ** level; k++) {
			const [list, runs, values, forms] = [[], [], [], []];
			rows.forEach((row, r) => {
				list.push(r);
				let n = 0;
				// As traces are: long times of one function, short changes between them.
				const typical = row.depth < 2 ? 180 : 60;
				for (let c = 0; c < columns; n++) {
					const length = Math.min(
						columns - c,
						1 + Math.floor(-Math.log(1 - random()) * typical),
					);
					const x = random();
					values.push(x < 0.25 ? 0 : pick() + 1);
					forms.push(
						(length - 1) | ((x < 0.25 ? 0 : x < 0.6 ? 1 : x < 0.7 ? 2 : 0) << 11),
					);
					c += length;
				}
				runs.push(n);
			});
			blocks.push([
				`t${level}.${k}`,
				container([
					[list, runs],
					[values, forms],
				]),
			]);
		}
	const windows = [];
	for (let w = 0; w < 12; w++) {
		const from = Math.floor((end * (w + 0.5)) / 12.5);
		const calls = [];
		const per = Math.round((100000 * part) / 20);
		for (let t = 0; t < 20; t++) {
			const stack = [];
			let now = from + Math.floor(random() * 1000);
			const track = (w * 20 + t) % threads;
			for (let i = 0; i < per;) {
				if (stack.length > 0 && (random() < 0.5 || stack.length >= deep - 1)) {
					const c = stack.pop();
					now += 20 + Math.floor(random() * 60);
					c.lasts = now - c.start;
				} else {
					now += 20 + Math.floor(random() < 0.001 ? random() * 20000 : random() * 60);
					const c = {
						track,
						fn: pick(),
						start: now,
						lasts: 0,
						depth: stack.length,
						self: 10,
						parent: -1,
					};
					if (random() < 0.02)
						c.text = `(${(random() * 900) | 0}, "/tmp/file${i % 99}") = 0`;
					calls.push(c);
					stack.push(c);
					i++;
				}
			}
			for (let c = stack.pop(); c; c = stack.pop()) c.lasts = (now += 30) - c.start;
		}
		const to = calls.reduce((m, c) => Math.max(m, c.start + c.lasts), 0) + 1;
		windows.push({
			id: w,
			why: 'outlier',
			text: `window ${w}`,
			from,
			to,
			track: null,
			function: null,
			time: null,
			duration: null,
			calls: calls.length,
			segments: 20,
			whole: false,
		});
		blocks.push([`w${w}`, windowOf(tracks, calls, from, to)]);
	}
	const fns = names.map(([name, library], i) => {
		const calls = Math.floor((1e8 / functions) * 2 * (1 - i / functions));
		const self = calls * 50;
		return {
			name,
			library,
			kind: 'entry',
			calls,
			counted: 0,
			timed: calls,
			total: self * 3,
			self,
			min: 20,
			max: 90000 + i,
			avg: 150,
			p50: 60,
			p90: 200,
			p99: 900,
			stddev: 300,
			cpu: null,
			cpu_self: null,
			cpu_unknown: 0,
			throttled: null,
			hist: [
				20,
				...Array.from({ length: 60 }, (_, b) =>
					Math.floor((calls / 100) * Math.exp(-(((b - 20) / 12) ** 2))),
				),
			],
		};
	});
	const tree = [[], [], [], [], [], [], [], [], [], []];
	const grow = (parent, all, depth) => {
		const at = tree[0].length;
		const self = depth > 12 || all < 1e6 ? all : Math.floor(all * 0.15);
		[pick(), parent + 1, Math.ceil(all / 150), all, self, all, 0, 0, 0, 0].forEach((v, c) =>
			tree[c].push(v),
		);
		for (let left = all - self; left > 1e6 && tree[0].length < 60000 * part;) {
			const mine = Math.floor(left * (0.3 + random() * 0.5));
			grow(at, mine, depth + 1);
			left -= mine;
		}
	};
	for (let i = 0; i < 12; i++) grow(-1, 3e11 / (i + 1), 0);
	const head = headOf({
		range: [0, end],
		rows,
		tracks,
		windows,
		processes: [0, 1, 2].map(i => ({
			pid: 900 + i,
			parent: 1,
			name: 'server-' + i,
			exe: '/usr/bin/server',
			command: 'server',
			host: 'host',
			module: '0.1.0',
			start: 0,
			end,
			lost: 0,
			state: 'ended',
			rules: '',
			notes: [],
			threads: Math.round(threads / 3),
			cpu_ns: null,
		})),
		totals: { calls: 1e8, functions, tracks: threads, rows: rows.length, events: 0 },
		pyramid: { columns, from: 0, width, levels },
	});
	const events = Math.round(1e5 * part);
	const each = f => Array.from({ length: events }, (_, i) => f(i));
	const at = i => Math.floor((end * i) / events);
	const json = x => Buffer.from(JSON.stringify(x));
	return [
		head,
		[
			['functions', json({ functions: fns, others: null })],
			...blocks,
			['tree', container([tree])],
			[
				'events',
				json({
					types: [{ name: 'step', count: events, bytes: 0, kept: events }],
					type: each(() => 0),
					time: each(at),
					track: each(i => i % threads),
					tid: each(i => 1000 + (i % threads)),
					text: each(i => 'number=' + i),
					mark: each(() => 0),
				}),
			],
			[
				'requests',
				json({
					count: events,
					text: each(i => 'r' + i),
					track: each(i => i % threads),
					from: each(at),
					to: each(i => at(i) + 500000),
				}),
			],
		],
	];
}
