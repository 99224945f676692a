// SPDX-License-Identifier: MIT
//
// The timeline's pixels. Each row is made once as a line of pixels, which is then copied as often as the row is high:
// that takes the same few milliseconds whatever the trace is. Text comes on top of it. Lengths are device pixels here,
// unless a name says css.

import { Calls, Mark, OnCpu, Row, Runs, Tile, Trace, Win, WindowInfo } from '../data/model';
import { isolated, last, short, visible, withValues } from '../data/names';
import { lower } from '../data/window';
import { blend, Palette, pixel, Theme } from './colours';
import { Item, Layout, SQUEEZED } from './layout';
import { eachMark } from './marks';
import { View } from './view';

interface Label {
	x0: number;
	x1: number;
	y: number;
	h: number;
	text: string;
	brief: string;
	faded: boolean;
	plain: boolean; // On the page's own background.
}

const MOST_LABELS = 1500;
const LEAST_WINDOW = 12; // CSS pixels: narrower windows are not fetched, nor those
const MOST_CALLS = 100; // that have more calls per pixel.

// Part of a window that is in view.
interface Shown {
	info: WindowInfo;
	win: Win;
}

export class Painter {
	private readonly context: CanvasRenderingContext2D;
	private image: ImageData | null = null;
	private buffer = new Uint32Array(0);
	private line = new Uint32Array(0);
	private blank = new Uint32Array(0);
	private labels: Label[] = [];
	private shown: Shown[] = [];
	private level = 0;
	private scale = 1;
	private readonly widths = new Map<string, number>();
	private cpuPixels = new Uint32Array(18);
	width = 0;
	height = 0;
	ratio = 1;
	colours!: Palette;
	look!: Theme;
	incomplete = false; // Something of this picture is still on its way.

	constructor(
		readonly canvas: HTMLCanvasElement,
		private readonly trace: Trace,
		private readonly view: View,
		private layout: Layout,
	) {
		const context = canvas.getContext('2d', { alpha: false });
		if (!context) throw new Error('this browser draws no canvas');
		this.context = context;
	}

	// The same canvas, with other rows.
	with(layout: Layout): this {
		this.layout = layout;
		return this;
	}

	resize(cssWidth: number, cssHeight: number, ratio: number): void {
		this.ratio = ratio;
		const w = Math.max(1, Math.round(cssWidth * ratio));
		const h = Math.max(1, Math.round(cssHeight * ratio));
		if (w === this.width && h === this.height && this.image) return;
		this.width = this.canvas.width = w;
		this.height = this.canvas.height = h;
		this.image = this.context.createImageData(w, h);
		this.buffer = new Uint32Array(this.image.data.buffer);
		this.line = new Uint32Array(w);
		this.blank = new Uint32Array(w);
		this.widths.clear();
	}

	dress(look: Theme, colours: Palette): void {
		this.look = look;
		this.colours = colours;
		this.cpuPixels = Uint32Array.from({ length: 18 }, (_, i) =>
			i === 0
				? pixel(look.line)
				: pixel(blend(look.back, look.cpu, i === 1 ? 0.08 : 0.2 + (0.8 * (i - 1)) / 16)),
		);
	}

	paint(top: number, ticks: number[]): void {
		const { view, trace, look } = this;
		if (!this.image) return;
		this.scale = this.width / (view.to - view.from);
		this.incomplete = false;
		this.labels = [];
		this.level = 0;
		while (this.level < trace.levels - 1 && trace.column(this.level) * this.scale > 1) this.level++;
		this.shown = [];
		for (const info of trace.windows) {
			const wide = (info.to - info.from) * this.scale;
			// Where many calls share a pixel, tiles show the same.
			if (info.from >= view.to || info.to <= view.from || wide < LEAST_WINDOW * this.ratio) continue;
			if (info.calls > wide * MOST_CALLS) continue;
			const win = trace.win(info.id);
			if (win) this.shown.push({ info, win });
			else if (win === undefined) this.incomplete = true;
		}
		const back = pixel(look.back);
		this.blank.fill(back);
		const tick = pixel(look.line);
		for (const t of ticks) {
			const x = Math.round((t - view.from) * this.scale);
			if (x >= 0 && x < this.width) this.blank[x] = tick;
		}
		const { items } = this.layout;
		const bottom = top + this.height / this.ratio;
		let end = 0;
		for (let i = this.layout.first(top); i < items.length && items[i].y < bottom; i++) {
			const item = items[i];
			const y0 = Math.round((item.y - top) * this.ratio);
			const y1 = Math.round((item.y + item.h - top) * this.ratio);
			this.item(item, y0, y1);
			end = y1;
		}
		this.copy(end, this.height, this.blank);
		this.context.putImageData(this.image, 0, 0);
		this.writeLabels();
	}

	private copy(y0: number, y1: number, line: Uint32Array): void {
		for (let y = Math.max(0, y0); y < Math.min(this.height, y1); y++) this.buffer.set(line, y * this.width);
	}

	private item(item: Item, y0: number, y1: number): void {
		const thin = Math.max(1, Math.round(this.ratio));
		if (item.kind === 'process') {
			const band = pixel(this.look.band);
			this.copy(y0, y1, this.line.fill(band));
			this.copy(y1 - thin, y1, this.line.fill(pixel(this.look.line)));
			if (this.layout.folded.has('p' + item.process))
				this.squeeze(
					this.trace.processes[item.process].tracks.map(
						t => this.trace.tracks[t].rows[0],
					),
					y0 + 3 * thin,
					y1 - 3 * thin,
				);
		} else if (item.kind === 'track') {
			const track = this.trace.tracks[item.track];
			this.copy(y0, y1, this.blank);
			this.copy(y0, y0 + thin, this.line.fill(pixel(this.look.line)));
			const high = Math.round(5 * this.ratio);
			if (track.cpu >= 0) {
				this.cpuLine(track.cpu);
				this.copy(y1 - high - 2 * thin, y1 - 2 * thin, this.line);
			}
			if (this.layout.folded.has('t' + item.track))
				this.squeeze(track.rows, y0 + 2 * thin, y1 - (track.cpu >= 0 ? high + 3 : 2) * thin);
		} else if (item.kind === 'calls') {
			this.rowLine(item.row, y0, y1 - thin, false);
			this.copy(y0, y1 - thin, this.line);
			this.copy(y1 - thin, y1, this.blank);
		} else if (item.kind === 'lane') {
			this.copy(y0, y1, this.blank);
			this.laneLine(this.layout.marksOf(item), item, y0, y1);
			this.copy(y0 + 2 * thin, y1 - 2 * thin, this.line);
		} else {
			this.copy(y0, y0 + thin, this.line.fill(pixel(this.look.line)));
			this.restLine(item.row);
			this.copy(y0 + thin, y1, this.line);
		}
	}

	private squeeze(rows: number[], y0: number, y1: number): void {
		const some = rows.slice(0, SQUEEZED).filter(r => r !== undefined);
		const each = (y1 - y0) / Math.max(3, some.length);
		some.forEach((row, i) => {
			this.rowLine(row, 0, 0, true);
			this.copy(
				Math.round(y0 + i * each),
				Math.max(
					Math.round(y0 + (i + 1) * each) - (each > 3 ? 1 : 0),
					Math.round(y0 + i * each) + 1,
				),
				this.line,
			);
		});
	}

	// Calls each tile of the row that is in view: its own level, or, until that is there, a coarser one.
	private tiles(row: Row, each: (tile: Tile, from: number, to: number) => void): void {
		const { trace, view } = this;
		const level = Math.min(this.level, row.levels - 1);
		if (level < 0) return;
		const wide = trace.column(level) * trace.columns;
		const last = Math.min(2 ** level - 1, Math.floor((view.to - trace.origin) / wide));
		for (let k = Math.max(0, Math.floor((view.from - trace.origin) / wide)); k <= last; k++) {
			const from = trace.origin + k * wide;
			let tile = trace.tile(level, k);
			if (tile === undefined) this.incomplete = true;
			for (let l = level - 1; tile === undefined && l >= 0; l--)
				tile = trace.peek(l, k >> (level - l));
			if (tile) each(tile, Math.max(from, view.from), Math.min(from + wide, view.to));
		}
	}

	// Runs of a tile between two times, with their pixels.
	private runs(
		tile: Tile,
		runs: Runs,
		from: number,
		to: number,
		each: (x0: number, x1: number, value: number, form: number) => void,
	): void {
		const { view, scale } = this;
		const last = (to - tile.from) / tile.column;
		for (let i = lower(runs.end, Math.floor((from - tile.from) / tile.column) + 1); i < runs.n; i++) {
			const begin = i > 0 ? runs.end[i - 1] : 0;
			if (begin >= last) break;
			if (runs.value[i] === 0) continue;
			const a = Math.max(from, tile.from + begin * tile.column);
			const b = Math.min(to, tile.from + runs.end[i] * tile.column);
			each(
				Math.floor((a - view.from) * scale),
				Math.floor((b - view.from) * scale),
				runs.value[i],
				runs.form[i],
			);
		}
	}

	private rowLine(index: number, y: number, end: number, squeezed: boolean): void {
		const { line, blank, width } = this;
		line.set(blank);
		const row = this.trace.rows[index];
		if (!row) return;
		const own = this.labels.length;
		const covered = this.shown.some(s =>
			s.win.pieces(index).some(p => p.from <= this.view.from && p.to >= this.view.to),
		);
		if (!covered) this.tileLine(index, row, y, end, squeezed);
		for (const { win } of this.shown)
			for (const piece of win.pieces(index)) {
				const x0 = Math.max(0, Math.floor((piece.from - this.view.from) * this.scale));
				const x1 = Math.min(width, Math.ceil((piece.to - this.view.from) * this.scale));
				if (x1 <= x0) continue;
				for (let x = x0; x < x1; x++) line[x] = blank[x];
				if (!squeezed)
					this.labels.push(
						...this.labels.splice(own).filter(l => l.x1 <= x0 || l.x0 >= x1),
					);
				const calls = win.calls(index);
				if (calls) this.callLine(win, calls, x0, x1, y, end, squeezed);
			}
	}

	private tileLine(index: number, row: Row, y: number, end: number, squeezed: boolean): void {
		const { line, blank, colours, width } = this;
		const step = Math.max(1, Math.round(this.ratio));
		// One call may lie in several tiles.
		let openFn = -1;
		let openX0 = 0;
		let openX1 = 0;
		const close = () => {
			if (openFn >= 0) {
				this.bar(openX0, openX1, openFn, 1);
				if (!squeezed) this.label(openX0, openX1, y, end, openFn, '');
			}
			openFn = -1;
		};
		this.tiles(row, (tile, from, to) => {
			const runs = tile.row(index);
			if (!runs) return;
			this.runs(tile, runs, from, to, (x0, x1, value, form) => {
				const fn = value - 1;
				if (form === 0 && x1 > x0) {
					if (fn === openFn && x0 <= openX1) {
						openX1 = x1;
						return;
					}
					close();
					openFn = fn;
					openX0 = x0;
					openX1 = x1;
					return;
				}
				close();
				if (fn >= colours.whole.length) return;
				const many = form === 2 ? colours.gap[fn] : colours.many[fn];
				const gap = form === 2 ? 0 : colours.gap[fn];
				if (x1 <= x0) {
					if (x0 >= 0 && x0 < width && line[x0] === blank[x0]) line[x0] = many;
					return;
				}
				// Stripes say that these are many.
				for (let x = Math.max(0, x0); x < Math.min(width, x1); x++)
					line[x] = Math.floor(x / step) % 3 === 0 ? gap || blank[x] : many;
			});
		});
		close();
	}

	private bar(x0: number, x1: number, fn: number, edge: number): void {
		const { line, colours, width } = this;
		const a = Math.max(0, x0);
		const b = Math.min(width, x1);
		if (b <= a || fn >= colours.whole.length) return;
		line.fill(colours.whole[fn], a, b);
		if (edge && x1 <= width && x1 - x0 > 2) line[x1 - 1] = colours.edge[fn];
	}

	private callLine(
		win: Win,
		calls: Calls,
		x0: number,
		x1: number,
		y: number,
		end: number,
		squeezed: boolean,
	): void {
		const { view, scale, line, blank, colours } = this;
		const i0 = Math.max(0, lower(calls.start, view.from + x0 / scale) - 1);
		const i1 = lower(calls.start, view.from + x1 / scale);
		let level = 0;
		let n = i1 - i0;
		while (n > 2 * (x1 - x0) && level < calls.levels.length) {
			level++;
			n /= 8;
		}
		const chosen = level ? calls.levels[level - 1] : null;
		const f = 8 ** level;
		const j1 = chosen ? Math.min(chosen.length, Math.ceil(i1 / f)) : i1;
		for (let j = Math.floor(i0 / f); j < j1; j++) {
			const i = chosen ? chosen[j] : j;
			const fn = calls.fn[i];
			const left = Math.floor((calls.start[i] - view.from) * scale);
			const right = Math.floor((calls.start[i] + calls.lasts[i] - view.from) * scale);
			if (right < x0 || left >= x1) continue;
			if (right <= left) {
				if (left >= x0 && line[left] === blank[left] && fn < colours.many.length)
					line[left] = colours.many[fn];
				continue;
			}
			this.bar(Math.max(left, x0), Math.min(right, x1), fn, right < x1 ? 1 : 0);
			if (!squeezed)
				this.label(
					Math.max(left, x0),
					Math.min(right, x1),
					y,
					end,
					fn,
					calls.text[i] && right - left > 150 * this.ratio ? win.text(calls.text[i]) : '',
				);
		}
	}

	private label(x0: number, x1: number, y: number, end: number, fn: number, values: string): void {
		const a = Math.max(0, x0);
		const b = Math.min(this.width, x1);
		if (b - a < 26 * this.ratio || this.labels.length >= MOST_LABELS || !this.trace.fns[fn]) return;
		const name = this.trace.fns[fn].name;
		this.labels.push({
			x0: a,
			x1: b,
			y,
			h: end - y,
			text: values ? withValues(name, isolated(values)) : name,
			brief: short(name),
			faded: this.colours.faded[fn] === 1,
			plain: false,
		});
	}

	private cpuLine(index: number): void {
		const { line, blank, width, cpuPixels } = this;
		line.set(blank);
		this.tiles(this.trace.rows[index], (tile, from, to) => {
			const runs = tile.row(index);
			if (runs)
				this.runs(tile, runs, from, to, (x0, x1, value) =>
					line.fill(
						cpuPixels[Math.min(value, 17)],
						Math.max(0, x0),
						Math.min(width, Math.max(x1, x0 + 1)),
					),
				);
		});
		for (const { win } of this.shown) {
			const on = win.cpu(index);
			if (on && on.n > 0)
				for (const piece of win.pieces(index)) this.exactCpu(on, piece.from, piece.to);
		}
	}

	private exactCpu(on: OnCpu, from: number, to: number): void {
		const { line, view, scale, width, cpuPixels } = this;
		const a = Math.max(from, view.from);
		const b = Math.min(to, view.to);
		const px = (t: number) => Math.min(width, Math.max(0, Math.floor((t - view.from) * scale)));
		const first = Math.max(0, lower(on.start, a) - 1);
		const last = lower(on.start, b);
		// Where there are more times than pixels, the tiles say it as well.
		if (last - first > 2 * (px(b) - px(a))) return;
		line.fill(cpuPixels[1], px(a), px(b));
		for (let i = first; i < last; i++) {
			const end = on.start[i] + on.lasts[i];
			if (end >= a)
				line.fill(
					cpuPixels[on.known[i] === 2 ? 0 : 17],
					px(Math.max(on.start[i], a)),
					Math.max(px(Math.min(end, b)), px(Math.max(on.start[i], a)) + 1),
				);
		}
	}

	private restLine(index: number): void {
		const { line, blank, width, look, trace } = this;
		line.set(blank);
		const row = trace.rows[index];
		if (!row || !trace.rest) return;
		const most = 16 * Math.max(1, trace.rest.tracks);
		this.tiles(row, (tile, from, to) => {
			const runs = tile.row(index);
			if (runs)
				this.runs(tile, runs, from, to, (x0, x1, value) =>
					line.fill(
						pixel(
							blend(
								look.back,
								look.cpu,
								0.15 + 0.85 * Math.min(1, value / most),
							),
						),
						Math.max(0, x0),
						Math.min(width, Math.max(x1, x0 + 1)),
					),
				);
		});
	}

	private laneLine(marks: Mark[], item: Item, y0: number, y1: number): void {
		const { line, blank, view, scale, width, look } = this;
		line.set(blank);
		const colour = look.mark[item.lane];
		const [solid, soft] = [pixel(colour), pixel(blend(colour, look.back, 0.72))];
		const tick = Math.max(1, Math.round(1.5 * this.ratio));
		let pendingX = 0;
		let pending: Mark | null = null;
		const flush = (until: number) => {
			if (pending && until - pendingX > 40 * this.ratio && this.labels.length < MOST_LABELS) {
				const text = pending.text;
				this.labels.push({
					x0: pendingX,
					x1: until,
					y: y0,
					h: y1 - y0,
					text,
					brief: text,
					faded: false,
					plain: true,
				});
			}
		};
		let lastX = -1;
		eachMark(marks, view.from, view.to, 1 / scale, m => {
			const x = Math.floor((m.at - view.from) * scale);
			const e = Math.floor((m.at + m.lasts - view.from) * scale);
			if (e < 0 || (x === lastX && e - x < 2)) return;
			lastX = x;
			if (e - x >= 2) line.fill(soft, Math.max(0, x), Math.min(width, e));
			if (x >= 0) line.fill(solid, x, Math.min(width, x + tick));
			if (x >= 0 || e > 40 * this.ratio) {
				flush(Math.max(0, x));
				pending = m;
				pendingX = Math.max(0, x) + tick;
			}
		});
		flush(width);
	}

	private measure(text: string): number {
		let w = this.widths.get(text);
		if (w === undefined) {
			if (this.widths.size > 20000) this.widths.clear();
			w = this.context.measureText(text).width;
			this.widths.set(text, w);
		}
		return w;
	}

	// What of the text has room: all, the brief name, its last part, or the beginning of that.
	private fit(label: Label, room: number): string {
		if (label.text.length < 400 && this.measure(label.text) <= room) return label.text;
		const end = label.plain ? label.brief : last(label.brief, t => this.measure(t) <= room);
		const wide = this.measure(end);
		if (wide <= room) return end;
		const n = Math.floor(((end.length * (room - 8 * this.ratio)) / wide) * 0.95);
		return n >= 2 ? end.slice(0, n) + '…' : '';
	}

	private writeLabels(): void {
		const g = this.context;
		const size = Math.round(11 * this.ratio);
		g.font = `${size}px ${FONT}`;
		g.textBaseline = 'alphabetic';
		g.textAlign = 'left';
		const pad = Math.round(4 * this.ratio);
		for (const l of this.labels) {
			const text = this.fit(l, l.x1 - l.x0 - 2 * pad + this.ratio);
			if (!text) continue;
			g.fillStyle = l.plain || l.faded ? this.look.faint : this.look.label;
			g.fillText(text, l.x0 + pad, l.y + Math.round((l.h + size * 0.72) / 2));
		}
	}

	// A frame around a call that is selected or hovered.
	frame(from: number, to: number, yCss: number, hCss: number, strong: boolean): void {
		const g = this.context;
		const wide = (strong ? 2 : 1) * this.ratio;
		const x0 = Math.max(-4, (from - this.view.from) * this.scale);
		const x1 = Math.min(this.width + 4, Math.max(x0 + 3, (to - this.view.from) * this.scale));
		g.strokeStyle = strong ? this.look.accentText : this.look.text;
		g.lineWidth = wide;
		g.strokeRect(
			x0 + wide / 2,
			yCss * this.ratio + wide / 2,
			x1 - x0 - wide,
			(hCss - 1) * this.ratio - wide,
		);
	}

	// A part of the time, from top to bottom.
	shade(from: number, to: number): void {
		const g = this.context;
		const { r, g: green, b } = this.look.accent;
		g.fillStyle = `rgb(${r} ${green} ${b} / 18%)`;
		const x0 = (from - this.view.from) * this.scale;
		g.fillRect(x0, 0, Math.max(1, (to - this.view.from) * this.scale - x0), this.height);
	}

	get visibleWindows(): Shown[] {
		return this.shown;
	}

	get levelShown(): number {
		return this.level;
	}

	text(win: Win, number: number): string {
		return visible(win.text(number));
	}
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
