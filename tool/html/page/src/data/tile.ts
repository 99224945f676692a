// SPDX-License-Identifier: MIT
//
// A tile of the pyramid: 2048 columns of all rows, as runs.

import { Table, Numbers } from './container';
import { Runs, Tile } from './model';

export class PackedTile implements Tile {
	private readonly place = new Map<number, [number, number]>();
	private readonly known = new Map<number, Runs>();
	private readonly value: Numbers;
	private readonly form: Numbers;
	readonly bytes: number;

	constructor(
		tables: Table[],
		readonly from: number,
		readonly column: number,
	) {
		const [rows, runs] = tables[0].columns;
		[this.value, this.form] = tables[1].columns;
		for (let i = 0, at = 0; i < tables[0].n; i++) {
			this.place.set(rows[i], [at, runs[i]]);
			at += runs[i];
		}
		// What rows take when they were looked at comes to this.
		this.bytes = this.value.byteLength + this.form.byteLength + 7 * tables[1].n;
	}

	row(index: number): Runs | null {
		const known = this.known.get(index);
		if (known) return known;
		const place = this.place.get(index);
		if (!place) return null;
		const [at, n] = place;
		const runs: Runs = { n, end: new Uint16Array(n), value: new Uint32Array(n), form: new Uint8Array(n) };
		for (let i = 0, column = 0; i < n; i++) {
			const form = this.form[at + i];
			column += (form & 2047) + 1;
			runs.end[i] = column;
			runs.value[i] = this.value[at + i];
			runs.form[i] = form >> 11;
		}
		this.known.set(index, runs);
		return runs;
	}
}
