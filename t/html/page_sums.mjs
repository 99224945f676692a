// SPDX-License-Identifier: MIT
//
// What a page says of calls, from a list of them: { track, fn, start, lasts, depth, self, parent (index or -1), row,
// text, request, how, loose }. Slow and simple, so that the test knows what comes out.
import { container } from './page_blocks.mjs';

// Eight buckets from each power of two to the next.
export function bucket(ns) {
	if (ns < 8) return ns;
	const power = Math.floor(Math.log2(ns));
	return 8 * (power - 2) + Math.floor(ns / 2 ** (power - 3)) - 8;
}

function hist(times) {
	if (times.length === 0) return [];
	const b = times.map(bucket);
	const first = Math.min(...b);
	const out = new Array(Math.max(...b) - first + 1).fill(0);
	b.forEach(x => out[x - first]++);
	return [first, ...out];
}

// calls: { track, fn, start, lasts, depth, self, parent (index or -1), text }
export function summed(names, calls) {
	const fns = names.map(([name, library]) => ({
		name,
		library,
		kind: 'plt',
		calls: 0,
		counted: 0,
		timed: 0,
		total: 0,
		self: 0,
		times: [],
		cpu: null,
		cpu_self: null,
		cpu_unknown: 0,
		throttled: null,
	}));
	for (const c of calls) {
		const f = fns[c.fn];
		f.calls++;
		f.timed++;
		f.self += c.self;
		f.times.push(c.lasts);
		let above = c.parent;
		while (above >= 0 && calls[above].fn !== c.fn) above = calls[above].parent;
		if (above < 0) f.total += c.lasts;
	}
	for (const f of fns) {
		const t = f.times.sort((a, b) => a - b);
		const at = part => (t.length ? t[Math.min(t.length - 1, Math.ceil(part * t.length) - 1)] : null);
		const avg = t.reduce((s, x) => s + x, 0) / t.length;
		Object.assign(f, {
			min: t[0] ?? null,
			max: t[t.length - 1] ?? null,
			avg: Math.round(avg),
			p50: at(0.5),
			p90: at(0.9),
			p99: at(0.99),
			stddev: Math.round(Math.sqrt(t.reduce((s, x) => s + (x - avg) ** 2, 0) / t.length)),
			hist: hist(t),
		});
		delete f.times;
	}
	return fns;
}

export function treeOf(calls) {
	const nodes = [];
	const byKey = new Map();
	const nodeOf = [];
	calls.forEach((c, i) => {
		const parent = c.parent < 0 ? -1 : nodeOf[c.parent];
		const key = parent + ' ' + c.fn;
		let n = byKey.get(key);
		if (n === undefined) {
			byKey.set(key, (n = nodes.length));
			nodes.push({ fn: c.fn, parent, calls: 0, total: 0, self: 0 });
		}
		nodeOf[i] = n;
		nodes[n].calls++;
		nodes[n].total += c.lasts;
		nodes[n].self += c.self;
	});
	const zero = nodes.map(() => 0);
	return container([
		[
			nodes.map(n => n.fn),
			nodes.map(n => n.parent + 1),
			nodes.map(n => n.calls),
			nodes.map(n => n.total),
			nodes.map(n => n.self),
			nodes.map(n => n.total),
			zero,
			zero,
			zero,
			zero,
		],
	]);
}

export function edgesOf(calls) {
	const by = new Map();
	for (const c of calls) {
		const from = c.parent < 0 ? 0 : calls[c.parent].fn + 1;
		const key = from + ' ' + c.fn;
		const e = by.get(key) ?? { from, to: c.fn, calls: 0, total: 0, self: 0 };
		by.set(key, e);
		e.calls++;
		e.total += c.lasts;
		e.self += c.self;
	}
	const all = [...by.values()];
	return container([['from', 'to', 'calls', 'total', 'self'].map(k => all.map(e => e[k]))]);
}

export function windowOf(tracks, calls, from, to, cpu = []) {
	const texts = [];
	const number = new Map();
	const text = t => {
		if (!t) return 0;
		if (!number.has(t)) {
			texts.push(t);
			number.set(t, texts.length);
		}
		return number.get(t);
	};
	const segments = [[], [], [], [], [], [], []];
	const table = [[], [], [], [], [], [], [], [], []];
	const times = [[], [], []];
	tracks.forEach((t, i) => {
		const own = calls
			.filter(c => c.track === i && c.start < to && c.start + c.lasts >= from)
			.sort((a, b) => a.start - b.start || a.depth - b.depth);
		if (own.length === 0) return;
		[i, 0, from, to, own[0].start, own.length, 0].forEach((v, k) => segments[k].push(v));
		let before = own[0].start;
		for (const c of own) {
			[
				c.start - before,
				c.lasts,
				c.depth,
				c.fn,
				(c.how ?? 1) | (c.loose ? 128 : 0),
				text(c.text),
				text(c.request),
				0,
				c.self,
			].forEach((v, k) => table[k].push(v));
			before = c.start;
		}
	});
	for (const { track, list } of cpu) {
		[track, 1, from, to, list[0][0], list.length, 0].forEach((v, k) => segments[k].push(v));
		let before = list[0][0];
		for (const [start, lasts, state] of list) {
			[start - before, lasts, state].forEach((v, k) => times[k].push(v));
			before = start + lasts;
		}
	}
	const bytes = [...Buffer.concat(texts.map(t => Buffer.from(t + '\0')))];
	return container([segments, table, times, [bytes]]);
}

// One level of a few rows: which call covers most of a column.
export function tilesOf(rows, calls, columns, from, width, levels) {
	const out = [];
	for (let level = 0; level < levels; level++) {
		const column = width * 2 ** (levels - 1 - level);
		for (let k = 0; k < 2 ** level; k++) {
			const [list, runs, values, forms] = [[], [], [], []];
			rows.forEach((row, r) => {
				if (level >= row.levels) return;
				// Rows that are no calls have the same value everywhere.
				if (row.value !== undefined) {
					list.push(r);
					runs.push(1);
					values.push(row.value);
					forms.push((columns - 1) | ((row.kind === 'rest' ? 1 : 0) << 11));
					return;
				}
				const own = calls.filter(c => c.row === r);
				let n = 0;
				let last = null;
				for (let i = 0; i < columns; i++) {
					const a = from + (k * columns + i) * column;
					const here = own.filter(c => c.start < a + column && c.start + c.lasts > a);
					const cover = c =>
						Math.min(c.start + c.lasts, a + column) - Math.max(c.start, a);
					const all = here.reduce((s, c) => s + cover(c), 0);
					const best = here.sort((x, y) => cover(y) - cover(x))[0];
					const value = best ? best.fn + 1 : 0;
					const form = !best || here.length === 1 ? 0 : all < column / 4 ? 2 : 1;
					const one = form === 0 && best ? best : null;
					if (last && last.value === value && last.form === form && last.one === one) {
						forms[forms.length - 1]++;
					} else {
						values.push(value);
						forms.push(form << 11);
						n++;
						last = { value, form, one };
					}
				}
				list.push(r);
				runs.push(n);
			});
			out.push([
				`t${level}.${k}`,
				container([
					[list, runs],
					[values, forms],
				]),
			]);
		}
	}
	return out;
}
