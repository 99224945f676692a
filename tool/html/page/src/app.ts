// SPDX-License-Identifier: MIT
//
// What all parts of the page share: the trace, what is in view, and what is selected.

import { Hit } from './draw/hit';
import { Layout } from './draw/layout';
import { View } from './draw/view';
import { theme, Theme } from './draw/colours';
import { Trace } from './data/model';

export type Choice = 'auto' | 'light' | 'dark';

export class App {
	readonly view: View;
	readonly layout: Layout;
	fn: number | null = null; // The function that is selected,
	hit: Hit | null = null; // and the call, or mark.
	track = 0; // The thread that was looked at last.
	found: Set<number> | null = null; // Functions that a search found.
	look: Theme;
	choice: Choice = 'auto';
	private readonly selects: (() => void)[] = [];
	private readonly looks: (() => void)[] = [];
	private readonly dark = matchMedia('(prefers-color-scheme: dark)');
	// Set by the parts that can do it.
	reveal: (row: number, track: number) => void = () => undefined;
	// For those who hear the page; shown for a moment, where nothing else in the page says it.
	say: (text: string, shown?: boolean) => void = () => undefined;
	showTab: (name: string) => void = () => undefined;

	constructor(readonly trace: Trace) {
		this.view = new View(trace.from, trace.to);
		this.layout = new Layout(trace);
		this.layout.setMarks(trace.marks);
		try {
			const kept = localStorage.getItem('xaudit-theme');
			if (kept === 'light' || kept === 'dark') this.choice = kept;
		} catch {
			// Pages in files may keep nothing: then it is the system's choice each time.
		}
		this.look = theme(this.isDark);
		this.dark.addEventListener('change', () => this.dress());
	}

	private get isDark(): boolean {
		return this.choice === 'auto' ? this.dark.matches : this.choice === 'dark';
	}

	// Also for the time of printing: paper is light.
	dress(dark = this.isDark): void {
		this.look = theme(dark);
		document.documentElement.dataset.theme = dark ? 'dark' : 'light';
		for (const l of this.looks) l();
	}

	choose(choice: Choice): void {
		this.choice = choice;
		try {
			localStorage.setItem('xaudit-theme', choice);
		} catch {
			// As above.
		}
		this.dress();
	}

	onLook(l: () => void): void {
		this.looks.push(l);
	}

	onSelect(l: () => void): void {
		this.selects.push(l);
	}

	// A function, and maybe one call of it; null: nothing.
	select(fn: number | null, hit: Hit | null = null): void {
		this.fn = fn !== null && this.trace.fns[fn] ? fn : null;
		this.hit = hit;
		if (hit && hit.track >= 0) this.track = hit.track;
		for (const l of this.selects) l();
	}

	find(fns: Set<number> | null): void {
		this.found = fns && fns.size > 0 ? fns : null;
		for (const l of this.selects) l();
	}

	// Functions that keep their colours; null: all.
	get lit(): Set<number> | null {
		return this.found ?? (this.fn !== null ? new Set([this.fn]) : null);
	}

	// Goes to a time, and to the row where it was.
	go(from: number, to: number, row: number, track: number): void {
		this.view.show(from, to);
		if (track >= 0) this.track = track;
		this.reveal(row, track);
	}
}
