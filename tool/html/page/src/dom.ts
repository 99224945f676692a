// SPDX-License-Identifier: MIT
//
// Elements. Text goes in as text, never as markup.

type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Record<string, string> = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
	for (const c of children) if (c !== null) e.append(c);
	return e;
}

export function button(label: string, title: string, press: () => void, name = ''): HTMLButtonElement {
	const b = el('button', { type: 'button', title, 'aria-label': title, ...(name ? { id: name } : {}) }, label);
	b.addEventListener('click', press);
	return b;
}

export function byId<T extends HTMLElement>(id: string): T {
	const e = document.getElementById(id);
	if (!e) throw new Error('no element ' + id);
	return e as T;
}

export function clear(e: Element): void {
	e.replaceChildren();
}

// What the pointer is on: a title and lines, beside it; an empty title takes it away.
export function tell(tip: HTMLElement, title: string, lines: string[], x: number, y: number): void {
	tip.hidden = !title;
	if (!title) return;
	tip.replaceChildren(el('strong', {}, title), ...lines.map(l => el('div', {}, l)));
	const [w, h] = [tip.offsetWidth, tip.offsetHeight];
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 6)) + 'px';
	tip.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + 'px';
}
