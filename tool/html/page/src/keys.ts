// SPDX-License-Identifier: MIT
//
// What keys do. The list that `?` shows is this list.

import { App } from './app';
import { byId, el } from './dom';
import { Search } from './panels/search';
import { Timeline } from './draw/timeline';

interface Key {
	keys: string[];
	shown: string;
	text: string;
	press: (e: KeyboardEvent) => void;
}

const MOUSE: [string, string][] = [
	['wheel', 'zoom where the pointer is'],
	['Shift wheel', 'earlier, later'],
	['Alt wheel', 'scroll, as over the names'],
	['drag', 'earlier, later, up, down'],
	['Shift drag', 'zoom to a part'],
	['click', 'select a call or a function'],
	['double click', 'zoom to a call'],
];

export function setKeys(app: App, timeline: Timeline, search: Search, toggleTheme: () => void, link: () => void): void {
	const { view } = app;
	const wide = () => view.to - view.from;
	const help = byId<HTMLDialogElement>('help');
	const keys: Key[] = [
		{
			keys: ['w', '+', '='],
			shown: 'W  +',
			text: 'zoom in',
			press: () => view.zoom(1 / 1.5, view.middle, true),
		},
		{
			keys: ['s', '-', '_'],
			shown: 'S  −',
			text: 'zoom out',
			press: () => view.zoom(1.5, view.middle, true),
		},
		{
			keys: ['a', 'ArrowLeft'],
			shown: 'A  ←',
			text: 'earlier',
			press: () => view.pan(-wide() / 5, true),
		},
		{ keys: ['d', 'ArrowRight'], shown: 'D  →', text: 'later', press: () => view.pan(wide() / 5, true) },
		{ keys: ['ArrowUp'], shown: '↑', text: 'up', press: () => timeline.scrollBy(-60) },
		{ keys: ['ArrowDown'], shown: '↓', text: 'down', press: () => timeline.scrollBy(60) },
		{
			keys: ['0', 'Home'],
			shown: '0',
			text: 'the whole trace',
			press: () => view.move(view.first, view.last),
		},
		{
			keys: ['f'],
			shown: 'F',
			text: 'zoom to what is selected',
			press: () => {
				if (app.hit) view.show(app.hit.from, app.hit.to);
			},
		},
		{ keys: ['/'], shown: '/', text: 'search', press: () => search.focus() },
		{
			keys: ['n'],
			shown: 'N',
			text: 'next of what was found, or next call',
			press: () => void search.step(true),
		},
		{ keys: ['N', 'p'], shown: 'Shift N', text: 'the one before', press: () => void search.step(false) },
		{ keys: ['['], shown: '[', text: 'fold all threads', press: () => timeline.foldAll(true) },
		{ keys: [']'], shown: ']', text: 'unfold all threads', press: () => timeline.foldAll(false) },
		{ keys: ['l'], shown: 'L', text: 'copy a link to this moment', press: link },
		{ keys: ['t'], shown: 'T', text: 'light, dark, or as the system has it', press: toggleTheme },
		{ keys: ['Escape'], shown: 'Esc', text: 'select nothing', press: () => app.select(null) },
		{ keys: ['?', 'h'], shown: '?', text: 'this help', press: () => help.showModal() },
	];
	const table = el('tbody');
	for (const [k, text] of [...keys.map(k => [k.shown, k.text]), ...MOUSE])
		table.append(
			el(
				'tr',
				{},
				el('th', { scope: 'row' }, ...k.split(/ {2}/).map(x => el('kbd', {}, x))),
				el('td', {}, text),
			),
		);
	byId('help-keys').append(el('table', {}, table));
	byId('help-button').addEventListener('click', () => help.showModal());
	document.addEventListener('keydown', e => {
		if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
		const { target } = e;
		if (
			(target instanceof HTMLInputElement && target.type !== 'radio') ||
			target instanceof HTMLSelectElement
		)
			return;
		// Buttons and lists have their own use for arrows; scrolling, too.
		if (
			e.key.startsWith('Arrow') &&
			target instanceof HTMLElement &&
			(target instanceof HTMLInputElement ||
				target.closest('.panel, [role=tablist], [role=separator]'))
		)
			return;
		const key =
			keys.find(k => k.keys.includes(e.key)) ??
			(e.shiftKey ? undefined : keys.find(k => k.keys.includes(e.key.toLowerCase())));
		if (!key) return;
		e.preventDefault();
		key.press(e);
	});
}
