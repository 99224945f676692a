// SPDX-License-Identifier: MIT
//
// What was recorded, and what the trace lacks; and a list of what took long.

import { App } from '../app';
import { byId, el } from '../dom';
import { Mark } from '../data/model';
import { count, exact, time } from '../data/units';
import { trackName } from '../draw/hit';
import { goToMark } from './search';

function facts(list: [string, string][]): HTMLElement {
	const dl = el('dl', { class: 'facts' });
	for (const [k, v] of list) dl.append(el('dt', {}, k), el('dd', {}, el('bdi', {}, v)));
	return dl;
}

function sentences(list: string[]): HTMLElement {
	return el('ul', {}, ...list.map(s => el('li', {}, el('bdi', {}, s))));
}

export function showInfo(app: App): void {
	const place = byId('about');
	const { info, processes, windows } = app.trace;
	place.append(
		el('h2', {}, 'What is missing'),
		info.left.length > 0 ? sentences(info.left) : el('p', {}, 'Nothing: no event was lost.'),
	);
	place.append(el('h2', {}, 'Recorded'), facts(info.facts));
	if (info.notes.length > 0) place.append(el('h2', {}, 'Notes'), sentences(info.notes));
	const { rest } = app.trace;
	place.append(
		el('h2', {}, 'In this page'),
		el(
			'p',
			{},
			'Striped parts of the timeline are aggregates: several calls ' +
				'that were added up. Within the blue lines below the ruler calls are there one by one.',
		),
	);
	if (rest)
		place.append(
			el(
				'p',
				{},
				`${count(rest.tracks)} threads with ${count(rest.calls)} calls have no rows: they ` +
					'are added up in the last line.',
			),
		);
	const body = el('tbody');
	for (const w of windows.slice(0, 400)) {
		const b = el('button', { type: 'button' }, w.text || w.why);
		b.addEventListener('click', () => {
			app.view.show(w.from, w.to);
			app.reveal(-1, w.track);
		});
		body.append(
			el(
				'tr',
				{},
				el('th', { scope: 'row', class: 'text' }, b),
				el('td', { class: 'number' }, exact(w.from)),
				el('td', { class: 'number' }, time(w.to - w.from)),
				el('td', { class: 'number' }, count(w.calls)),
			),
		);
	}
	if (windows.length > 0) {
		const head = el('tr');
		for (const h of ['In full', 'From', 'Lasts', 'Calls'])
			head.append(el('th', { scope: 'col', class: h === 'In full' ? 'text' : 'number' }, h));
		place.append(el('table', { 'aria-label': 'parts in full' }, el('thead', {}, head), body));
	}
	for (const p of processes.slice(0, 200))
		place.append(el('h2', {}, el('bdi', {}, `${p.name} ${p.pid}`)), facts(p.facts));
	// What is lost is said where nobody overlooks it.
	const badge = byId('lost');
	badge.hidden = info.left.length === 0;
	badge.title = info.left.join('\n');
	badge.addEventListener('click', () => app.showTab('about'));
}

export function showSlow(app: App): void {
	const place = byId('slow');
	const list = app.trace.marks.filter(m => m.kind === 'mark');
	if (list.length === 0) {
		place.append(el('p', { class: 'note' }, 'No call took far longer than the others of its function.'));
		return;
	}
	const body = el('tbody');
	const line = (m: Mark) => {
		const f = app.trace.fns[m.fn];
		const b = el('button', { type: 'button', title: m.text }, el('bdi', {}, f?.name ?? '(others)'));
		b.addEventListener('click', () => goToMark(app, m));
		body.append(
			el(
				'tr',
				{},
				el('th', { scope: 'row', class: 'text' }, b),
				el('td', { class: 'number' }, time(m.lasts)),
				el('td', { class: 'number' }, time(f?.p50)),
				el('td', { class: 'number wide' }, time(f?.p99)),
				el('td', { class: 'number' }, exact(m.at)),
				el('td', { class: 'text wide' }, el('bdi', {}, trackName(app.trace, m.track))),
			),
		);
	};
	list.sort((a, b) => b.lasts - a.lasts).forEach(line);
	const head = el('tr');
	for (const [h, c] of [
		['Slow call of', 'text'],
		['Took', 'number'],
		['Median', 'number'],
		['P99', 'number wide'],
		['At', 'number'],
		['Thread', 'text wide'],
	])
		head.append(el('th', { scope: 'col', class: c }, h));
	place.append(el('table', { 'aria-label': 'slow calls' }, el('thead', {}, head), body));
}
