// SPDX-License-Identifier: MIT
//
// What is known of the selected function: its numbers, how its times are distributed, when it was called, and by whom.

import { App } from '../app';
import { button, clear, el } from '../dom';
import { Edge } from '../data/model';
import { compact } from '../data/names';
import { count, share, time } from '../data/units';
import { buckets, Chart, histogram, rateChart } from './charts';

const MOST = 40; // Lines of callers, and of callees.

export class Detail {
	private charts: Chart[] = [];
	private shown: number | null | undefined;
	private turn = 0;
	seek: (forward: boolean) => void = () => undefined;

	constructor(
		private readonly app: App,
		private readonly place: HTMLElement,
	) {
		app.onSelect(() => this.show(false));
		app.onLook(() => this.show(true));
		let wide = 0;
		new ResizeObserver(() => {
			if (Math.abs(place.clientWidth - wide) > 12 && place.clientWidth > 0) {
				wide = place.clientWidth;
				this.show(true);
			}
		}).observe(place);
	}

	show(again: boolean): void {
		const { app, place } = this;
		if (app.fn === this.shown && !again) return;
		this.shown = app.fn;
		for (const c of this.charts) c.destroy();
		this.charts = [];
		clear(place);
		const turn = ++this.turn;
		const width = Math.max(200, place.clientWidth - 26);
		place.classList.toggle('one', app.fn !== null);
		if (app.fn === null) {
			place.append(
				el('h2', {}, 'All functions'),
				el(
					'p',
					{ class: 'note' },
					'Choose a function, in the table or in the ' +
						'pictures, to see its times, its callers and what it calls.',
				),
			);
			void app.trace.rates().then(r => {
				if (turn === this.turn && r) this.chart(rateChart(app, r, r.all, width));
			});
			return;
		}
		const fn = app.fn;
		const f = app.trace.fns[fn];
		place.append(
			el('h2', {}, el('bdi', {}, f.name)),
			el('p', { class: 'library' }, el('bdi', {}, f.library)),
		);
		const selfAll = app.trace.fns.reduce((s, g) => s + (g.self ?? 0), 0);
		const numbers: [string, string][] = [
			['Calls', count(f.calls)],
			['Total', time(f.total)],
			['Self', time(f.self)],
			['Share of self', f.self === null ? '-' : share(f.self, selfAll)],
			['Min', time(f.min)],
			['Average', time(f.avg)],
			['Median', time(f.p50)],
			['P90', time(f.p90)],
			['P99', time(f.p99)],
			['Max', time(f.max)],
			['Deviation', time(f.stddev)],
		];
		if (f.cpu !== null) numbers.push(['On CPU', time(f.cpu)], ['Self on CPU', time(f.selfCpu)]);
		if (f.counted) numbers.push(['Only counted', count(f.counted)]);
		if (f.throttled !== null) numbers.push(['Timed until', time(f.throttled)]);
		const dl = el('dl', { class: 'numbers' });
		for (const [k, v] of numbers) dl.append(el('div', {}, el('dt', {}, k), el('dd', {}, v)));
		place.append(
			el(
				'p',
				{ class: 'buttons' },
				button('◂ call', 'The call before, in time (N)', () => this.seek(false)),
				button('call ▸', 'The next call, in time (n)', () => this.seek(true)),
				button('all functions', 'Select nothing (Esc)', () => app.select(null)),
			),
			dl,
		);
		if (f.hist.length > 1) this.chart(histogram(app, buckets(f.hist), width));
		void app.trace.rates().then(r => {
			const values = r?.by.get(fn);
			if (turn === this.turn && r && values) this.chart(rateChart(app, r, values, width));
		});
		const edges = el('div');
		place.append(edges);
		void app.trace.edges().then(all => {
			if (turn !== this.turn) return;
			this.edges(
				edges,
				'Callers',
				all.filter(e => e.to === fn),
				e => e.from,
			);
			this.edges(
				edges,
				'It calls',
				all.filter(e => e.from === fn),
				e => e.to,
			);
		});
	}

	private chart(c: Chart): void {
		this.charts.push(c);
		const dl = this.place.querySelector('.numbers');
		const last = [...this.place.querySelectorAll('figure')].pop() ?? dl;
		if (last) last.after(c.element);
		else this.place.append(c.element);
	}

	private edges(place: HTMLElement, title: string, list: Edge[], other: (e: Edge) => number): void {
		const { app } = this;
		place.append(el('h3', {}, title));
		if (list.length === 0) {
			place.append(el('p', { class: 'note' }, 'nothing that was traced'));
			return;
		}
		list.sort((a, b) => b.total - a.total || b.calls - a.calls);
		const body = el('tbody');
		for (const e of list.slice(0, MOST)) {
			const fn = other(e);
			const f = app.trace.fns[fn];
			const b = el(
				'button',
				{ type: 'button', title: f ? `${f.name}\n${f.library}` : '' },
				el('bdi', {}, f ? compact(f.name) : fn < 0 ? '(not traced)' : '(others)'),
			);
			b.disabled = !f;
			b.addEventListener('click', () => app.select(fn));
			body.append(
				el(
					'tr',
					{},
					el('th', { scope: 'row', class: 'text' }, b),
					el('td', { class: 'number' }, count(e.calls)),
					el('td', { class: 'number' }, time(e.total)),
					el('td', { class: 'number' }, time(e.self)),
				),
			);
		}
		const head = el('tr', {}, el('th', { scope: 'col', class: 'text' }, 'Function'));
		for (const h of ['Calls', 'Total', 'Self']) head.append(el('th', { scope: 'col', class: 'number' }, h));
		place.append(el('table', { class: 'edges', 'aria-label': title }, el('thead', {}, head), body));
		if (list.length > MOST)
			place.append(el('p', { class: 'note' }, `and ${count(list.length - MOST)} more`));
	}
}
