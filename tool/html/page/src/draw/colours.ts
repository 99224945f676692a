// SPDX-License-Identifier: MIT
//
// Colours of functions: the library chooses the hue, the function shifts it a little and its lightness. By OKLCH, in
// which equal lightness looks equally light: text is readable on each of them.

export interface Rgb {
	r: number;
	g: number;
	b: number;
}

export function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	h = Math.imul(h, 2246822519);
	return (h ^ (h >>> 13)) >>> 0;
}

// https://bottosson.github.io/posts/oklab/ has the numbers.
export function oklch(light: number, chroma: number, hue: number): Rgb {
	const a = chroma * Math.cos((hue * Math.PI) / 180);
	const b = chroma * Math.sin((hue * Math.PI) / 180);
	const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const byte = (x: number) => {
		const y = x <= 0.0031308 ? 12.92 * x : 1.055 * Math.max(x, 0) ** (1 / 2.4) - 0.055;
		return Math.round(255 * Math.min(1, Math.max(0, y)));
	};
	return {
		r: byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
		g: byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
		b: byte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
	};
}

// A pixel as ImageData keeps it, on processors that store the lowest byte first.
export function pixel(c: Rgb): number {
	return (0xff000000 | (c.b << 16) | (c.g << 8) | c.r) >>> 0;
}

export function css(c: Rgb): string {
	return `rgb(${c.r} ${c.g} ${c.b})`;
}

export function blend(a: Rgb, b: Rgb, part: number): Rgb {
	const mix = (x: number, y: number) => Math.round(x + (y - x) * part);
	return { r: mix(a.r, b.r), g: mix(a.g, b.g), b: mix(a.b, b.b) };
}

export interface Theme {
	dark: boolean;
	back: Rgb;
	band: Rgb; // Behind headers of processes.
	line: Rgb;
	text: string;
	faint: string;
	label: string; // Text on a function's colour.
	accent: Rgb;
	accentText: string;
	mark: Record<'load' | 'event' | 'request' | 'mark', Rgb>;
	cpu: Rgb;
}

export function theme(dark: boolean): Theme {
	const light = dark ? 0.72 : 0.58;
	const mark = {
		load: oklch(light, 0.15, 150),
		event: oklch(light, 0.15, 60),
		request: oklch(light, 0.13, 255),
		mark: oklch(light, 0.2, 25),
	};
	return dark
		? {
				dark,
				back: { r: 22, g: 24, b: 29 },
				band: { r: 30, g: 33, b: 40 },
				line: { r: 46, g: 50, b: 60 },
				text: '#e4e7ec',
				faint: '#9aa3b2',
				label: '#fbfcfe',
				accent: oklch(0.75, 0.14, 250),
				accentText: '#9cc6ff',
				mark,
				cpu: oklch(0.62, 0.11, 165),
			}
		: {
				dark,
				back: { r: 255, g: 255, b: 255 },
				band: { r: 245, g: 246, b: 249 },
				line: { r: 226, g: 229, b: 235 },
				text: '#1b1f27',
				faint: '#5d6675',
				label: '#14171d',
				accent: oklch(0.55, 0.19, 257),
				accentText: '#1557c0',
				mark,
				cpu: oklch(0.68, 0.12, 165),
			};
}

// spread: how far, in degrees, functions of one library may lie apart.
export function colour(library: string, name: string, dark: boolean, spread: number): Rgb {
	const l = hash(library);
	const f = hash(name);
	const hue = ((l % 360) + (f % spread) - spread / 2 + 360) % 360;
	const shift = ((f >>> 8) % 9) / 8;
	return dark
		? oklch(0.44 + 0.09 * shift, 0.105 + 0.025 * shift, hue)
		: oklch(0.78 + 0.085 * shift, 0.105 - 0.03 * shift, hue);
}

// Pixels of functions by index: whole calls, calls added up, and the dark edge at a call's end.
export interface Palette {
	whole: Uint32Array;
	many: Uint32Array;
	gap: Uint32Array;
	edge: Uint32Array;
	faded: Uint8Array;
	css: string[];
}

const known = new Map<string, Rgb[]>();

// Colours of all functions; made once for each of light and dark, since there may be 50 000.
function colours(fns: { library: string; name: string }[], dark: boolean): Rgb[] {
	const key = `${dark} ${fns.length}`;
	let made = known.get(key);
	if (!made) {
		// Where there are few libraries, functions differ more.
		const libraries = new Set(fns.map(f => f.library)).size;
		const spread = libraries <= 2 ? 360 : libraries <= 6 ? 150 : 60;
		made = fns.map(f => colour(f.library, f.name, dark, spread));
		known.set(key, made);
	}
	return made;
}

// Where functions are selected, the others fade.
export function palette(fns: { library: string; name: string }[], t: Theme, selected: Set<number> | null): Palette {
	const n = fns.length;
	const p: Palette = {
		whole: new Uint32Array(n),
		many: new Uint32Array(n),
		gap: new Uint32Array(n),
		edge: new Uint32Array(n),
		faded: new Uint8Array(n),
		css: new Array<string>(n),
	};
	const all = colours(fns, t.dark);
	const grey = t.dark ? { r: 52, g: 56, b: 64 } : { r: 226, g: 229, b: 233 };
	for (let i = 0; i < n; i++) {
		const faded = selected !== null && !selected.has(i);
		const own = all[i];
		const c = faded ? blend(own, grey, 0.66) : own;
		p.whole[i] = pixel(c);
		p.many[i] = pixel(blend(c, t.back, 0.2));
		p.gap[i] = pixel(blend(c, t.back, 0.62));
		p.edge[i] = pixel(blend(c, t.dark ? { r: 0, g: 0, b: 0 } : { r: 40, g: 44, b: 52 }, 0.38));
		p.faded[i] = faded ? 1 : 0;
		p.css[i] = css(c);
	}
	return p;
}
