// SPDX-License-Identifier: MIT
//
// What lies under the pointer.

import { Calls, HOW, Mark, Runs, Tile, Trace } from '../data/model';
import { isolated } from '../data/names';
import { count, exact, time } from '../data/units';
import { lower } from '../data/window';
import { Item, Layout } from './layout';
import { eachMark } from './marks';
import { Painter } from './paint';
import { View } from './view';

export interface Hit {
	kind: 'call' | 'many' | 'mark' | 'cpu' | 'rest';
	item: Item;
	row: number;
	track: number;
	fn: number;
	from: number;
	to: number;
	title: string;
	lines: string[];
	mark: Mark | null;
}

function nameOf(trace: Trace, fn: number): string {
	const f = trace.fns[fn];
	return f ? f.name : fn === trace.fns.length ? 'other functions' : 'nothing';
}

export function callHit(
	trace: Trace,
	item: Item,
	row: number,
	calls: Calls,
	i: number,
	text: (n: number) => string,
): Hit {
	const fn = calls.fn[i];
	const f = trace.fns[fn];
	const how = calls.how[i];
	const lines: string[] = [];
	const values = text(calls.text[i]);
	if (values) lines.push(isolated(values));
	lines.push(
		how === 7
			? 'time not recorded'
			: (how >= 4 ? 'at least ' : '') +
					time(calls.lasts[i]) +
					(calls.self[i] < calls.lasts[i] ? `, ${time(calls.self[i])} of its own` : '') +
					(calls.cpu[i] >= 0 ? `, ${time(calls.cpu[i])} on a processor` : ''),
	);
	lines.push('at ' + exact(calls.start[i] - 0));
	if (f) lines.push(f.library);
	if (how >= 2) lines.push(HOW[how] ?? '');
	const request = text(calls.request[i]);
	if (request) lines.push('request ' + isolated(request));
	return {
		kind: 'call',
		item,
		row,
		track: trace.rows[row].track,
		fn,
		from: calls.start[i],
		to: calls.start[i] + calls.lasts[i],
		title: nameOf(trace, fn),
		lines,
		mark: null,
	};
}

export function markHit(trace: Trace, item: Item, m: Mark): Hit {
	const track = trace.tracks[m.track];
	return {
		kind: 'mark',
		item,
		row: -1,
		track: m.track,
		fn: m.fn,
		from: m.at,
		to: m.at + m.lasts,
		title: m.text,
		lines: [
			(m.lasts ? `${time(m.lasts)} ` : '') + 'at ' + exact(m.at),
			...(track ? [trackName(trace, m.track)] : []),
		],
		mark: m,
	};
}

export function trackName(trace: Trace, index: number): string {
	const t = trace.tracks[index];
	return !t ? '' : [t.name || 'thread', String(t.tid), ...(t.shared ? ['stack ' + t.stack] : [])].join(' ');
}

export class Finder {
	constructor(
		private readonly trace: Trace,
		private readonly view: View,
		private readonly layout: Layout,
		private readonly painter: Painter,
	) {}

	// x, y: CSS pixels in the canvas; top: how far it is scrolled.
	at(x: number, y: number, top: number, cssWidth: number): Hit | null {
		const item = this.layout.at(y + top);
		if (!item) return null;
		const { view } = this;
		const px = (view.to - view.from) / cssWidth;
		const t = view.from + (x + 0.5) * px;
		if (item.kind === 'calls') return this.call(item, item.row, t, px);
		if (item.kind === 'lane') return this.mark(item, t, px);
		if (item.kind === 'track') return this.cpu(item, t);
		if (item.kind === 'rest') return this.rest(item, t);
		return null;
	}

	private tile(row: number, t: number): [Tile, Runs, number] | null {
		const { trace } = this;
		const r = trace.rows[row];
		for (let level = r ? Math.min(this.painter.levelShown, r.levels - 1) : -1; level >= 0; level--) {
			const tile = trace.peek(
				level,
				Math.floor((t - trace.origin) / trace.column(level) / trace.columns),
			);
			const runs = tile && tile.row(row);
			if (tile === null || (tile && !runs)) return null;
			if (tile && runs) {
				const i = lower(runs.end, Math.floor((t - tile.from) / tile.column) + 1);
				return i < runs.n ? [tile, runs, i] : null;
			}
		}
		return null;
	}

	private call(item: Item, row: number, t: number, px: number): Hit | null {
		for (const { win } of this.painter.visibleWindows)
			if (win.pieces(row).some(p => p.from <= t && t < p.to)) {
				const calls = win.calls(row);
				if (!calls) return null;
				// The nearest of those that are narrower than a pixel counts as under the pointer.
				let best = -1;
				for (
					let i = Math.max(0, lower(calls.start, t) - 1), k = 0;
					i < calls.n && k < 3;
					i++, k++
				)
					if (
						calls.start[i] <= t + px &&
						calls.start[i] + calls.lasts[i] >= t - px &&
						(best < 0 ||
							(calls.lasts[i] > calls.lasts[best] &&
								calls.start[best] + calls.lasts[best] < t))
					)
						best = i;
				return best < 0
					? null
					: callHit(this.trace, item, row, calls, best, n => this.painter.text(win, n));
			}
		const found = this.tile(row, t);
		if (!found) return null;
		const [tile, runs, i] = found;
		const value = runs.value[i];
		if (value === 0) return null;
		const from = tile.from + (i > 0 ? runs.end[i - 1] : 0) * tile.column;
		const to = tile.from + runs.end[i] * tile.column;
		const one = runs.form[i] === 0;
		const f = this.trace.fns[value - 1];
		const lines = one
			? [`one call of ${time(to - from)}, its ends true to ${time(tile.column)}`]
			: [
					runs.form[i] === 2
						? 'an aggregate: several calls, in less than a quarter of this time'
						: 'an aggregate: several calls; this function has most of the time',
					`in pieces of ${time(tile.column)}, from ${exact(from)}`,
				];
		return {
			kind: one ? 'call' : 'many',
			item,
			row,
			track: this.trace.rows[row].track,
			fn: value - 1,
			from,
			to,
			title: nameOf(this.trace, value - 1),
			lines: [...lines, ...(f ? [f.library] : [])],
			mark: null,
		};
	}

	private mark(item: Item, t: number, px: number): Hit | null {
		let best: Mark | null = null;
		eachMark(this.layout.marksOf(item), t - 5 * px, t + 5 * px, px, m => {
			if (!best || Math.abs(m.at - t) < Math.abs(best.at - t)) best = m;
		});
		return best && markHit(this.trace, item, best);
	}

	private cpu(item: Item, t: number): Hit | null {
		const track = this.trace.tracks[item.track];
		const hit = (lines: string[], from: number, to: number): Hit => ({
			kind: 'cpu',
			item,
			row: track.cpu,
			track: item.track,
			fn: -1,
			from,
			to,
			title: trackName(this.trace, item.track),
			lines,
			mark: null,
		});
		for (const { win } of track.cpu >= 0 ? this.painter.visibleWindows : [])
			if (win.pieces(track.cpu).some(p => p.from <= t && t < p.to)) {
				const on = win.cpu(track.cpu);
				const i = on ? lower(on.start, t) - 1 : -1;
				if (on && i >= 0 && on.start[i] + on.lasts[i] >= t)
					return hit(
						[
							on.known[i] === 2
								? 'not known whether on a processor'
								: `on a processor for ${time(on.lasts[i])}`,
						],
						on.start[i],
						on.start[i] + on.lasts[i],
					);
				return hit(['waits: not on a processor'], t, t);
			}
		const found = track.cpu >= 0 ? this.tile(track.cpu, t) : null;
		if (!found) return hit([`${count(track.calls)} calls`], track.first, track.last);
		const [tile, runs, i] = found;
		const from = tile.from + (i > 0 ? runs.end[i - 1] : 0) * tile.column;
		const value = runs.value[i];
		return hit(
			[
				value === 0
					? 'not known whether on a processor'
					: `on a processor for ${((100 * (value - 1)) / 16).toFixed(0)} % of this time`,
			],
			from,
			tile.from + runs.end[i] * tile.column,
		);
	}

	private rest(item: Item, t: number): Hit | null {
		const { rest } = this.trace;
		const found = rest && this.tile(rest.row, t);
		if (!rest || !found) return null;
		const [tile, runs, i] = found;
		return {
			kind: 'rest',
			item,
			row: rest.row,
			track: -1,
			fn: -1,
			from: tile.from + (i > 0 ? runs.end[i - 1] : 0) * tile.column,
			to: tile.from + runs.end[i] * tile.column,
			title: `${count(rest.tracks)} more threads, added up`,
			lines: [
				`${(runs.value[i] / 16).toFixed(1)} of them are in a call, on average`,
				`${count(rest.calls)} calls`,
			],
			mark: null,
		};
	}
}
