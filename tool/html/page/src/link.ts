// SPDX-License-Identifier: MIT
//
// A link that names a moment: what is in view and what is selected stand behind the address's number sign, so whoever
// opens it sees the same.

import { App } from './app';
import { Flame, Mode } from './panels/flame';

// Times with at most three digits behind the point: views lie between nanoseconds while one zooms.
const tidy = (t: number) => String(Math.round(t * 1000) / 1000);

export class Link {
	private timer = 0;
	private written = '';
	private reading = false; // What is set meanwhile is not written.

	constructor(
		private readonly app: App,
		private readonly flame: Flame,
		private readonly tab: () => string,
	) {
		const later = () => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.write(), 200);
		};
		app.view.onChange(later);
		app.onSelect(later);
		flame.onMode = later;
		addEventListener('hashchange', () => {
			if (location.hash !== this.written) this.read();
		});
	}

	get hash(): string {
		const { app } = this;
		const { view, hit, fn, trace } = app;
		const q = new URLSearchParams();
		q.set('from', tidy(view.from));
		q.set('to', tidy(view.to));
		if (fn !== null) {
			q.set('fn', trace.fns[fn].raw);
			q.set('in', trace.fns[fn].library);
		}
		if (hit && hit.row >= 0) q.set('call', [hit.row, tidy(hit.from), tidy(hit.to)].join(':'));
		if (this.tab() !== 'functions') q.set('tab', this.tab());
		if (this.flame.current !== 'flame') q.set('flame', this.flame.current);
		return '#' + q.toString();
	}

	write(): void {
		if (this.reading) return;
		this.written = this.hash;
		try {
			history.replaceState(null, '', this.written);
		} catch {
			// In a frame without an address of its own there is no link.
		}
	}

	read(): void {
		if (location.hash.length < 2) return;
		this.reading = true;
		this.take();
		this.reading = false;
		this.write();
	}

	// What is not there, or not of this trace, is left as it is.
	private take(): void {
		const { app } = this;
		const { trace, view } = app;
		const q = new URLSearchParams(location.hash.slice(1));
		const number = (name: string) => {
			const text = q.get(name);
			const n = text === null ? NaN : Number(text);
			return Number.isFinite(n) ? n : null;
		};
		const [from, to] = [number('from'), number('to')];
		if (from !== null && to !== null && to > from) view.set(from, to);
		const tab = q.get('tab');
		if (tab) app.showTab(tab);
		const mode = q.get('flame');
		if (mode === 'inverted' || mode === 'order') this.flame.setMode(mode as Mode);
		const name = q.get('fn');
		let fn = name === null ? -1 : trace.fns.findIndex(f => f.raw === name && f.library === q.get('in'));
		if (fn < 0 && name !== null) fn = trace.fns.findIndex(f => f.raw === name);
		const [row, a, b] = (q.get('call') ?? '').split(':').map(Number);
		const r = trace.rows[row];
		if (r && Number.isFinite(a) && Number.isFinite(b) && b >= a) {
			app.reveal(row, r.track);
			const item = app.layout.ofRow(row);
			if (item) {
				app.select(fn < 0 ? null : fn, {
					kind: 'call',
					item,
					row,
					track: r.track,
					fn,
					from: a,
					to: b,
					title: trace.fns[fn]?.name ?? '',
					lines: [],
					mark: null,
				});
				return;
			}
		}
		if (fn >= 0) app.select(fn);
	}

	// Puts the whole address into the clipboard; where that is not allowed, shows it.
	async copy(): Promise<void> {
		this.write();
		const text = location.href.replace(/#.*$/, '') + this.hash;
		try {
			await navigator.clipboard.writeText(text);
			this.app.say('link copied', true);
		} catch {
			prompt('The link:', text);
		}
	}
}
