// SPDX-License-Identifier: MIT
//
// The ruler over the timeline, and over that the overview: the whole trace, and which part of it is in view.

import { Rates, Trace } from '../data/model';
import { exact, niceStep, timeBy } from '../data/units';
import { css, Theme } from './colours';
import { FONT } from './paint';
import { View } from './view';

export function ticksOf(view: View, cssWidth: number): { step: number; ticks: number[] } {
	const step = niceStep(((view.to - view.from) * 105) / Math.max(60, cssWidth));
	const ticks: number[] = [];
	for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) ticks.push(i * step);
	return { step, ticks };
}

export function size(canvas: HTMLCanvasElement, w: number, h: number, ratio: number): CanvasRenderingContext2D | null {
	const [pw, ph] = [Math.max(1, Math.round(w * ratio)), Math.max(1, Math.round(h * ratio))];
	if (canvas.width !== pw || canvas.height !== ph) {
		canvas.width = pw;
		canvas.height = ph;
	}
	const g = canvas.getContext('2d');
	g?.setTransform(ratio, 0, 0, ratio, 0, 0);
	return g;
}

// Times are told from the first tick on where their own digits would not fit.
export function drawRuler(
	canvas: HTMLCanvasElement,
	view: View,
	trace: Trace,
	look: Theme,
	w: number,
	ratio: number,
	ticks: number[],
	step: number,
): void {
	const h = 26;
	const g = size(canvas, w, h, ratio);
	if (!g) return;
	g.fillStyle = css(look.back);
	g.fillRect(0, 0, w, h);
	const scale = w / (view.to - view.from);
	g.fillStyle = css(look.accent);
	for (const win of trace.windows)
		if (win.from < view.to && win.to > view.from) {
			const x = Math.max(0, (win.from - view.from) * scale);
			g.fillRect(x, h - 4, Math.max(2, Math.min(w, (win.to - view.from) * scale) - x), 3);
		}
	g.font = `11px ${FONT}`;
	g.textBaseline = 'top';
	const long = view.to / step > 1e5;
	const base = long ? Math.floor(view.from / (1000 * step)) * 1000 * step : 0;
	let room = 0;
	if (long) {
		g.fillStyle = look.text;
		const text = exact(base);
		g.fillText(text, 4, 5);
		room = g.measureText(text).width + 14;
	}
	for (const t of ticks) {
		const x = (t - view.from) * scale;
		g.fillStyle = css(look.line);
		g.fillRect(Math.round(x), h - 9, 1, 9);
		const text = long ? '+' + timeBy(t - base, step) : timeBy(t, step);
		const wide = g.measureText(text).width;
		if (x + 4 >= room && x + 4 + wide <= w) {
			g.fillStyle = look.faint;
			g.fillText(text, x + 4, 5);
			room = x + 4 + wide + 8;
		}
	}
	g.fillStyle = css(look.line);
	g.fillRect(0, h - 1, w, 1);
}

// How busy each pixel's time is: by the rates, or by the first rows of the coarsest tile.
function busy(trace: Trace, rates: Rates | null, w: number): Float64Array | null {
	const out = new Float64Array(w);
	const px = (trace.to - trace.from) / w;
	if (rates) {
		for (let x = 0; x < w; x++) {
			const t = trace.from - rates.from + x * px;
			const a = Math.floor(t / rates.column);
			const b = Math.max(a + 1, Math.ceil((t + px) / rates.column));
			for (let c = a; c < b && c < rates.all.length; c++) out[x] = Math.max(out[x], rates.all[c]);
		}
	} else {
		const tile = trace.peek(0, 0);
		if (!tile) return null;
		for (const track of trace.tracks) {
			const runs = track.rows.length > 0 ? tile.row(track.rows[0]) : null;
			for (let i = 0, begin = 0; runs && i < runs.n; begin = runs.end[i++])
				if (runs.value[i]) {
					const a = Math.max(
						0,
						Math.floor((tile.from + begin * tile.column - trace.from) / px),
					);
					const b = Math.min(
						w,
						Math.ceil((tile.from + runs.end[i] * tile.column - trace.from) / px),
					);
					for (let x = a; x < b; x++) out[x] += runs.form[i] === 2 ? 0.2 : 1;
				}
		}
	}
	const most = out.reduce((m, v) => Math.max(m, v), 0);
	return most > 0 ? out.map(v => Math.sqrt(v / most)) : null;
}

export class Overview {
	rates: Rates | null = null;
	private shape: Float64Array | null = null;
	private shapeWidth = 0;

	constructor(
		readonly canvas: HTMLCanvasElement,
		private readonly trace: Trace,
		private readonly view: View,
	) {
		let grabbed = 0;
		let from = 0;
		const at = (e: PointerEvent) => {
			const box = canvas.getBoundingClientRect();
			return trace.from + ((e.clientX - box.left) / box.width) * (trace.to - trace.from);
		};
		canvas.addEventListener('pointerdown', e => {
			canvas.setPointerCapture(e.pointerId);
			from = at(e);
			grabbed =
				from >= view.from && from <= view.to && view.to - view.from < view.span * 0.98 ? 1 : 2;
			e.preventDefault();
		});
		canvas.addEventListener('pointermove', e => {
			const t = at(e);
			if (grabbed === 1) {
				view.pan(t - from, false);
				from = t;
			} else if (grabbed === 2 && Math.abs(t - from) > view.span / 300) {
				view.set(Math.min(t, from), Math.max(t, from));
			}
		});
		canvas.addEventListener('pointerup', e => {
			const t = at(e);
			const wide = view.to - view.from;
			if (grabbed === 2 && Math.abs(t - from) <= view.span / 300)
				view.move(t - wide / 2, t + wide / 2);
			grabbed = 0;
		});
		canvas.addEventListener('pointercancel', () => (grabbed = 0));
	}

	setRates(rates: Rates | null): void {
		this.rates = rates;
		this.shape = null;
	}

	draw(look: Theme, w: number, ratio: number): void {
		const h = 30;
		const { trace, view } = this;
		const g = size(this.canvas, w, h, ratio);
		if (!g) return;
		if (!this.shape || this.shapeWidth !== Math.ceil(w)) {
			this.shapeWidth = Math.ceil(w);
			this.shape = busy(trace, this.rates, this.shapeWidth);
		}
		g.fillStyle = css(look.band);
		g.fillRect(0, 0, w, h);
		g.fillStyle = look.dark ? '#55749c' : '#9db7dd';
		this.shape?.forEach((v, x) => g.fillRect(x, h - 2 - v * (h - 8), 1, v * (h - 8)));
		const scale = w / (trace.to - trace.from);
		g.fillStyle = css(look.mark.mark);
		for (const m of trace.marks)
			if (m.kind === 'mark')
				g.fillRect((m.at - trace.from) * scale, 1, Math.max(1.5, m.lasts * scale), 4);
		const [a, b] = [(view.from - trace.from) * scale, (view.to - trace.from) * scale];
		g.fillStyle = look.dark ? 'rgb(10 12 16 / 60%)' : 'rgb(235 238 243 / 72%)';
		g.fillRect(0, 0, a, h);
		g.fillRect(b, 0, w - b, h);
		g.strokeStyle = css(look.accent);
		g.lineWidth = 1.5;
		g.strokeRect(Math.max(0.75, a), 0.75, Math.max(2, Math.min(w, b) - Math.max(0, a) - 1.5), h - 1.5);
	}
}
