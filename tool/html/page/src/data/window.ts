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

class List {
	index: number[] = [];
	start: number[] = [];
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
		const raw = texts.columns[0];
		this.raw = raw instanceof Uint8Array ? raw : Uint8Array.from(raw);
		const ends: number[] = [];
		for (let i = 0; i < this.raw.length; i++) if (this.raw[i] === 0) ends.push(i);
		this.ends = Uint32Array.from(ends);
		const [track, what, from, to, base, count] = segments.columns;
		const lists = new Map<number, List>();
		const [delta, lasts, depth, , how] = calls.columns;
		let call = 0;
		let time = 0;
		for (let s = 0; s < segments.n; s++) {
			const t = tracks[track[s]];
			if (what[s] === 0) {
				let at = base[s];
				for (const end = call + count[s]; call < end; call++) {
					at += delta[call];
					const row = how[call] & LOOSE ? loose.get(track[s]) : t?.rows[depth[call]];
					if (row === undefined) continue;
					let list = lists.get(row);
					if (!list) lists.set(row, (list = new List()));
					// Two segments of a thread may both have a call that is open in both.
					if (list.start.length > 0 && at <= list.start[list.start.length - 1]) continue;
					list.index.push(call);
					list.start.push(at);
				}
				for (const row of t?.rows ?? []) this.piece(row, { from: from[s], to: to[s] });
			} else {
				const n = count[s];
				const on = {
					n,
					start: new Float64Array(n),
					lasts: new Float64Array(n),
					known: new Uint8Array(n),
				};
				let at = base[s];
				for (let i = 0; i < n; i++, time++) {
					at += cpu.columns[0][time];
					on.start[i] = at;
					on.lasts[i] = cpu.columns[1][time];
					on.known[i] = cpu.columns[2][time];
					at += on.lasts[i];
				}
				if (t && t.cpu >= 0) {
					this.cpus.set(t.cpu, on);
					this.piece(t.cpu, { from: from[s], to: to[s] });
				}
			}
		}
		for (const [row, list] of lists) {
			const at = Uint32Array.from(list.index);
			const pick = (column: number) => Float64Array.from(at, i => calls.columns[column]?.[i] ?? 0);
			const self = pick(8);
			const onCpu = pick(7).map(x => x - 1);
			const length = Float64Array.from(at, i => lasts[i]);
			this.byRow.set(row, {
				n: at.length,
				start: Float64Array.from(list.start),
				lasts: length,
				self,
				cpu: onCpu,
				fn: Uint32Array.from(at, i => calls.columns[3][i]),
				how: Uint8Array.from(at, i => how[i] & ~LOOSE),
				text: Uint32Array.from(at, i => calls.columns[5][i]),
				request: Uint32Array.from(at, i => calls.columns[6][i]),
				levels: longest(length),
			});
		}
		this.bytes = calls.n * 46 + this.raw.length + cpu.n * 17;
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
