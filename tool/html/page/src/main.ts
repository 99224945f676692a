// SPDX-License-Identifier: MIT
//
// Puts the page together.

import { App, Choice } from './app';
import { Timeline } from './draw/timeline';
import { byId, clear, el } from './dom';
import { count, exact, time } from './data/units';
import { openTrace } from './data/source';
import { setKeys } from './keys';
import { Link } from './link';
import { Detail } from './panels/detail';
import { Flame } from './panels/flame';
import { showInfo, showSlow } from './panels/info';
import { Search } from './panels/search';
import { FunctionTable } from './panels/table';
import { palette } from './draw/colours';

const TABS = ['functions', 'flame', 'slow', 'about'];

function tabs(app: App, shown: (name: string) => void): () => string {
	let current = 'functions';
	const show = (name: string) => {
		if (!TABS.includes(name)) return;
		current = name;
		for (const t of TABS) {
			const b = byId('tab-' + t);
			b.setAttribute('aria-selected', String(t === name));
			b.tabIndex = t === name ? 0 : -1;
			byId('panel-' + t).hidden = t !== name;
		}
		shown(name);
	};
	app.showTab = show;
	for (const t of TABS) {
		const b = byId('tab-' + t);
		b.addEventListener('click', () => show(t));
		b.addEventListener('keydown', e => {
			const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? TABS.length - 1 : 0;
			if (!by) return;
			e.preventDefault();
			const next = TABS[(TABS.indexOf(t) + by) % TABS.length];
			show(next);
			byId('tab-' + next).focus();
		});
	}
	return () => current;
}

// The line between the timeline and what is below it.
function splitter(moved: () => void): void {
	const bar = byId('splitter');
	const root = document.documentElement;
	const put = (px: number) => {
		const part = Math.max(12, Math.min(85, (100 * px) / innerHeight));
		root.style.setProperty('--panel', part.toFixed(1) + 'vh');
		bar.setAttribute('aria-valuenow', part.toFixed(0));
		moved();
	};
	const now = () => innerHeight - bar.getBoundingClientRect().bottom;
	bar.addEventListener('pointerdown', e => {
		bar.setPointerCapture(e.pointerId);
		e.preventDefault();
		bar.focus();
	});
	bar.addEventListener('pointermove', e => {
		if (bar.hasPointerCapture(e.pointerId)) put(innerHeight - e.clientY);
	});
	bar.addEventListener('keydown', e => {
		const by = e.key === 'ArrowUp' ? 30 : e.key === 'ArrowDown' ? -30 : 0;
		if (by) {
			e.preventDefault();
			put(now() + by);
		}
	});
}

// Paper is light, and has the first lines of the table and what is in view.
function printing(app: App, timeline: Timeline): void {
	addEventListener('beforeprint', () => {
		app.dress(false);
		byId('print-view').textContent = `From ${exact(app.view.from)} to ${exact(app.view.to)}.`;
		timeline.measure();
		timeline.draw();
	});
	addEventListener('afterprint', () => {
		app.dress();
		timeline.measure();
	});
}

function heading(app: App): void {
	const { info, functions, tracks, processes } = app.trace;
	document.title = `${info.title} - xaudit`;
	byId('title').textContent = info.title;
	const command = info.facts.find(f => f[0] === 'Command')?.[1] ?? '';
	const calls = info.facts.find(f => f[0] === 'Calls')?.[1] ?? '0';
	const several = (n: number, one: string, more: string) => `${count(n)} ${n === 1 ? one : more}`;
	const about = [
		`${calls} calls of ${several(functions, 'function', 'functions')}`,
		several(processes.length, 'process', 'processes'),
		several(tracks.length, 'thread', 'threads'),
		time(app.trace.to - app.trace.from),
	].join(', ');
	byId('about-line').textContent = about;
	byId('title').title = command;
}

async function start(): Promise<void> {
	const trace = await openTrace();
	const app = new App(trace);
	const live = byId('live');
	let quiet = 0;
	app.say = (text, shown = false) => {
		live.textContent = text;
		if (!shown) return;
		live.classList.add('shown');
		clearTimeout(quiet);
		quiet = setTimeout(() => live.classList.remove('shown'), 3500);
	};
	app.dress();
	heading(app);
	if (trace.levels > 0) await trace.wholeTile(0, 0);
	const timeline = new Timeline(app);
	const table = new FunctionTable(app, byId('table'));
	const colours = () => {
		const p = palette(trace.fns, app.look, null);
		table.colour = fn => p.css[fn] ?? '';
		table.mark();
	};
	colours();
	app.onLook(colours);
	const detail = new Detail(app, byId('detail'));
	const flame = new Flame(app);
	const search = new Search(app);
	detail.seek = forward => void search.step(forward);
	showInfo(app);
	showSlow(app);
	const current = tabs(app, () => {
		flame.later();
		link?.write();
	});
	let link: Link | null = null;
	splitter(() => timeline.measure());
	link = new Link(app, flame, current);
	const CHOICES: Choice[] = ['auto', 'light', 'dark'];
	const showChoice = () => {
		const b = byId('theme');
		b.dataset.choice = app.choice;
		const text = `Colours: ${app.choice === 'auto' ? 'as the system has them' : app.choice} (T)`;
		b.title = text;
		b.setAttribute('aria-label', text);
	};
	const toggle = () => {
		app.choose(CHOICES[(CHOICES.indexOf(app.choice) + 1) % 3]);
		showChoice();
	};
	showChoice();
	byId('theme').addEventListener('click', toggle);
	byId('link').addEventListener('click', () => void link?.copy());
	const { view } = app;
	byId('zoom-in').addEventListener('click', () => view.zoom(1 / 2, view.middle, true));
	byId('zoom-out').addEventListener('click', () => view.zoom(2, view.middle, true));
	byId('zoom-all').addEventListener('click', () => view.move(view.first, view.last));
	byId('print').addEventListener('click', () => print());
	setKeys(app, timeline, search, toggle, () => void link?.copy());
	printing(app, timeline);
	link.read();
	void trace.rates().then(r => {
		timeline.overview.setRates(r);
		timeline.later();
	});
	timeline.draw();
	document.documentElement.dataset.ready = 'yes';
	// For tests, and for those who look into the page.
	Object.assign(window, { xaudit: { app, timeline, flame, search, link, ready: performance.now() } });
}

start().catch((e: unknown) => {
	console.error(e);
	const place = byId('failed');
	clear(place);
	place.append(el('p', {}, "This page can't be shown: " + (e instanceof Error ? e.message : String(e))));
	place.hidden = false;
});
