// SPDX-License-Identifier: MIT
//
// The table of functions: a real one, that sorts and filters. Its lines are made as one scrolls to them.

import { App } from '../app';
import { byId, clear, el } from '../dom';
import { Fn } from '../data/model';
import { compact } from '../data/names';
import { count, time } from '../data/units';

interface Column {
	key: string;
	head: string;
	title: string;
	text: (f: Fn) => string;
	value: (f: Fn) => number | string | null;
	room: '' | ' wide' | ' extra'; // How much there must be: none, some, plenty.
}

const timed = (
	key: keyof Fn & ('total' | 'self' | 'min' | 'avg' | 'p50' | 'p90' | 'p99' | 'max' | 'cpu' | 'selfCpu'),
	head: string,
	title: string,
	room: Column['room'],
): Column => ({ key, head, title, text: f => time(f[key]), value: f => f[key], room });

const CALLS: Column = {
	key: 'calls',
	head: 'Calls',
	title: 'calls that began',
	text: f => count(f.calls),
	value: f => f.calls,
	room: '',
};
const COLUMNS: Column[] = [
	{ key: 'name', head: 'Function', title: 'name', text: f => f.name, value: f => f.name, room: '' },
	CALLS,
	timed('total', 'Total', 'from call to return, summed up over the outermost calls', ''),
	timed('self', 'Self', 'without the traced calls in between', ''),
	timed('avg', 'Average', 'of single calls', ' extra'),
	timed('min', 'Min', 'the shortest call', ' extra'),
	timed('p50', 'Median', 'what half of the calls do not exceed', ' wide'),
	timed('p99', 'P99', 'what 99 of 100 calls do not exceed', ' wide'),
	timed('max', 'Max', 'the longest call', ' wide'),
];
const SCHED: Column[] = [timed('cpu', 'On CPU', 'of the total, time on processors', ' extra')];
const LIBRARY: Column = {
	key: 'file',
	head: 'Library',
	title: 'where it is',
	text: f => f.file,
	value: f => f.file,
	room: ' wide',
};
const CHUNK = 150;

export class FunctionTable {
	private readonly body = el('tbody');
	private readonly more = el('p', { class: 'more' });
	private readonly columns: Column[];
	private readonly heads = new Map<string, HTMLTableCellElement>();
	private order: number[] = [];
	private shown = 0;
	private sortKey = 'total';
	private falling = true;
	private filter = '';
	private readonly most: number;

	constructor(
		private readonly app: App,
		private readonly place: HTMLElement,
	) {
		this.columns = [...COLUMNS, ...(app.trace.sched ? SCHED : []), LIBRARY];
		this.most = app.trace.fns.reduce((m, f) => Math.max(m, f.self ?? 0), 1);
		if (app.trace.fns.every(f => f.total === null)) this.sortKey = 'calls';
		const input = byId<HTMLInputElement>('filter');
		input.addEventListener('input', () => {
			this.filter = input.value.toLowerCase();
			this.fill();
		});
		const head = el('tr');
		for (const c of this.columns) {
			const b = el('button', { type: 'button', title: c.title }, c.head);
			b.addEventListener('click', () => this.sortBy(c.key));
			const th = el('th', { scope: 'col', class: this.classOf(c) }, b);
			this.heads.set(c.key, th);
			head.append(th);
		}
		const others = app.trace.others;
		place.append(el('table', { 'aria-label': 'functions' }, el('thead', {}, head), this.body), this.more);
		if (others)
			place.append(
				el(
					'p',
					{ class: 'note' },
					`${count(others.functions)} more functions have ${count(others.calls)} ` +
						'calls together',
				),
			);
		place.addEventListener('scroll', () => {
			if (place.scrollTop + place.clientHeight > place.scrollHeight - 400) this.grow();
		});
		app.onSelect(() => this.mark());
		this.fill();
	}

	private classOf(c: Column): string {
		return (c.key === 'name' || c.key === 'file' ? 'text' : 'number') + c.room;
	}

	private sortBy(key: string): void {
		this.falling = key === this.sortKey ? !this.falling : key !== 'name' && key !== 'file';
		this.sortKey = key;
		this.fill();
	}

	private fill(): void {
		const { fns } = this.app.trace;
		const column = this.columns.find(c => c.key === this.sortKey) ?? CALLS;
		const keys = fns.map(f => column.value(f));
		const sign = this.falling ? -1 : 1;
		this.order = fns
			.map((_, i) => i)
			.filter(i => fns[i].calls > 0)
			.filter(
				i =>
					!this.filter ||
					fns[i].name.toLowerCase().includes(this.filter) ||
					fns[i].library.toLowerCase().includes(this.filter),
			);
		// What is not known comes last, whichever way.
		this.order.sort((a, b) => {
			const [x, y] = [keys[a], keys[b]];
			if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
			return x < y ? -sign : x > y ? sign : a - b;
		});
		for (const [key, th] of this.heads)
			th.setAttribute(
				'aria-sort',
				key === this.sortKey ? (this.falling ? 'descending' : 'ascending') : 'none',
			);
		clear(this.body);
		this.shown = 0;
		this.place.scrollTop = 0;
		this.grow();
	}

	private grow(): void {
		const end = Math.min(this.order.length, this.shown + CHUNK);
		for (; this.shown < end; this.shown++) this.body.append(this.line(this.order[this.shown]));
		const left = this.order.length - this.shown;
		this.more.textContent =
			this.order.length === 0
				? this.filter
					? 'no function has this in its name'
					: 'no function was called'
				: left > 0
					? `${count(left)} more`
					: '';
		this.mark();
	}

	private line(fn: number): HTMLTableRowElement {
		const f = this.app.trace.fns[fn];
		const tr = el('tr');
		tr.dataset.fn = String(fn);
		for (const c of this.columns) {
			if (c.key === 'name') {
				const dot = el('span', { class: 'dot', 'aria-hidden': 'true' });
				dot.dataset.fn = String(fn);
				const b = el(
					'button',
					{ type: 'button', title: `${f.name}\n${f.library}` },
					dot,
					el('bdi', {}, compact(f.name)),
				);
				tr.append(el('th', { scope: 'row', class: 'text' }, b));
			} else {
				const td = el('td', { class: this.classOf(c) }, el('bdi', {}, c.text(f)));
				if (c.key === 'self') {
					td.classList.add('bar');
					td.style.setProperty(
						'--part',
						((100 * (f.self ?? 0)) / this.most).toFixed(1) + '%',
					);
				} else if (c.key === 'file') {
					td.title = f.library;
				}
				tr.append(td);
			}
		}
		tr.addEventListener('click', () => this.app.select(this.app.fn === fn ? null : fn));
		return tr;
	}

	// Colours and the selection, of the lines that are there.
	mark(): void {
		for (const tr of this.body.rows) {
			const fn = Number(tr.dataset.fn);
			tr.setAttribute('aria-selected', String(fn === this.app.fn));
			tr.classList.toggle('found', this.app.found?.has(fn) ?? false);
			const dot = tr.querySelector<HTMLElement>('.dot');
			if (dot) dot.style.background = this.colour(fn);
		}
	}

	colour: (fn: number) => string = () => '';
}
