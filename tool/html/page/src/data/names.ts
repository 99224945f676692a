// SPDX-License-Identifier: MIT
//
// Text of the trace, made harmless for eyes: what is invisible, or turns the direction of writing, is shown as an
// escape. Text comes into the page by textContent and fillText only, never as markup.

// Controls, soft hyphen, marks and overrides of direction, zero widths, separators, tags, byte order marks, halves of
// surrogates, private use.
const HIDDEN = new RegExp(
	'[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f' +
		'\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffc]|' +
		'[\\u{e0000}-\\u{e0fff}]|' +
		'\\p{Surrogate}|\\p{Private_Use}',
	'gu',
);

function escape(c: string): string {
	const n = c.codePointAt(0) ?? 0;
	return n === 10
		? '\\n'
		: n === 9
			? '\\t'
			: n < 0x100
				? '\\x' + n.toString(16).padStart(2, '0')
				: n < 0x10000
					? '\\u' + n.toString(16).padStart(4, '0')
					: '\\u{' + n.toString(16) + '}';
}

// What is not known is null, and seen as nothing.
export function visible(text: string | null | undefined): string {
	return (text ?? '').replace(HIDDEN, escape);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud802|\ud803|\ud83a|\ud83b/;

// For text that is put beside other text: letters written from right to left do not move what stands beside them.
export function isolated(text: string): string {
	const seen = visible(text);
	return RIGHT_TO_LEFT.test(seen) ? '\u2068' + seen + '\u2069' : seen;
}

const shortNames = new Map<string, string>();

// Where there is little room: a C++ name without arguments of templates and of functions.
export function short(name: string): string {
	const known = shortNames.get(name);
	if (known !== undefined) return known;
	let out = '';
	let depth = 0;
	const operator = name.indexOf('operator');
	for (let i = 0; i < name.length; i++) {
		const c = name[i];
		if (operator >= 0 && i >= operator && i < operator + 11 && '<>()-'.includes(c) && depth === 0) {
			out += c;
			continue;
		}
		if (c === '<' || c === '(') {
			if (c === '(' && depth === 0 && !name.startsWith('(anonymous', i) && out !== '') break;
			depth++;
		} else if ((c === '>' || c === ')') && depth > 0) {
			depth--;
		} else if (depth === 0) {
			out += c;
		}
	}
	// The type that a template returns stands before its name.
	const space = out.lastIndexOf(' ');
	if (operator < 0 && space >= 0 && out.includes('::', space)) out = out.slice(space + 1);
	out = out || name;
	shortNames.set(name, out);
	return out;
}

// Of a name that short() made, as many of the classes and namespaces before it as have room.
export function last(brief: string, fits: (text: string) => boolean): string {
	let text = brief;
	for (let at = text.indexOf('::'); at >= 0 && at + 2 < text.length && !fits(text); at = text.indexOf('::'))
		text = text.slice(at + 2);
	return text;
}

// A long C++ name, with what stands between its outermost brackets left out: Type<...>::method(...).
export function compact(name: string): string {
	if (name.length < 48 || name.includes('operator') || name.includes('(anonymous')) return name;
	let out = '';
	let depth = 0;
	let inner = '';
	for (const c of name) {
		if (depth > 0) {
			depth += c === '<' || c === '(' ? 1 : c === '>' || c === ')' ? -1 : 0;
			if (depth > 0) {
				inner += c;
				continue;
			}
			out += inner.length > 12 ? '…' : inner;
		} else if (c === '<' || c === '(') {
			depth = 1;
			inner = '';
		}
		out += c;
	}
	return depth > 0 ? name : out;
}

// A name with the values of one call: arguments take the place of their types.
export function withValues(name: string, values: string): string {
	return values.startsWith('(') ? (name.endsWith(')') ? short(name) : name) + values : `${name} ${values}`;
}
