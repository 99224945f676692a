// SPDX-License-Identifier: MIT
//
// A window: calls one by one, with their values. They come by tracks, and are wanted by rows.

import { Table } from './container';
import { Calls, OnCpu, Piece, Track, Win } from './model';

const LOOSE = 128;

// Of each eight calls, and then of each eight of these, the longest: what is drawn where they are narrower than pixels.
function longest(lasts: Float64Array): Uint32Array[] {
	const levels: Uint32Array[] = [];
	let n = lasts.length;
	let below: Uint32Array | null = null;
	while (n > 64) {
		const m = Math.ceil(n / 8);
		const level = new Uint32Array(m);
		for (let i = 0; i < m; i++) {
			let best = below ? below[8 * i] : 8 * i;
			for (let j = 8 * i + 1; j < Math.min(n, 8 * i + 8); j++) {
				const other = below ? below[j] : j;
				if (lasts[other] > lasts[best]) best = other;
			}
			level[i] = best;
		}
		levels.push(level);
		below = level;
		n = m;
	}
	return levels;
}

function room(n: number): Calls {
	return {
		n: 0,
		start: new Float64Array(n),
		lasts: new Float64Array(n),
		self: new Float64Array(n),
		cpu: new Float64Array(n),
		fn: new Uint32Array(n),
		how: new Uint8Array(n),
		text: new Uint32Array(n),
		request: new Uint32Array(n),
		levels: [],
	};
}

// Those of two segments, one behind the other.
function joined(a: OnCpu | undefined, b: OnCpu): OnCpu {
	if (!a) return b;
	const n = a.n + b.n;
	const both = { n, start: new Float64Array(n), lasts: new Float64Array(n), known: new Uint8Array(n) };
	for (const key of ['start', 'lasts', 'known'] as const) {
		both[key].set(a[key]);
		both[key].set(b[key], a.n);
	}
	return both;
}

function cut(calls: Calls): Calls {
	const { n } = calls;
	if (n === calls.start.length) return calls;
	return {
		n,
		start: calls.start.slice(0, n),
		lasts: calls.lasts.slice(0, n),
		self: calls.self.slice(0, n),
		cpu: calls.cpu.slice(0, n),
		fn: calls.fn.slice(0, n),
		how: calls.how.slice(0, n),
		text: calls.text.slice(0, n),
		request: calls.request.slice(0, n),
		levels: [],
	};
}

export class PackedWindow implements Win {
	private readonly byRow = new Map<number, Calls>();
	private readonly cpus = new Map<number, OnCpu>();
	private readonly parts = new Map<number, Piece[]>();
	private readonly raw: Uint8Array;
	private readonly ends: Uint32Array;
	readonly bytes: number;

	constructor(tables: Table[], tracks: Track[], loose: Map<number, number>) {
		const [segments, calls, cpu, texts] = tables;
		const raw = texts.columns[0] ?? [];
		this.raw = raw instanceof Uint8Array ? raw : Uint8Array.from(raw);
		const ends: number[] = [];
		for (let i = this.raw.indexOf(0); i >= 0; i = this.raw.indexOf(0, i + 1)) ends.push(i);
		this.ends = Uint32Array.from(ends);
		const [track, what, from, to, base, count] = segments.columns;
		// How many calls each row has.
		const rowOf = new Int32Array(calls.n).fill(-1);
		const many = new Map<number, number>();
		const [, , depth, , how] = calls.columns;
		for (let s = 0, call = 0; s < segments.n; s++) {
			const rows = tracks[track[s]]?.rows ?? [];
			const beside = loose.get(track[s]) ?? -1;
			for (const end = call + (what[s] === 0 ? count[s] : 0); call < end; call++) {
				const row = how[call] & LOOSE ? beside : (rows[depth[call]] ?? -1);
				rowOf[call] = row;
				if (row >= 0) many.set(row, (many.get(row) ?? 0) + 1);
			}
		}
		for (const [row, n] of many) this.byRow.set(row, room(n));
		for (let s = 0, call = 0, time = 0; s < segments.n; s++) {
			const t = tracks[track[s]];
			if (what[s] === 0) {
				this.take(calls, rowOf, call, call + count[s], base[s]);
				call += count[s];
				for (const row of t?.rows ?? []) this.piece(row, { from: from[s], to: to[s] });
			} else {
				if (t && t.cpu >= 0) {
					this.cpus.set(
						t.cpu,
						joined(this.cpus.get(t.cpu), this.times(cpu, time, count[s], base[s])),
					);
					this.piece(t.cpu, { from: from[s], to: to[s] });
				}
				time += count[s];
			}
		}
		for (const [row, list] of this.byRow) {
			const whole = cut(list);
			whole.levels = longest(whole.lasts);
			this.byRow.set(row, whole);
		}
		this.bytes = calls.n * 46 + this.raw.length + cpu.n * 17;
	}

	private take(calls: Table, rowOf: Int32Array, first: number, end: number, base: number): void {
		const [delta, lasts, , fn, how, text, request, cpu, self] = calls.columns;
		let at = base;
		for (let call = first; call < end; call++) {
			at += delta[call];
			const list = rowOf[call] >= 0 ? this.byRow.get(rowOf[call]) : undefined;
			// Two segments of a thread may both have a call that is open in both.
			if (!list || (list.n > 0 && at <= list.start[list.n - 1])) continue;
			const i = list.n++;
			list.start[i] = at;
			list.lasts[i] = lasts[call];
			list.fn[i] = fn[call];
			list.how[i] = how[call] & ~LOOSE;
			list.text[i] = text[call];
			list.request[i] = request[call];
			list.cpu[i] = cpu[call] - 1;
			list.self[i] = self[call];
		}
	}

	private times(cpu: Table, first: number, n: number, base: number): OnCpu {
		const on = { n, start: new Float64Array(n), lasts: new Float64Array(n), known: new Uint8Array(n) };
		let at = base;
		for (let i = 0; i < n; i++) {
			at += cpu.columns[0][first + i];
			on.start[i] = at;
			on.lasts[i] = cpu.columns[1][first + i];
			on.known[i] = cpu.columns[2][first + i];
			at += on.lasts[i];
		}
		return on;
	}

	private piece(row: number, piece: Piece): void {
		const list = this.parts.get(row);
		if (list) list.push(piece);
		else this.parts.set(row, [piece]);
	}

	get rows(): number[] {
		return [...this.byRow.keys()];
	}

	calls(row: number): Calls | null {
		return this.byRow.get(row) ?? null;
	}

	cpu(row: number): OnCpu | null {
		return this.cpus.get(row) ?? null;
	}

	pieces(row: number): Piece[] {
		return this.parts.get(row) ?? [];
	}

	get texts(): number {
		return this.ends.length;
	}

	text(number: number): string {
		if (number < 1 || number > this.ends.length) return '';
		const begin = number === 1 ? 0 : this.ends[number - 2] + 1;
		return new TextDecoder().decode(this.raw.subarray(begin, this.ends[number - 1]));
	}
}

// The first of the sorted numbers that is not below x.
export function lower(sorted: ArrayLike<number>, x: number): number {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (sorted[mid] < x) low = mid + 1;
		else high = mid;
	}
	return low;
}
