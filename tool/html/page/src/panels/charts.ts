// SPDX-License-Identifier: MIT
//
// Charts, by uPlot: how a function's times are distributed, and how many calls began when.

import uPlot from 'uplot';
import { App } from '../app';
import { css } from '../draw/colours';
import { FONT } from '../draw/paint';
import { el } from '../dom';
import { Bucket, Rates } from '../data/model';
import { brief, count, exact, time, timeBy } from '../data/units';

// The lowest time of a bucket: eight of them from each power of two to the next.
export function bucketLow(b: number): number {
	return b < 8 ? b : (8 + (b & 7)) * 2 ** ((b >> 3) - 1);
}

export function buckets(hist: number[]): Bucket[] {
	const out: Bucket[] = [];
	for (let i = 1; i < hist.length; i++)
		out.push({ low: bucketLow(hist[0] + i - 1), high: bucketLow(hist[0] + i), calls: hist[i] });
	return out;
}

function axes(app: App, x: (v: number, step: number) => string): uPlot.Axis[] {
	const common = {
		stroke: app.look.faint,
		font: `10px ${FONT}`,
		grid: { stroke: css(app.look.line), width: 1 },
		ticks: { stroke: css(app.look.line), width: 1, size: 4 },
	};
	return [
		{
			...common,
			size: 26,
			values: (_, splits, __, ___, step) => splits.map(v => (v === null ? '' : x(v, step))),
		},
		{ ...common, size: 42, values: (_, splits) => splits.map(v => (v === null ? '' : brief(v))) },
	];
}

// Labels at powers of ten; at 2 and 5 of them, too, where there are few.
function logAxes(app: App, from: number, to: number): uPlot.Axis[] {
	const [x, y] = axes(app, v => time(v).replace(/\.?0+(?= )/, ''));
	const at: number[] = [];
	const factors = to / from < 200 ? [1, 2, 5] : [1];
	for (let power = 1; power <= to; power *= 10)
		for (const f of factors) if (f * power >= from && f * power <= to) at.push(f * power);
	return [{ ...x, splits: () => at, filter: (_, splits) => splits }, y];
}

export interface Chart {
	element: HTMLElement;
	destroy: () => void;
}

function chart(
	app: App,
	title: string,
	said: string,
	width: number,
	options: Partial<uPlot.Options>,
	data: uPlot.AlignedData,
	tell: (i: number) => string,
): Chart {
	const line = el('p', { class: 'told', 'aria-live': 'off' }, said);
	const box = el('figure', { class: 'chart', 'aria-label': `${title}: ${said}` }, el('figcaption', {}, title));
	const stroke = css(app.look.accent);
	const { r, g, b } = app.look.accent;
	const plot = new uPlot(
		{
			width,
			height: 150,
			legend: { show: false },
			padding: [8, 18, 0, 0],
			cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
			...options,
			series: [
				{},
				{
					stroke,
					width: 1,
					fill: `rgb(${r} ${g} ${b} / 35%)`,
					paths: uPlot.paths.stepped?.({ align: 1 }),
					points: { show: false },
				},
			],
			hooks: {
				setCursor: [
					u => {
						const i = u.cursor.idx;
						line.textContent =
							typeof i === 'number' && i < data[0].length ? tell(i) : said;
					},
				],
			},
		},
		data,
		box,
	);
	box.append(line);
	return { element: box, destroy: () => plot.destroy() };
}

export function histogram(app: App, list: Bucket[], width: number): Chart {
	const some = list.length;
	const calls = list.reduce((s, b) => s + b.calls, 0);
	const x = list.map(b => Math.max(b.low, 0.7));
	const y: number[] = list.map(b => b.calls);
	const last = list[some - 1];
	x.push(Math.max(last.high, 1));
	y.push(0);
	// One more before the first, for the slope of the step.
	x.unshift(Math.max(0.5, x[0] * 0.9));
	y.unshift(0);
	const said = `${count(calls)} calls, from ${time(list[0].low)} to ${time(last.high)}`;
	return chart(
		app,
		'Times of its calls',
		said,
		width,
		{
			scales: {
				x: { time: false, distr: 3, range: () => [x[0], x[x.length - 1]] },
				y: { range: (_, __, max) => [0, max * 1.08] },
			},
			axes: logAxes(app, x[0], x[x.length - 1]),
		},
		[x, y],
		i => {
			const b = list[i - 1];
			return b ? `${time(b.low)} to ${time(b.high)}: ${count(b.calls)} calls` : said;
		},
	);
}

export function rateChart(app: App, rates: Rates, values: Float64Array, width: number): Chart {
	// At most so many pieces that one sees each.
	const each = Math.max(1, Math.ceil(values.length / (width / 2)));
	const column = rates.column * each;
	const x: number[] = [];
	const perSecond: number[] = [];
	for (let i = 0; i < values.length; i += each) {
		x.push(rates.from + i * rates.column);
		perSecond.push((values.subarray(i, i + each).reduce((s, v) => s + v, 0) * 1e9) / column);
	}
	const most = perSecond.reduce((m, v) => Math.max(m, v), 0);
	const said = `at most ${brief(most)} calls per second, in pieces of ${time(column)}`;
	return chart(
		app,
		'Calls per second',
		said,
		width,
		{
			scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.08)] } },
			axes: axes(app, timeBy),
		},
		[x, perSecond],
		i => `from ${exact(x[i])}: ${brief(perSecond[i])} calls per second`,
	);
}
