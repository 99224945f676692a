// SPDX-License-Identifier: MIT
//
// The flame graph: calling contexts, as wide as their time. Upside-down: functions as wide as their own time, and under
// each of them who called it. In order of time: one thread's rows, drawn as the timeline draws them.

import { App } from '../app';
import { byId, el, tell } from '../dom';
import { Tree } from '../data/model';
import { isolated, last, short } from '../data/names';
import { count, share, time } from '../data/units';
import { css, palette, Palette } from '../draw/colours';
import { Finder, trackName } from '../draw/hit';
import { Layout } from '../draw/layout';
import { FONT, Painter } from '../draw/paint';
import { size } from '../draw/ruler';

export type Mode = 'flame' | 'inverted' | 'order';

// A rectangle: a context, or, upside-down, contexts that share these callers.
interface Frame {
	fn: number;
	weight: number;
	self: number;
	calls: number;
	leftOut: number;
	parent: Frame | null;
	depth: number;
	nodes: number[];
	parts: number[]; // Of each node, how much of it counts here.
	children: Frame[] | null;
}

interface Drawn {
	frame: Frame;
	x0: number;
	x1: number;
	y: number;
}

const HIGH = 19;

export class Flame {
	private mode: Mode = 'flame';
	private tree: Tree | null = null;
	private kids: number[][] = [];
	private roots: Record<'flame' | 'inverted', Frame | null> = { flame: null, inverted: null };
	private focus: Record<'flame' | 'inverted', Frame | null> = { flame: null, inverted: null };
	private drawn: Drawn[] = [];
	private readonly box = byId<HTMLDivElement>('flame-box');
	private readonly canvas = byId<HTMLCanvasElement>('flame');
	private readonly tip = byId<HTMLDivElement>('tip');
	private readonly told = byId<HTMLParagraphElement>('flame-told');
	private readonly modes = byId<HTMLFieldSetElement>('flame-mode');
	private readonly chooser = byId<HTMLSelectElement>('flame-track');
	private order: { painter: Painter; finder: Finder; layout: Layout; track: number } | null = null;
	private colours!: Palette;
	private waiting = false;
	private orderCanvas = byId<HTMLCanvasElement>('flame-order');
	onMode: () => void = () => undefined;

	constructor(private readonly app: App) {
		this.modes.addEventListener('change', () => {
			const checked = this.modes.querySelector<HTMLInputElement>('input:checked');
			this.setMode((checked?.value ?? 'flame') as Mode);
		});
		app.trace.tracks.forEach((t, i) => {
			if (t.rows.length > 0 && i < 2000)
				this.chooser.append(
					el(
						'option',
						{ value: String(i) },
						`${app.trace.processes[t.process]?.name ?? ''}: ` +
							trackName(app.trace, i),
					),
				);
		});
		this.chooser.addEventListener('change', () => {
			app.track = Number(this.chooser.value);
			this.later();
		});
		byId('flame-out').addEventListener('click', () => this.zoomTo(null));
		const dress = () => {
			this.colours = palette(app.trace.fns, app.look, app.lit);
			this.later();
		};
		dress();
		app.onLook(dress);
		app.onSelect(dress);
		app.view.onChange(() => {
			if (this.mode === 'order') this.later();
		});
		new ResizeObserver(() => this.later()).observe(this.box);
		for (const c of [this.canvas, this.orderCanvas]) {
			c.addEventListener('pointermove', e => this.point(e));
			c.addEventListener('pointerleave', () => (this.tip.hidden = true));
			c.addEventListener('click', e => this.press(e));
		}
		this.canvas.addEventListener('keydown', e => this.key(e));
	}

	get current(): Mode {
		return this.mode;
	}

	setMode(mode: Mode): void {
		this.mode = mode;
		for (const input of this.modes.querySelectorAll('input')) input.checked = input.value === mode;
		this.canvas.hidden = mode === 'order';
		this.orderCanvas.hidden = mode !== 'order';
		this.chooser.hidden = mode !== 'order';
		this.later();
		this.onMode();
	}

	get visible(): boolean {
		return this.box.clientWidth > 0;
	}

	later(): void {
		if (this.waiting || !this.visible) return;
		this.waiting = true;
		requestAnimationFrame(() => {
			this.waiting = false;
			this.draw();
		});
	}

	draw(): void {
		if (!this.visible) return;
		if (this.mode === 'order') {
			this.drawOrder();
			return;
		}
		if (!this.tree) {
			void this.app.trace.tree().then(tree => {
				if (tree && tree.n > 0) {
					this.take(tree);
					this.draw();
				} else {
					this.told.textContent = 'No call has an end: there are no times to draw.';
				}
			});
			return;
		}
		this.drawTree(this.mode);
	}

	private take(tree: Tree): void {
		this.tree = tree;
		this.kids = Array.from({ length: tree.n + 1 }, () => []);
		for (let i = 0; i < tree.n; i++) this.kids[tree.parent[i]].push(i);
		let all = 0;
		let self = 0;
		for (const r of this.kids[0]) all += tree.all[r];
		for (let i = 0; i < tree.n; i++) self += tree.self[i];
		const root = (weight: number): Frame => ({
			fn: -1,
			weight,
			self: 0,
			calls: 0,
			leftOut: 0,
			parent: null,
			depth: 0,
			nodes: [],
			parts: [],
			children: null,
		});
		this.roots = { flame: root(all), inverted: root(self) };
	}

	private node(i: number, parent: Frame): Frame {
		const t = this.tree as Tree;
		return {
			fn: t.fn[i],
			weight: t.all[i],
			self: t.self[i],
			calls: t.calls[i],
			leftOut: t.folded[i] ?? 0,
			parent,
			depth: parent.depth + 1,
			nodes: [i],
			parts: [],
			children: null,
		};
	}

	private children(frame: Frame, mode: 'flame' | 'inverted'): Frame[] {
		if (frame.children) return frame.children;
		const t = this.tree as Tree;
		if (mode === 'flame') {
			const from = frame.parent ? this.kids[frame.nodes[0] + 1] : this.kids[0];
			return (frame.children = from
				.map(i => this.node(i, frame))
				.sort((a, b) => b.weight - a.weight));
		}
		// Upside-down: contexts, by the function above; of all of them, by their own function.
		const by = new Map<number, Frame>();
		const add = (node: number, of: number, part: number) => {
			const fn = t.fn[node];
			let f = by.get(fn);
			if (!f)
				by.set(
					fn,
					(f = {
						fn,
						weight: 0,
						self: 0,
						calls: 0,
						leftOut: 0,
						parent: frame,
						depth: frame.depth + 1,
						nodes: [],
						parts: [],
						children: null,
					}),
				);
			f.weight += part;
			f.calls += frame.parent ? 0 : t.calls[of];
			f.nodes.push(node);
			f.parts.push(part);
		};
		if (!frame.parent) {
			for (let i = 0; i < t.n; i++) if (t.self[i] > 0) add(i, i, t.self[i]);
		} else {
			frame.nodes.forEach((node, k) => {
				if (t.parent[node] > 0) add(t.parent[node] - 1, node, frame.parts[k]);
			});
		}
		return (frame.children = [...by.values()].sort((a, b) => b.weight - a.weight));
	}

	private drawTree(mode: 'flame' | 'inverted'): void {
		const root = this.roots[mode];
		const g0 = this.app;
		const ratio = Math.min(3, devicePixelRatio || 1);
		const w = Math.max(50, this.box.clientWidth);
		if (!root) return;
		const focus = this.focus[mode] ?? root;
		this.drawn = [];
		const above: Frame[] = [];
		for (let f = focus.parent; f; f = f.parent) above.unshift(f);
		for (const f of above) this.drawn.push({ frame: f, x0: 0, x1: w, y: f.depth });
		const visit = (f: Frame, x0: number, x1: number) => {
			this.drawn.push({ frame: f, x0, x1, y: f.depth });
			const scale = (x1 - x0) / Math.max(f.weight, 1e-9);
			let x = x0;
			for (const c of this.children(f, mode)) {
				const e = Math.min(x1, x + c.weight * scale);
				// The others are narrower still.
				if (e - x < 0.4) break;
				visit(c, x, e);
				x = e;
			}
		};
		visit(focus, 0, w);
		const deepest = this.drawn.reduce((d, r) => Math.max(d, r.y), 0);
		const h = Math.min(16000, Math.max(this.box.clientHeight, (deepest + 1) * HIGH + 6));
		this.canvas.style.width = w + 'px';
		this.canvas.style.height = h + 'px';
		const g = size(this.canvas, w, h, ratio);
		if (!g) return;
		g.fillStyle = css(g0.look.back);
		g.fillRect(0, 0, w, h);
		g.font = `11px ${FONT}`;
		g.textBaseline = 'middle';
		for (const r of this.drawn) this.rectangle(g, r, r.frame.depth < focus.depth);
		const nodes = this.tree?.n ?? 0;
		this.told.textContent =
			(mode === 'flame'
				? 'Width: time of calls, with what they call. '
				: 'Width: time of its own; below each function its callers. ') +
			`${count(nodes)} contexts.` +
			(this.app.trace.leftOut > 0
				? ` ${count(this.app.trace.leftOut)} calls are in none of them.`
				: '');
		byId<HTMLButtonElement>('flame-out').disabled = focus === root;
	}

	private rectangle(g: CanvasRenderingContext2D, r: Drawn, above: boolean): void {
		const { look, trace } = this.app;
		const f = r.frame;
		const gap = r.x1 - r.x0 > 3 ? 1 : 0;
		g.globalAlpha = above ? 0.55 : 1;
		g.fillStyle = f.parent === null ? css(look.band) : (this.colours.css[f.fn] ?? css(look.line));
		g.fillRect(r.x0, r.y * HIGH, Math.max(0.4, r.x1 - r.x0 - gap), HIGH - 1);
		g.globalAlpha = 1;
		const room = r.x1 - r.x0 - 8;
		if (room < 22) return;
		const fn = trace.fns[f.fn];
		const full = f.parent === null ? `all: ${time(f.weight)}` : fn ? fn.name : '(others)';
		let text = full;
		if (g.measureText(text.slice(0, 300)).width > room && fn) {
			text = last(short(fn.name), t => g.measureText(t).width <= room);
		}
		const wide = g.measureText(text.slice(0, 300)).width;
		if (wide > room) {
			const n = Math.floor(((text.length * (room - 9)) / wide) * 0.95);
			text = n >= 2 ? text.slice(0, n) + '…' : '';
		}
		g.fillStyle = f.parent === null || this.colours.faded[f.fn] ? look.faint : look.label;
		g.fillText(text, r.x0 + 4, r.y * HIGH + HIGH / 2);
	}

	private drawOrder(): void {
		const { app } = this;
		const track = app.trace.tracks[app.track]?.rows.length
			? app.track
			: app.trace.tracks.findIndex(t => t.rows.length > 0);
		if (track < 0) {
			this.told.textContent = 'No thread has rows.';
			return;
		}
		if (this.order?.track !== track) {
			const layout = new Layout(app.trace, track);
			const painter =
				this.order?.painter.with(layout) ??
				new Painter(this.orderCanvas, app.trace, app.view, layout);
			this.order = {
				painter,
				layout,
				track,
				finder: new Finder(app.trace, app.view, layout, painter),
			};
		}
		this.chooser.value = String(track);
		const { painter, layout } = this.order;
		const w = Math.max(50, this.box.clientWidth);
		const h = Math.max(this.box.clientHeight, layout.height);
		painter.resize(w, h, Math.min(3, devicePixelRatio || 1));
		this.orderCanvas.style.width = w + 'px';
		this.orderCanvas.style.height = h + 'px';
		painter.dress(app.look, this.colours);
		painter.paint(0, []);
		if (app.hit && app.hit.track === track) {
			const item = layout.ofRow(app.hit.row);
			if (item) painter.frame(app.hit.from, app.hit.to, item.y, item.h, true);
		}
		this.told.textContent = `Calls of one thread in order of time, ${time(app.view.to - app.view.from)}.`;
		byId<HTMLButtonElement>('flame-out').disabled = true;
		if (painter.incomplete) setTimeout(() => this.later(), 60);
	}

	private at(e: MouseEvent): Frame | null {
		const x = e.offsetX;
		const y = Math.floor(e.offsetY / HIGH);
		return this.drawn.find(r => r.y === y && r.x0 <= x && x < r.x1)?.frame ?? null;
	}

	private lines(f: Frame): [string, string[]] {
		const { trace } = this.app;
		const root = this.mode === 'order' ? null : this.roots[this.mode];
		const fn = trace.fns[f.fn];
		const lines = [`${time(f.weight)}, ${share(f.weight, root?.weight ?? 0)}`];
		if (this.mode === 'flame' && f.parent)
			lines.push(`${time(f.self)} of its own, ${count(f.calls)} calls`);
		if (f.leftOut > 0) lines.push(`${time(f.leftOut)} of it in contexts that are left out here`);
		if (fn) lines.push(fn.library);
		return [f.parent ? isolated(fn?.name ?? '(others)') : 'all', lines];
	}

	private point(e: PointerEvent): void {
		let title = '';
		let lines: string[] = [];
		if (this.mode === 'order') {
			const hit = this.order?.finder.at(e.offsetX, e.offsetY, 0, this.box.clientWidth);
			if (hit) {
				title = isolated(hit.title);
				({ lines } = hit);
			}
		} else {
			const f = this.at(e);
			if (f) [title, lines] = this.lines(f);
		}
		tell(this.tip, title, lines, e.clientX, e.clientY);
	}

	private press(e: MouseEvent): void {
		if (this.mode === 'order') {
			const hit = this.order?.finder.at(e.offsetX, e.offsetY, 0, this.box.clientWidth) ?? null;
			this.app.select(hit ? hit.fn : null, hit);
			return;
		}
		const f = this.at(e);
		if (!f) return;
		this.zoomTo(f.parent ? f : null);
		this.app.select(f.parent ? f.fn : null);
		const [title, lines] = this.lines(f);
		this.app.say([title, ...lines].join('. '));
	}

	private zoomTo(f: Frame | null): void {
		if (this.mode === 'order') return;
		this.focus[this.mode] = f;
		this.later();
	}

	// By keys: down to the widest child, up to the parent, left and right to those beside.
	private key(e: KeyboardEvent): void {
		if (this.mode === 'order' || e.ctrlKey || e.altKey || e.metaKey) return;
		const root = this.roots[this.mode];
		const f = this.focus[this.mode] ?? root;
		if (!f || !root) return;
		const beside = (by: number) => {
			const list = f.parent ? this.children(f.parent, this.mode as 'flame' | 'inverted') : [];
			return list[list.indexOf(f) + by] ?? f;
		};
		const to =
			e.key === 'ArrowDown'
				? (this.children(f, this.mode)[0] ?? f)
				: e.key === 'ArrowUp'
					? (f.parent ?? f)
					: e.key === 'ArrowLeft'
						? beside(-1)
						: e.key === 'ArrowRight'
							? beside(1)
							: null;
		if (!to) return;
		e.preventDefault();
		e.stopPropagation();
		this.zoomTo(to.parent ? to : null);
		this.app.select(to.parent ? to.fn : null);
		const [title, lines] = this.lines(to);
		this.app.say([title, ...lines].join('. '));
	}
}
