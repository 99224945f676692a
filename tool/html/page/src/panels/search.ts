// SPDX-License-Identifier: MIT
//
// Search over the names of functions, marks (custom events, requests, loads, outliers), and values of calls. What was
// found is listed; next and previous go through it in time.

import { App } from '../app';
import { byId, clear, el } from '../dom';
import { Calls, Mark } from '../data/model';
import { isolated, visible, withValues } from '../data/names';
import { count, exact, parseTime } from '../data/units';
import { markHit } from '../draw/hit';
import { Found, goTo, nextCall } from './seek';

const LISTED = 12; // Of each kind.
const MOST_VALUES = 5000;

interface Value {
	found: Found;
	text: string;
}

// A moment that next and previous stop at.
interface Stop {
	at: number;
	row: number;
	go: () => void;
}

export class Search {
	private readonly input = byId<HTMLInputElement>('search');
	private readonly list = byId<HTMLDivElement>('found');
	private readonly told = byId<HTMLSpanElement>('found-told');
	private marks: Mark[] = [];
	private values: Value[] = [];
	private fns: number[] = [];
	private turn = 0;
	private timer = 0;
	private at = -1;
	private atRow = -1;
	busy: Promise<void> = Promise.resolve();

	constructor(private readonly app: App) {
		this.input.addEventListener('input', () => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.run(), 140);
		});
		this.input.addEventListener('focus', () => (this.list.hidden = this.input.value === ''));
		this.input.addEventListener('keydown', e => {
			if (e.key === 'Enter') {
				e.preventDefault();
				this.now();
				void this.step(!e.shiftKey);
			} else if (e.key === 'Escape') {
				this.input.value = '';
				this.now();
				this.input.blur();
			} else if (e.key === 'ArrowDown') {
				const first = this.list.querySelector('button');
				if (first) {
					e.preventDefault();
					first.focus();
				}
			}
		});
		this.list.addEventListener('keydown', e => {
			const all = [...this.list.querySelectorAll('button')];
			const i = all.indexOf(document.activeElement as HTMLButtonElement);
			if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
				e.preventDefault();
				(all[i + (e.key === 'ArrowDown' ? 1 : -1)] ?? this.input).focus();
			} else if (e.key === 'Escape') {
				this.list.hidden = true;
				this.input.focus();
			}
			e.stopPropagation();
		});
		document.addEventListener('pointerdown', e => {
			if (e.target instanceof Node && !this.list.contains(e.target) && e.target !== this.input)
				this.list.hidden = true;
		});
		byId('next').addEventListener('click', () => void this.step(true));
		byId('previous').addEventListener('click', () => void this.step(false));
	}

	focus(): void {
		this.input.focus();
		this.input.select();
	}

	private now(): void {
		if (this.timer) {
			clearTimeout(this.timer);
			this.timer = 0;
			this.run();
		}
	}

	private run(): void {
		this.timer = 0;
		const turn = ++this.turn;
		const text = this.input.value.trim();
		const { trace } = this.app;
		this.values = [];
		this.at = this.atRow = -1;
		if (!text) {
			this.marks = [];
			this.fns = [];
			this.list.hidden = true;
			this.told.textContent = '';
			this.app.find(null);
			return;
		}
		const word = text.toLowerCase();
		this.fns = trace.fns
			.map((_, i) => i)
			.filter(
				i =>
					trace.fns[i].name.toLowerCase().includes(word) ||
					trace.fns[i].raw.toLowerCase().includes(word),
			);
		this.marks = trace.marks
			.filter(m => m.kind !== 'mark' && m.text.toLowerCase().includes(word))
			.sort((a, b) => a.at - b.at);
		this.app.find(new Set(this.fns));
		this.show(text, true);
		this.busy = this.findValues(word, turn).then(() => {
			if (turn === this.turn) this.show(text, false);
		});
	}

	private async findValues(word: string, turn: number): Promise<void> {
		const { trace } = this.app;
		const seen = new Set<string>();
		for (const info of trace.windows) {
			const win = await trace.wholeWin(info.id);
			if (turn !== this.turn || !win) return;
			const match = new Map<number, string>();
			for (let n = 1; n <= win.texts; n++) {
				const text = visible(win.text(n));
				if (text.toLowerCase().includes(word)) match.set(n, text);
			}
			for (const row of match.size > 0 ? win.rows : []) {
				const calls = win.calls(row) as Calls;
				for (let i = 0; i < calls.n && this.values.length < MOST_VALUES; i++) {
					const text = match.get(calls.text[i]) ?? match.get(calls.request[i]);
					const key = `${row} ${calls.start[i]}`;
					if (text === undefined || seen.has(key)) continue;
					seen.add(key);
					const from = calls.start[i];
					this.values.push({
						text,
						found: {
							from,
							to: from + calls.lasts[i],
							row,
							one: true,
							calls,
							index: i,
							win,
						},
					});
				}
			}
		}
		this.values.sort((a, b) => a.found.from - b.found.from);
	}

	private show(text: string, more: boolean): void {
		const { app, list } = this;
		const { trace } = app;
		const time = parseTime(text);
		clear(list);
		const part = (title: string, n: number) => {
			if (n > 0) list.append(el('h3', {}, `${title} (${count(n)})`));
		};
		const entry = (label: string, note: string, go: () => void) => {
			const b = el('button', { type: 'button' }, el('bdi', {}, label), el('span', {}, note));
			b.addEventListener('click', () => {
				list.hidden = true;
				go();
			});
			list.append(b);
		};
		if (time !== null && time >= trace.from && time <= trace.to)
			entry('go to ' + exact(time), 'moment', () => {
				const wide = app.view.to - app.view.from;
				app.view.move(time - wide / 2, time + wide / 2);
			});
		part('Functions', this.fns.length);
		for (const i of this.fns.slice(0, LISTED))
			entry(trace.fns[i].name, `${count(trace.fns[i].calls)} calls`, () => app.select(i));
		part('Marks', this.marks.length);
		for (const m of this.marks.slice(0, LISTED)) entry(m.text, exact(m.at), () => this.toMark(m));
		part('Values', this.values.length);
		for (const v of this.values.slice(0, LISTED)) {
			const f = v.found.calls ? trace.fns[v.found.calls.fn[v.found.index]] : undefined;
			entry(withValues(f?.name ?? '', isolated(v.text)), exact(v.found.from), () =>
				this.stop(() => goTo(app, v.found), v.found.from, v.found.row),
			);
		}
		const all = this.fns.length + this.marks.length + this.values.length;
		if (all === 0 && time === null)
			list.append(el('p', { class: 'note' }, more ? 'searching values…' : 'nothing found'));
		this.told.textContent = all > 0 ? count(all) + (more ? '…' : '') : more ? '…' : 'none';
		list.hidden = document.activeElement !== this.input;
	}

	private stop(go: () => void, at: number, row: number): void {
		this.at = at;
		this.atRow = row;
		go();
	}

	private toMark(m: Mark): void {
		const { app } = this;
		this.stop(() => goToMark(app, m), m.at, -1);
	}

	// The next of all that was found; of the selected function where nothing is searched for.
	async step(forward: boolean): Promise<void> {
		const { app } = this;
		await this.busy;
		const searching = this.input.value.trim() !== '';
		const fns = searching ? new Set(this.fns) : new Set(app.fn === null ? [] : [app.fn]);
		let [at, row] = [this.at, this.atRow];
		if (at < 0 || at < app.view.from || at > app.view.to) {
			[at, row] =
				app.hit && app.hit.from >= app.view.from && app.hit.from <= app.view.to && !searching
					? [app.hit.from, app.hit.row]
					: forward
						? [app.view.from, -2]
						: [app.view.to, 1e9];
		}
		const stops: Stop[] = [];
		const behind = (t: number, r: number) =>
			forward ? t > at || (t === at && r > row) : t < at || (t === at && r < row);
		if (searching) {
			for (const m of this.marks)
				if (behind(m.at, -1)) stops.push({ at: m.at, row: -1, go: () => goToMark(app, m) });
			for (const v of this.values)
				if (behind(v.found.from, v.found.row))
					stops.push({
						at: v.found.from,
						row: v.found.row,
						go: () => goTo(app, v.found),
					});
		}
		const call = fns.size > 0 ? await nextCall(app.trace, fns, at, row, forward) : null;
		if (call) stops.push({ at: call.from, row: call.row, go: () => goTo(app, call) });
		stops.sort((a, b) => (forward ? a.at - b.at || a.row - b.row : b.at - a.at || b.row - a.row));
		const next = stops[0];
		if (next) {
			this.list.hidden = true;
			this.stop(next.go, next.at, next.row);
		} else {
			app.say(
				fns.size === 0 && !searching
					? 'select a function, or search, first'
					: forward
						? 'nothing comes later'
						: 'nothing comes before',
				true,
			);
		}
	}
}

export function goToMark(app: App, m: Mark): void {
	const { layout, view, trace } = app;
	const wide = view.to - view.from;
	if (m.lasts > 0) view.show(m.at, m.at + m.lasts);
	else view.move(m.at - wide / 2, m.at + wide / 2);
	layout.folded.delete('p' + m.process);
	layout.make();
	const item = layout.items.find(i => i.kind === 'lane' && i.process === m.process && i.lane === m.kind);
	if (m.track >= 0) app.reveal(-1, m.track);
	if (item) app.select(m.fn >= 0 ? m.fn : null, markHit(trace, item, m));
	app.say(m.text + ', at ' + exact(m.at));
}
