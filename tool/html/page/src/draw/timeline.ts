// SPDX-License-Identifier: MIT
//
// The timeline: its canvas, the names beside it, the ruler over it, and what one does in it by mouse and by fingers.

import { App } from '../app';
import { byId, el, tell } from '../dom';
import { LaneKind } from '../data/model';
import { isolated } from '../data/names';
import { count, time } from '../data/units';
import { palette } from './colours';
import { Finder, Hit, trackName } from './hit';
import { Item } from './layout';
import { Painter } from './paint';
import { drawRuler, Overview, ticksOf } from './ruler';

const LANE_NAMES: Record<LaneKind, string> = {
	mark: 'outliers, slow calls',
	request: 'requests',
	event: 'custom events',
	load: 'loads, unloads',
};

export class Timeline {
	readonly frames: number[] = []; // How long scripts took for each, in milliseconds.
	private readonly scroll = byId<HTMLDivElement>('scroll');
	private readonly tall = byId<HTMLDivElement>('tall');
	private readonly stick = byId<HTMLDivElement>('stick');
	private readonly names = byId<HTMLDivElement>('names');
	private readonly canvas = byId<HTMLCanvasElement>('lines');
	private readonly rulerCanvas = byId<HTMLCanvasElement>('ruler');
	private readonly wide = byId<HTMLSpanElement>('wide');
	private readonly tip = byId<HTMLDivElement>('tip');
	readonly overview: Overview;
	readonly painter: Painter;
	private readonly finder: Finder;
	private width = 1;
	private height = 1;
	private top = 0;
	private waiting = false;
	private namesOld = true;
	private readonly named = new Map<string, HTMLElement>();
	private hover: Hit | null = null;
	private range: [number, number] | null = null;

	constructor(private readonly app: App) {
		const { trace, view, layout } = app;
		this.painter = new Painter(this.canvas, trace, view, layout);
		this.finder = new Finder(trace, view, layout, this.painter);
		this.overview = new Overview(byId('overview'), trace, view);
		trace.ready = () => this.later();
		view.onChange(() => this.later());
		app.onLook(() => this.dress());
		app.onSelect(() => this.dress());
		app.reveal = (row, track) => this.reveal(row, track);
		this.scroll.addEventListener('scroll', () => {
			this.namesOld = true;
			this.later();
		});
		new ResizeObserver(() => this.measure()).observe(this.scroll);
		this.listen();
		this.dress();
		this.measure();
	}

	dress(): void {
		this.painter.dress(this.app.look, palette(this.app.trace.fns, this.app.look, this.app.lit));
		this.later();
	}

	measure(): void {
		const ratio = Math.min(3, devicePixelRatio || 1);
		this.height = this.scroll.clientHeight;
		this.stick.style.height = this.height + 'px';
		this.tall.style.height = Math.max(this.height, this.app.layout.height) + 'px';
		this.width = Math.max(50, this.stick.clientWidth - this.names.offsetWidth);
		this.painter.resize(this.width, this.height, ratio);
		this.canvas.style.width = this.width + 'px';
		this.canvas.style.height = this.height + 'px';
		this.namesOld = true;
		this.later();
	}

	later(): void {
		if (this.waiting) return;
		this.waiting = true;
		requestAnimationFrame(() => {
			this.waiting = false;
			this.draw();
		});
	}

	draw(): void {
		const begun = performance.now();
		const { app, painter } = this;
		this.top = this.scroll.scrollTop;
		const { step, ticks } = ticksOf(app.view, this.width);
		painter.paint(this.top, ticks);
		const hit = app.hit;
		if (hit && hit.item.y + hit.item.h > this.top && hit.item.y < this.top + this.height)
			painter.frame(hit.from, hit.to, this.yOf(hit.item) - this.top, hit.item.h, true);
		if (this.hover && this.hover.kind !== 'cpu')
			painter.frame(
				this.hover.from,
				this.hover.to,
				this.hover.item.y - this.top,
				this.hover.item.h,
				false,
			);
		if (this.range) painter.shade(this.range[0], this.range[1]);
		drawRuler(this.rulerCanvas, app.view, app.trace, app.look, this.width, painter.ratio, ticks, step);
		this.wide.textContent = time(app.view.to - app.view.from);
		this.overview.draw(app.look, this.overview.canvas.clientWidth, painter.ratio);
		if (this.namesOld) {
			this.namesOld = false;
			this.drawNames();
		}
		if (this.frames.length >= 5000) this.frames.splice(0, 2500);
		this.frames.push(performance.now() - begun);
	}

	// Threads may have been folded since it was hit.
	private yOf(item: Item): number {
		const now = item.row >= 0 ? this.app.layout.ofRow(item.row) : null;
		return (now ?? item).y;
	}

	// Elements stay while they are in view: one of them may have the focus, or be pressed.
	private drawNames(): void {
		const { layout, trace } = this.app;
		const { items } = layout;
		const wanted = new Map<string, Item>();
		for (let i = layout.first(this.top); i < items.length && items[i].y < this.top + this.height; i++) {
			const item = items[i];
			if (item.kind !== 'calls' || trace.rows[item.row].kind === 'loose')
				wanted.set([item.kind, item.process, item.track, item.row, item.lane].join(' '), item);
		}
		for (const [key, e] of this.named)
			if (!wanted.has(key)) {
				e.remove();
				this.named.delete(key);
			}
		let next = this.names.firstChild;
		for (const [key, item] of wanted) {
			let e = this.named.get(key);
			if (!e) this.named.set(key, (e = this.nameOf(item)));
			if (e === next) next = next.nextSibling;
			else this.names.insertBefore(e, next);
			const fold = e.dataset.key === undefined ? undefined : layout.folded.has(e.dataset.key);
			if (fold !== undefined && e.getAttribute('aria-expanded') !== String(!fold)) {
				e.setAttribute('aria-expanded', String(!fold));
				if (e.firstElementChild) e.firstElementChild.textContent = fold ? '▸' : '▾';
			}
			e.style.top = item.y - this.top + 'px';
			e.style.height = item.h + 'px';
			e.style.lineHeight = item.h + 'px';
		}
	}

	private nameOf(item: Item): HTMLElement {
		const { trace } = this.app;
		if (item.kind === 'process' || item.kind === 'track') {
			const process = trace.processes[item.process];
			const key = item.kind === 'process' ? 'p' + item.process : 't' + item.track;
			const track = trace.tracks[item.track];
			const name =
				item.kind === 'process'
					? `${isolated(process.name)} ${process.pid}`
					: isolated(trackName(trace, item.track));
			const about =
				item.kind === 'process'
					? process.facts.map(f => f.join(': ')).join('\n')
					: `${name}: ${count(track.calls)} calls` +
						(track.deeper
							? `; ${count(track.deeper)} are deeper than these rows`
							: '');
			const e = el(
				'button',
				{ type: 'button', class: 'name ' + item.kind, title: about },
				el('span', { class: 'fold', 'aria-hidden': 'true' }),
				el('bdi', {}, name),
			);
			e.dataset.key = key;
			e.addEventListener('click', () => this.toggle(key));
			return e;
		}
		const text =
			item.kind === 'lane'
				? LANE_NAMES[item.lane]
				: item.kind === 'rest'
					? `${count(trace.rest?.tracks ?? 0)} more threads`
					: 'do not nest';
		return el('div', { class: 'name small' + (item.kind === 'calls' ? ' loose' : '') }, text);
	}

	toggle(key: string): void {
		this.app.layout.toggle(key);
		this.measure();
	}

	foldAll(fold: boolean): void {
		this.app.layout.foldAll(fold);
		this.measure();
	}

	// Scrolls so that a row, or the line of its thread, can be seen.
	reveal(row: number, track: number): void {
		const { layout, trace } = this.app;
		if (track >= 0 && row >= 0 && trace.tracks[track]) {
			layout.unfold(track);
			this.measure();
		}
		const item = layout.ofRow(row) ?? layout.ofTrack(track);
		if (!item) return;
		if (item.y < this.scroll.scrollTop + 24 || item.y + item.h > this.scroll.scrollTop + this.height - 24)
			this.scroll.scrollTop = Math.max(0, item.y - this.height / 3);
		this.later();
	}

	scrollBy(css: number): void {
		this.scroll.scrollTop += css;
	}

	timeAt(clientX: number): number {
		const box = this.canvas.getBoundingClientRect();
		const { view } = this.app;
		return view.from + ((clientX - box.left) / this.width) * (view.to - view.from);
	}

	hitAt(clientX: number, clientY: number): Hit | null {
		const box = this.canvas.getBoundingClientRect();
		return this.finder.at(clientX - box.left, clientY - box.top, this.top, this.width);
	}

	private point(x: number, y: number): void {
		const hit = this.hitAt(x, y);
		const same =
			hit &&
			this.hover &&
			hit.title === this.hover.title &&
			hit.from === this.hover.from &&
			hit.item.y === this.hover.item.y;
		if (!same && (hit || this.hover)) {
			this.hover = hit;
			this.later();
		}
		tell(this.tip, hit ? isolated(hit.title) : '', hit?.lines ?? [], x, y);
		this.canvas.style.cursor = hit && hit.kind !== 'cpu' ? 'pointer' : '';
	}

	private leave(): void {
		this.tip.hidden = true;
		if (this.hover) {
			this.hover = null;
			this.later();
		}
	}

	private choose(x: number, y: number): void {
		const { app } = this;
		const hit = this.hitAt(x, y);
		app.select(hit && hit.fn >= 0 ? hit.fn : null, hit && hit.kind !== 'cpu' ? hit : null);
		if (hit && hit.kind === 'cpu') app.track = hit.track;
		if (hit) app.say([hit.title, ...hit.lines].join('. '));
	}

	private listen(): void {
		const { canvas, app } = this;
		const { view } = app;
		canvas.addEventListener(
			'wheel',
			e => {
				const line = e.deltaMode === 1 ? 33 : e.deltaMode === 2 ? this.height : 1;
				if (e.altKey && !e.ctrlKey) return;
				e.preventDefault();
				const [dx, dy] = [e.deltaX * line, e.deltaY * line];
				const px = (view.to - view.from) / this.width;
				if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) view.pan((dx || dy) * px, false);
				else
					view.zoom(
						Math.exp(
							Math.max(-200, Math.min(200, dy)) * (e.ctrlKey ? 0.01 : 0.0022),
						),
						this.timeAt(e.clientX),
						false,
					);
				this.point(e.clientX, e.clientY);
			},
			{ passive: false },
		);

		const fingers = new Map<number, PointerEvent>();
		let moved = false;
		let begun = 0;
		canvas.addEventListener('pointerdown', e => {
			if (e.button !== 0) return;
			canvas.setPointerCapture(e.pointerId);
			fingers.set(e.pointerId, e);
			moved = false;
			begun = this.timeAt(e.clientX);
			canvas.focus({ preventScroll: true });
		});
		canvas.addEventListener('pointermove', e => {
			const before = fingers.get(e.pointerId);
			if (!before) {
				if (e.pointerType !== 'touch') this.point(e.clientX, e.clientY);
				return;
			}
			if (
				!moved &&
				fingers.size === 1 &&
				Math.hypot(e.clientX - before.clientX, e.clientY - before.clientY) < 4
			)
				return;
			moved = true;
			this.leave();
			if (fingers.size === 2) {
				const other = [...fingers.values()].find(f => f.pointerId !== e.pointerId);
				if (other) this.pinch(before, e, other);
			} else if (e.shiftKey) {
				const now = this.timeAt(e.clientX);
				this.range = [Math.min(begun, now), Math.max(begun, now)];
				this.later();
				return;
			} else {
				view.pan(((before.clientX - e.clientX) * (view.to - view.from)) / this.width, false);
				this.scrollBy(before.clientY - e.clientY);
			}
			fingers.set(e.pointerId, e);
		});
		const up = (e: PointerEvent) => {
			if (!fingers.delete(e.pointerId)) return;
			if (this.range) {
				const [from, to] = this.range;
				this.range = null;
				if (e.type === 'pointerup') view.move(from, to);
				this.later();
			} else if (!moved && e.type === 'pointerup') {
				this.choose(e.clientX, e.clientY);
			}
		};
		canvas.addEventListener('pointerup', up);
		canvas.addEventListener('pointercancel', up);
		canvas.addEventListener('pointerleave', () => this.leave());
		canvas.addEventListener('dblclick', e => {
			const hit = this.hitAt(e.clientX, e.clientY);
			if (hit && hit.to > hit.from) view.show(hit.from, hit.to);
			else if (!hit) view.zoom(0.5, this.timeAt(e.clientX), true);
		});
	}

	private pinch(before: PointerEvent, now: PointerEvent, other: PointerEvent): void {
		const { view } = this.app;
		const old = Math.max(12, Math.abs(before.clientX - other.clientX));
		const wide = Math.max(12, Math.abs(now.clientX - other.clientX));
		view.zoom(old / wide, this.timeAt((now.clientX + other.clientX) / 2), false);
		view.pan((((before.clientX - now.clientX) / 2) * (view.to - view.from)) / this.width, false);
	}
}
