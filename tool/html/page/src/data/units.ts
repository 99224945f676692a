// SPDX-License-Identifier: MIT
//
// Numbers and times as people read them. Times are nanoseconds.

const UNITS: [number, string][] = [
	[1e9, 's'],
	[1e6, 'ms'],
	[1e3, 'us'],
	[1, 'ns'],
];

// Digits behind the point, so that about three or four count.
function digits(value: number): number {
	const a = Math.abs(value);
	return a >= 100 ? 1 : a >= 10 ? 2 : 3;
}

// 1234 is "1.234 us".
export function time(ns: number | null | undefined): string {
	if (ns === null || ns === undefined || !Number.isFinite(ns)) return '-';
	const a = Math.abs(ns);
	for (const [size, name] of UNITS)
		if (a >= size || size === 1) {
			const value = ns / size;
			return (size === 1 ? String(Math.round(value)) : value.toFixed(digits(value))) + ' ' + name;
		}
	return '0 ns';
}

// The same by one unit's size and so many digits: labels of an axis.
export function timeBy(ns: number, step: number): string {
	const a = Math.max(Math.abs(ns), step);
	for (const [size, name] of UNITS)
		if (a >= size) {
			const behind = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / size) + 1e-9)));
			return (ns / size).toFixed(behind) + ' ' + name;
		}
	return ns.toFixed(0) + ' ns';
}

// An exact time with all its digits, as one sees it where a moment is named.
export function exact(ns: number): string {
	const whole = Math.round(ns);
	return whole >= 1e9
		? (whole / 1e9).toFixed(9) + ' s'
		: whole >= 1e6
			? (whole / 1e6).toFixed(6) + ' ms'
			: whole >= 1e3
				? (whole / 1e3).toFixed(3) + ' us'
				: whole + ' ns';
}

// 1234567 is "1 234 567", with thin spaces that do not break.
export function count(n: number | null | undefined): string {
	if (n === null || n === undefined) return '-';
	return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

export function share(part: number, whole: number): string {
	return whole > 0 ? ((100 * part) / whole).toFixed(1) + ' %' : '-';
}

// 1234567 is "1.2 M": labels of an axis.
export function brief(n: number): string {
	const a = Math.abs(n);
	const [size, name] = a >= 1e9 ? [1e9, 'G'] : a >= 1e6 ? [1e6, 'M'] : a >= 1e3 ? [1e3, 'k'] : [1, ''];
	return +(n / size).toFixed(a / size < 10 && size > 1 ? 1 : 0) + (name && '\u202f' + name);
}

// The step of an axis: 1, 2 or 5 times a power of ten, at least `least`.
export function niceStep(least: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
	for (const f of [1, 2, 5, 10]) if (f * power >= least * (1 - 1e-9)) return Math.max(1, f * power);
	return Math.max(1, 10 * power);
}

// What somebody typed: 10ms, 3 us, 1.5s, 200; null where it is no time.
export function parseTime(text: string): number | null {
	const m = /^\s*([0-9]+(?:\.[0-9]*)?)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
	if (!m) return null;
	const unit = m[2] === 'µs' ? 'us' : (m[2] ?? 'ns');
	return Number(m[1]) * (UNITS.find(u => u[1] === unit)?.[0] ?? 1);
}
