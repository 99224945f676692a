// SPDX-License-Identifier: MIT
//
// The next call of some functions, or the one before: in windows, where calls are one by one, else in the finest tiles
// that there are.

import { App } from '../app';
import { Calls, Runs, Trace, Win, WindowInfo } from '../data/model';
import { exact, time } from '../data/units';
import { lower } from '../data/window';
import { callHit, Hit } from '../draw/hit';
import { visible } from '../data/names';

export interface Found {
	from: number;
	to: number;
	row: number;
	one: boolean;
	calls: Calls | null;
	index: number;
	win: Win | null;
}

// Which of two comes first on the way.
function sooner(a: Found | null, b: Found, forward: boolean): Found {
	if (!a) return b;
	const before = b.from < a.from || (b.from === a.from && b.row < a.row);
	return before === forward ? b : a;
}

// Whether (from, row) lies behind the place where the search began.
function beyond(from: number, row: number, at: number, atRow: number, forward: boolean): boolean {
	return forward ? from > at || (from === at && row > atRow) : from < at || (from === at && row < atRow);
}

function inWindow(win: Win, fns: Set<number>, at: number, atRow: number, forward: boolean): Found | null {
	let best: Found | null = null;
	for (const row of win.rows) {
		const calls = win.calls(row) as Calls;
		let i = lower(calls.start, at);
		if (!forward) i = Math.min(i, calls.n - 1);
		for (; i >= 0 && i < calls.n; i += forward ? 1 : -1) {
			const from = calls.start[i];
			if (
				!fns.has(calls.fn[i]) ||
				!beyond(from, row, at, atRow, forward) ||
				!win.pieces(row).some(p => p.from <= from && from < p.to)
			)
				continue;
			best = sooner(
				best,
				{ from, to: from + calls.lasts[i], row, one: true, calls, index: i, win },
				forward,
			);
			break;
		}
	}
	return best;
}

// Tiles of one level, for the rows that end with it.
async function inTiles(
	trace: Trace,
	level: number,
	rows: number[],
	fns: Set<number>,
	at: number,
	atRow: number,
	forward: boolean,
	covered: (row: number, t: number) => boolean,
): Promise<Found | null> {
	const wide = trace.column(level) * trace.columns;
	const many = 2 ** level;
	let k = Math.min(many - 1, Math.max(0, Math.floor((at - trace.origin) / wide)));
	for (; k >= 0 && k < many; k += forward ? 1 : -1) {
		const tile = await trace.wholeTile(level, k);
		if (!tile) continue;
		const former = k > 0 ? await trace.wholeTile(level, k - 1) : null;
		let best: Found | null = null;
		for (const row of rows) {
			const runs: Runs | null = tile.row(row);
			if (!runs) continue;
			for (let j = 0; j < runs.n; j++) {
				const i = forward ? j : runs.n - 1 - j;
				const from = tile.from + (i > 0 ? runs.end[i - 1] : 0) * tile.column;
				const value = runs.value[i];
				if (
					value === 0 ||
					!fns.has(value - 1) ||
					!beyond(from, row, at, atRow, forward) ||
					covered(row, from)
				)
					continue;
				// The same call goes on from the tile before.
				const other = i === 0 ? former?.row(row) : null;
				if (
					other &&
					runs.form[i] === 0 &&
					other.value[other.n - 1] === value &&
					other.form[other.n - 1] === 0
				)
					continue;
				best = sooner(
					best,
					{
						from,
						to: tile.from + runs.end[i] * tile.column,
						row,
						one: runs.form[i] === 0,
						calls: null,
						index: i,
						win: null,
					},
					forward,
				);
				break;
			}
		}
		if (best) return best;
	}
	return null;
}

export async function nextCall(
	trace: Trace,
	fns: Set<number>,
	at: number,
	atRow: number,
	forward: boolean,
): Promise<Found | null> {
	const groups = new Map<number, number[]>();
	trace.rows.forEach((r, i) => {
		if (r.kind === 'calls' || r.kind === 'loose') {
			const list = groups.get(r.levels - 1);
			if (list) list.push(i);
			else groups.set(r.levels - 1, [i]);
		}
	});
	const loaded = new Map<WindowInfo, Win | null>();
	const all = trace.windows.find(w => w.whole && w.from <= trace.from && w.to >= trace.to);
	let best: Found | null = null;
	for (const info of all ? [all] : trace.windows) {
		if (
			forward
				? info.to <= at || (best && info.from > best.from)
				: info.from >= at || (best && info.to < best.from)
		)
			continue;
		const win = await trace.wholeWin(info.id);
		loaded.set(info, win);
		const found = win && inWindow(win, fns, at, atRow, forward);
		if (found) best = sooner(best, found, forward);
	}
	if (all) return best;
	const covered = (row: number, t: number) =>
		[...loaded.values()].some(w => w?.pieces(row).some(p => p.from <= t && t < p.to) ?? false);
	for (const [level, rows] of groups) {
		const found = level >= 0 ? await inTiles(trace, level, rows, fns, at, atRow, forward, covered) : null;
		if (found) best = sooner(best, found, forward);
	}
	return best;
}

// Selects what was found, and goes there.
export function goTo(app: App, found: Found): Hit | null {
	const { trace, layout, view } = app;
	const track = trace.rows[found.row].track;
	if (track >= 0) layout.unfold(track);
	app.reveal(found.row, track);
	const item = layout.ofRow(found.row);
	if (!item) return null;
	const { calls, win } = found;
	const fn = calls ? calls.fn[found.index] : -1;
	const hit =
		calls && win
			? callHit(trace, item, found.row, calls, found.index, n => visible(win.text(n)))
			: tileHit(app, found, item);
	const lasts = found.to - found.from;
	const wide = view.to - view.from;
	// The scale stays if one sees something by it.
	if (lasts > wide * 0.9 || lasts < wide / 300) view.show(found.from - lasts, found.to + lasts);
	else if (found.from < view.from + wide * 0.05 || found.to > view.to - wide * 0.05)
		view.move(found.from - wide * 0.4, found.from + wide * 0.6);
	app.select(fn >= 0 ? fn : hit.fn, hit);
	app.say(`${hit.title}, ${time(lasts)}, at ${exact(found.from)}`);
	return hit;
}

function tileHit(app: App, found: Found, item: Hit['item']): Hit {
	const { trace } = app;
	const row = trace.rows[found.row];
	const level = row.levels - 1;
	const tile = trace.peek(level, Math.floor((found.from - trace.origin) / trace.column(level) / trace.columns));
	const value = tile?.row(found.row)?.value[found.index] ?? 0;
	return {
		kind: found.one ? 'call' : 'many',
		item,
		row: found.row,
		track: row.track,
		fn: value - 1,
		from: found.from,
		to: found.to,
		title: trace.fns[value - 1]?.name ?? '',
		lines: [],
		mark: null,
	};
}
