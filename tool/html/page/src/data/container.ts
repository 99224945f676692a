// SPDX-License-Identifier: MIT
//
// The blocks of the page: <script> elements whose text is base64 of gzip, and the tables in them: numbers by planes of
// bytes (tool/html/head.h has the format).

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export interface Table {
	n: number;
	columns: Numbers[];
}

const MAGIC = 0x31484158;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
	const direct = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64;
	if (direct) return direct(base64);
	const binary = atob(base64);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

// The bytes of a block; null where the page has no such block.
export async function block(name: string): Promise<Uint8Array | null> {
	const element = document.getElementById('xaudit-' + name);
	if (!element) return null;
	const stream = new Blob([bytesOf((element.textContent ?? '').trim())]).stream();
	const inflated = stream.pipeThrough(new DecompressionStream('gzip'));
	return new Uint8Array(await new Response(inflated).arrayBuffer());
}

export async function jsonBlock<T>(name: string): Promise<T | null> {
	const bytes = await block(name);
	return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as T);
}

export async function tablesBlock(name: string): Promise<Table[] | null> {
	const bytes = await block(name);
	return bytes && tables(bytes, name);
}

// Whether processors here store the lowest byte of numbers first.
const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function numbers(bytes: Uint8Array, at: number, n: number, planes: number): Numbers {
	if (planes === 0) return new Uint8Array(n);
	if (planes === 1) return bytes.slice(at, at + n);
	if (planes <= 4 && LITTLE) {
		const wide = planes === 2 ? 2 : 4;
		const out = new Uint8Array(n * wide);
		for (let p = 0; p < planes; p++)
			for (let i = 0, from = at + p * n, to = p; i < n; i++, to += wide) out[to] = bytes[from + i];
		return wide === 2 ? new Uint16Array(out.buffer) : new Uint32Array(out.buffer);
	}
	const out = new Float64Array(n);
	let size = 1;
	for (let p = 0; p < planes; p++, size *= 256)
		for (let i = 0, from = at + p * n; i < n; i++) out[i] += bytes[from + i] * size;
	return out;
}

export function tables(bytes: Uint8Array, name: string): Table[] {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const bad = () => new Error(`block ${name} of this page is damaged`);
	if (bytes.length < 8 || view.getUint32(0, true) !== MAGIC) throw bad();
	const out: Table[] = [];
	let at = 8;
	const word = () => {
		if (at + 4 > bytes.length) throw bad();
		at += 4;
		return view.getUint32(at - 4, true);
	};
	for (let left = view.getUint32(4, true); left > 0; left--) {
		const n = word();
		const table: Table = { n, columns: [] };
		for (let c = word(); c > 0; c--) {
			const planes = word();
			if (planes > 8 || at + planes * n > bytes.length) throw bad();
			table.columns.push(numbers(bytes, at, n, planes));
			at += planes * n;
		}
		out.push(table);
	}
	return out;
}
