// SPDX-License-Identifier: MIT
//
// Blocks of a page, as `xaudit html` writes them.
import { gzipSync } from 'node:zlib';

export function container(tables) {
	const parts = [];
	const words = (...list) => {
		const b = Buffer.alloc(4 * list.length);
		list.forEach((w, i) => b.writeUInt32LE(w, 4 * i));
		parts.push(b);
	};
	words(0x31484158, tables.length);
	for (const columns of tables) {
		const n = columns[0]?.length ?? 0;
		words(n, columns.length);
		for (const column of columns) {
			let most = 0;
			for (let i = 0; i < n; i++) most = Math.max(most, column[i]);
			let planes = 0;
			for (let size = 1; size <= most; size *= 256) planes++;
			words(planes);
			for (let p = 0, size = 1; p < planes; p++, size *= 256) {
				const b = Buffer.alloc(n);
				for (let i = 0; i < n; i++) b[i] = Math.floor(column[i] / size) % 256;
				parts.push(b);
			}
		}
	}
	return Buffer.concat(parts);
}

const safe = json => json.replace(/[<>&\u2028\u2029]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

export function page(template, head, blocks) {
	const mark = ['<!--', 'XAUDIT-DATA', '-->'].join('');
	const lines = [];
	head.blocks = [];
	for (const [name, bytes] of blocks) {
		const packed = gzipSync(bytes, { level: 6 });
		head.blocks.push([name, packed.length, bytes.length]);
		lines.push(
			`<script type="application/octet-stream" id="xaudit-${name}">` +
				`${packed.toString('base64')}</script>\n`,
		);
	}
	const text = safe(JSON.stringify(head));
	const all = `<script type="application/json" id="xaudit-head">${text}</script>\n${lines.join('')}`;
	return template.replace(mark, () => all);
}

export const sums = {
	lost: 0,
	unfinished: 0,
	off: 0,
	points: 0,
	counted: 0,
	orphans: 0,
	inherited: 0,
	overwritten: 0,
	customs: 0,
	custom_unfinished: 0,
	crashes: 0,
	signal: 0,
};

export function headOf(over) {
	return {
		format: 1,
		xaudit: '0.1.0',
		made_real_ns: '1790000000000000000',
		start_ns: '123456',
		start_real_ns: '1789999999000000000',
		range: [0, 1000000],
		filters: { pid: null, tid: null, from_ns: null, to_ns: null, around: null, values: true },
		info: {
			path: 'made.xaudit',
			command: '/usr/bin/known --trace',
			status: 'exit 0',
			version: '0.1.0',
			host: 'host',
			exe: '/usr/bin/made',
			coarse: 0,
			sched: false,
			notes: [],
			left: [],
			lost: [],
			sums,
		},
		totals: { calls: 0, functions: 0, tracks: 0, rows: 0, events: 0 },
		processes: [],
		tracks: [],
		rest: null,
		rows: [],
		pyramid: { columns: 2048, from: 0, width: 500, levels: 1 },
		windows: [],
		outliers: [],
		slowest: [],
		around: null,
		rates: null,
		blocks: [],
		...over,
	};
}
