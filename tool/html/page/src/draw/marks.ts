// SPDX-License-Identifier: MIT
//
// Marks by time. There may be 100 000 in a lane, and each frame asks for those in view.

import { Mark } from '../data/model';
import { lower } from '../data/window';

interface Times {
	starts: Float64Array;
	longest: number;
}

const known = new WeakMap<Mark[], Times>();

// marks: in order of time.
export function timesOf(marks: Mark[]): Times {
	let times = known.get(marks);
	if (!times) {
		times = {
			starts: Float64Array.from(marks, m => m.at),
			longest: marks.reduce((l, m) => Math.max(l, m.lasts), 0),
		};
		known.set(marks, times);
	}
	return times;
}

// Calls `each` with those that are, or last into, that time. Where none lasts, only the first of each pixel counts: the
// others lie under it.
export function eachMark(marks: Mark[], from: number, to: number, pixel: number, each: (m: Mark) => void): void {
	const { starts, longest } = timesOf(marks);
	for (let i = lower(starts, from - longest); i < marks.length && starts[i] <= to;) {
		const m = marks[i];
		if (m.at + m.lasts >= from) each(m);
		i++;
		if (longest === 0 && i < marks.length && starts[i] - m.at < pixel / 2)
			i = Math.max(i, lower(starts, m.at + pixel / 2));
	}
}
