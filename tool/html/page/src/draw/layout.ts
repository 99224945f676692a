// SPDX-License-Identifier: MIT
//
// What stands where from top to bottom: processes, their lanes, their threads, and the rows of these. Lengths are CSS
// pixels. A thread that is folded shows its upper rows squeezed into its own line; a process that is folded, nothing.

import { LaneKind, Mark, Trace } from '../data/model';

export interface Item {
	kind: 'process' | 'lane' | 'track' | 'calls' | 'rest';
	y: number;
	h: number;
	process: number;
	track: number;
	row: number;
	lane: LaneKind;
}

export const ROW = 17;
const PROCESS = 26;
const THREAD = 24;
const LANE = 16;
export const SQUEEZED = 6; // So many rows of a folded thread.
const LANES: LaneKind[] = ['mark', 'request', 'event', 'load'];

export class Layout {
	items: Item[] = [];
	height = 0;
	readonly folded = new Set<string>();
	private lanes: Map<string, Mark[]> = new Map();

	// Of one track only, where that is named: then without lines of names.
	constructor(
		private readonly trace: Trace,
		private readonly only = -1,
	) {
		// Of many threads the first ones are open.
		let rows = 0;
		trace.processes.forEach((p, i) => {
			for (const t of p.tracks) {
				if (rows > 160) this.folded.add('t' + t);
				rows += trace.tracks[t].rows.length;
			}
			if (i >= 12 && p.tracks.length === 0) this.folded.add('p' + i);
		});
		this.make();
	}

	setMarks(marks: Mark[]): void {
		this.lanes = new Map();
		for (const m of marks) {
			const key = m.process + m.kind;
			const list = this.lanes.get(key);
			if (list) list.push(m);
			else this.lanes.set(key, [m]);
		}
		for (const list of this.lanes.values()) list.sort((a, b) => a.at - b.at);
		this.make();
	}

	marksOf(item: Item): Mark[] {
		return this.lanes.get(item.process + item.lane) ?? [];
	}

	toggle(key: string): void {
		if (!this.folded.delete(key)) this.folded.add(key);
		this.make();
	}

	// All threads at once, and their processes.
	foldAll(fold: boolean): void {
		this.folded.clear();
		if (fold) this.trace.tracks.forEach((_, t) => this.folded.add('t' + t));
		this.make();
	}

	unfold(track: number): void {
		const a = this.folded.delete('t' + track);
		const b = this.folded.delete('p' + this.trace.tracks[track].process);
		if (a || b) this.make();
	}

	make(): void {
		const items: Item[] = [];
		let y = 0;
		const add = (
			kind: Item['kind'],
			h: number,
			process: number,
			track = -1,
			row = -1,
			lane: LaneKind = 'mark',
		) => {
			items.push({ kind, y, h, process, track, row, lane });
			y += h;
		};
		if (this.only >= 0) {
			for (const r of this.trace.tracks[this.only].rows)
				add('calls', ROW + 2, this.trace.tracks[this.only].process, this.only, r);
			this.items = items;
			this.height = y;
			return;
		}
		this.trace.processes.forEach((p, i) => {
			add('process', PROCESS, i);
			if (this.folded.has('p' + i)) return;
			for (const lane of LANES) if (this.lanes.has(i + lane)) add('lane', LANE, i, -1, -1, lane);
			for (const t of p.tracks) {
				add('track', THREAD, i, t);
				if (this.folded.has('t' + t)) continue;
				for (const r of this.trace.tracks[t].rows) add('calls', ROW, i, t, r);
			}
		});
		if (this.trace.rest) add('rest', THREAD, -1, -1, this.trace.rest.row);
		this.items = items;
		this.height = y + 8;
	}

	// The first item whose end is below y.
	first(y: number): number {
		let low = 0;
		let high = this.items.length;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (this.items[mid].y + this.items[mid].h <= y) low = mid + 1;
			else high = mid;
		}
		return low;
	}

	at(y: number): Item | null {
		const item = this.items[this.first(y)];
		return item && y >= item.y ? item : null;
	}

	ofRow(row: number): Item | null {
		return this.items.find(i => i.row === row) ?? null;
	}

	ofTrack(track: number): Item | null {
		return this.items.find(i => i.kind === 'track' && i.track === track) ?? null;
	}
}
