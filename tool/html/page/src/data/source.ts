// SPDX-License-Identifier: MIT
//
// The trace that lies in this page. Tiles and windows are inflated when somebody looks at them, and thrown away when
// they were not looked at for long and others want their room.

import { block, jsonBlock, tables, tablesBlock } from './container';
import { EventsBlock, FunctionsBlock, Head, HeadCall, LoadsBlock, RequestsBlock } from './head';
import { Edge, Fn, Mark, Process, Rates, Row, Tile, Trace, Track, Tree, Win } from './model';
import { short, visible } from './names';
import { PackedTile } from './tile';
import { count, time } from './units';
import { PackedWindow } from './window';

const ROOM = 120e6; // Bytes that tiles and windows may take together.

interface Kept {
	bytes: number;
}

// What was used last comes last in a Map, if it is put in again.
class Shelf {
	private readonly things = new Map<string, Kept | null>();
	private readonly coming = new Map<string, Promise<Kept | null>>();
	private bytes = 0;

	constructor(private readonly make: (name: string) => Promise<Kept | null>) {}

	get(name: string): Kept | null | undefined {
		const thing = this.things.get(name);
		if (thing !== undefined) {
			this.things.delete(name);
			this.things.set(name, thing);
		}
		return thing;
	}

	want(name: string): Promise<Kept | null> {
		const here = this.get(name);
		if (here !== undefined) return Promise.resolve(here);
		let soon = this.coming.get(name);
		if (!soon) {
			soon = this.make(name)
				.catch((e: unknown) => {
					console.error(String(e));
					return null;
				})
				.then(thing => {
					this.coming.delete(name);
					this.things.set(name, thing);
					this.bytes += thing?.bytes ?? 0;
					for (const [old, kept] of this.things) {
						if (this.bytes <= ROOM || old === name) break;
						// The coarsest tile stands in for all others.
						if (old === 't0.0') continue;
						this.things.delete(old);
						this.bytes -= kept?.bytes ?? 0;
					}
					return thing;
				});
			this.coming.set(name, soon);
		}
		return soon;
	}
}

function named(f: FunctionsBlock['functions'][number]): Fn {
	const library = visible(f.library);
	return {
		name: visible(f.shown ?? f.name),
		raw: f.name,
		library,
		file: base(library),
		kind: f.kind,
		calls: f.calls,
		counted: f.counted,
		total: f.total,
		self: f.self,
		min: f.min,
		avg: f.avg,
		p50: f.p50,
		p90: f.p90,
		p99: f.p99,
		max: f.max,
		stddev: f.stddev,
		cpu: f.cpu,
		selfCpu: f.cpu_self,
		throttled: f.throttled,
		hist: f.hist ?? [],
	};
}

// The last part of a path.
function base(path: string | null): string {
	return (path ?? '').slice((path ?? '').lastIndexOf('/') + 1);
}

function processes(head: Head): Process[] {
	const several = new Set(head.processes.map(p => p.host)).size > 1;
	return head.processes.map(p => ({
		pid: p.pid,
		name: visible(/^p[0-9]/.test(p.name ?? '') ? base(p.exe) || p.name : p.name || base(p.exe)),
		tracks: [],
		facts: (
			[
				['Program', p.exe],
				['Command', p.command],
				['Host', several ? p.host : ''],
				['Rules', p.rules],
				['Ended', p.state],
				['Threads', count(p.threads)],
				['Lost', p.lost ? count(p.lost) : ''],
				['On processors', p.cpu_ns === null ? '' : time(p.cpu_ns)],
				...p.notes.map(n => ['Note', n]),
			] as [string, string][]
		)
			.filter(f => f[1])
			.map(f => [f[0], visible(f[1])] as [string, string]),
	}));
}

function tracksOf(head: Head, list: Process[], loose: Map<number, number>): Track[] {
	const stacks = new Map<string, number>();
	for (const t of head.tracks)
		stacks.set(`${t.process} ${t.tid}`, (stacks.get(`${t.process} ${t.tid}`) ?? 0) + 1);
	return head.tracks.map((t, i) => {
		const rows: number[] = [];
		for (let r = 0; t.row !== null && r < t.rows; r++) rows.push(t.row + r);
		if (t.loose !== null) {
			rows.push(t.loose);
			loose.set(i, t.loose);
		}
		list[t.process]?.tracks.push(i);
		return {
			tid: t.tid,
			stack: t.stack,
			shared: (stacks.get(`${t.process} ${t.tid}`) ?? 0) > 1,
			name: visible(t.name),
			process: t.process,
			calls: t.calls,
			first: t.first,
			last: t.last,
			depth: t.depth,
			deeper: t.deeper,
			rows,
			cpu: t.cpu ?? -1,
		};
	});
}

function facts(head: Head): [string, string][] {
	const { info, totals, filters } = head;
	const asked = Object.entries(filters)
		.filter(([k, v]) => v !== null && !(k === 'values' && v === true))
		.map(([k, v]) =>
			k === 'values'
				? 'without values'
				: k.endsWith('_ns')
					? `--${k.slice(0, -3)}=${time(Number(v))}`
					: `--${k}=${String(v)}`,
		);
	const all: [string, string | null][] = [
		['Trace', info.path],
		['Command', info.command],
		['Status', info.status],
		['Host', info.host],
		[
			'Began',
			head.start_real_ns
				? new Date(Number(head.start_real_ns) / 1e6).toISOString().replace('T', ' ')
				: '',
		],
		['Time', time(head.range[1] - head.range[0])],
		['Recorded by', info.version],
		['Page by', head.xaudit],
		['Only', asked.join(' ')],
		['Calls', count(totals.calls)],
		['Functions', count(totals.functions)],
		['Threads and stacks', count(totals.tracks)],
		['Custom events', totals.events ? count(totals.events) : ''],
		['Clock', info.coarse ? 'coarse: steps of ' + time(info.coarse) : ''],
	];
	return all.map((f): [string, string] => [f[0], visible(f[1])]).filter(f => f[1]);
}

function lost(head: Head): string[] {
	return [...head.info.left, ...head.info.lost.map(l => `${l.why}: ${count(l.count)}`)].map(visible);
}

function callMarks(head: Head, fns: Fn[], tracks: Track[]): Mark[] {
	const seen = new Set<string>();
	const out: Mark[] = [];
	const add = (list: HeadCall[] | null, word: (c: HeadCall) => string) => {
		for (const c of list ?? []) {
			const key = `${c.function} ${c.time} ${c.track}`;
			if (seen.has(key)) continue;
			seen.add(key);
			out.push({
				kind: 'mark',
				at: c.time,
				lasts: c.duration,
				track: c.track ?? -1,
				process: tracks[c.track ?? -1]?.process ?? 0,
				fn: c.function,
				type: 'call',
				text: `${short(fns[c.function]?.name ?? 'others')}: ${time(c.duration)}${word(c)}`,
			});
		}
	};
	add(head.outliers, c => `, an outlier: half of them within ${time(c.median ?? fns[c.function]?.p50)}`);
	add(head.around, () => ', one of the longest');
	add(head.slowest, c => `, ${time(c.self)} of its own`);
	return out;
}

// Of all processes where it is said of none: the first one.
function otherMarks(
	events: EventsBlock | null,
	loads: LoadsBlock | null,
	requests: RequestsBlock | null,
	tracks: Track[],
	pids: Map<number, number>,
): Mark[] {
	const out: Mark[] = [];
	const of = (track: number) => tracks[track]?.process ?? 0;
	events?.time.forEach((at, i) => {
		const type = visible(events.types[events.type[i]]?.name ?? '');
		// These have a lane of their own.
		if (requests && /^request(-number|-end)?$/.test(type)) return;
		out.push({
			kind: 'event',
			at,
			lasts: 0,
			track: events.track[i],
			process: events.track[i] >= 0 ? of(events.track[i]) : (pids.get(events.tid[i]) ?? 0),
			fn: -1,
			type,
			text: [type, visible(events.text[i] ?? '')].join(' '),
		});
	});
	loads?.time.forEach((at, i) => {
		const type = loads.what[i] ? 'load' : 'unload';
		out.push({
			kind: 'load',
			at,
			lasts: 0,
			track: -1,
			process: loads.process[i],
			fn: -1,
			type,
			text: `${type} ${visible(loads.objects[loads.object[i]] ?? '')}`,
		});
	});
	requests?.from.forEach((at, i) => {
		out.push({
			kind: 'request',
			at,
			lasts: requests.to[i] - at,
			track: requests.track[i],
			process: of(requests.track[i]),
			fn: -1,
			type: 'request',
			text: visible(requests.text[i] ?? ''),
		});
	});
	return out;
}

// The trace of this page; throws where the page is not whole.
export async function openTrace(): Promise<Trace> {
	const element = document.getElementById('xaudit-head');
	if (!element) throw new Error('there is no trace in this page');
	const head = JSON.parse(element.textContent ?? '') as Head;
	if (head.format !== 1) throw new Error(`format ${head.format} is not known to this page`);
	const [functions, events, loads, requests] = await Promise.all([
		jsonBlock<FunctionsBlock>('functions'),
		jsonBlock<EventsBlock>('events'),
		jsonBlock<LoadsBlock>('loads'),
		jsonBlock<RequestsBlock>('requests'),
	]);
	const fns = (functions?.functions ?? []).map(named);
	const loose = new Map<number, number>();
	const list = processes(head);
	const tracks = tracksOf(head, list, loose);
	const pids = new Map<number, number>();
	tracks.forEach(t => pids.set(t.tid, t.process));
	list.forEach((p, i) => pids.set(p.pid, i));
	const p = head.pyramid;
	const top = p.levels - 1;
	const column = (level: number) => p.width * 2 ** (top - level);
	const make = async (name: string): Promise<Kept | null> => {
		const bytes = await block(name);
		if (!bytes) return null;
		const parts = tables(bytes, name);
		if (name[0] === 'w') return new PackedWindow(parts, tracks, loose);
		const [level, index] = name.slice(1).split('.').map(Number);
		return new PackedTile(parts, p.from + index * p.columns * column(level), column(level));
	};
	const shelf = new Shelf(make);
	const get = (name: string) => {
		const here = shelf.get(name);
		if (here === undefined) void shelf.want(name).then(() => trace.ready());
		return here;
	};
	const trace: Trace = {
		from: head.range[0],
		to: Math.max(head.range[1], head.range[0] + 1),
		began: head.start_real_ns === null ? null : Number(head.start_real_ns) / 1e6,
		info: {
			title: visible(
				base(
					((head.info.command ?? '').split(' ')[0] || (head.info.path ?? '')).replace(
						/\/+$/,
						'',
					),
				),
			),
			facts: facts(head),
			left: lost(head),
			notes: (head.info.notes ?? []).map(visible),
		},
		fns,
		others: functions?.others ?? null,
		processes: list,
		tracks,
		rows: head.rows.map((r): Row => ({ ...r, track: r.track ?? -1 })),
		rest: head.rest,
		sched: head.info.sched,
		functions: head.totals.functions,
		leftOut: head.tree?.folded ?? 0,
		levels: p.levels,
		columns: p.columns,
		column,
		origin: p.from,
		windows: head.windows.map(w => ({
			id: w.id,
			from: w.from,
			to: w.to,
			calls: w.calls,
			why: w.why,
			text: visible(w.text),
			track: w.track ?? -1,
			whole: w.whole,
			fn: w.function ?? -1,
			at: w.time ?? -1,
			lasts: w.duration ?? 0,
		})),
		marks: [...callMarks(head, fns, tracks), ...otherMarks(events, loads, requests, tracks, pids)],
		tile: (level, index) => get(`t${level}.${index}`) as Tile | null | undefined,
		peek: (level, index) => shelf.get(`t${level}.${index}`) as Tile | null | undefined,
		win: id => get(`w${id}`) as Win | null | undefined,
		wholeTile: async (level, index) => (await shelf.want(`t${level}.${index}`)) as Tile | null,
		wholeWin: async id => (await shelf.want(`w${id}`)) as Win | null,
		tree: once(readTree),
		edges: once(() => readEdges(fns.length)),
		rates: once(() => readRates(head)),
		ready: () => undefined,
	};
	return trace;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
	let made: Promise<T> | null = null;
	return () => (made ??= make());
}

async function readTree(): Promise<Tree | null> {
	const table = (await tablesBlock('tree'))?.[0];
	if (!table) return null;
	const column = (c: number) => Float64Array.from(table.columns[c] ?? []);
	return {
		n: table.n,
		fn: column(0),
		parent: column(1),
		calls: column(2),
		total: column(3),
		self: column(4),
		all: column(5),
		folded: column(8),
	};
}

// From 0, what was called by nothing traced; behind the functions, the others.
async function readEdges(functions: number): Promise<Edge[]> {
	const table = (await tablesBlock('edges'))?.[0];
	const out: Edge[] = [];
	for (let i = 0; table && i < table.n; i++) {
		const [from, to, calls, total, self] = table.columns.map(c => c[i]);
		out.push({ from: from > functions ? functions : from - 1, to, calls, total, self });
	}
	return out;
}

async function readRates(head: Head): Promise<Rates | null> {
	const table = head.rates && (await tablesBlock('rates'))?.[0];
	if (!table || !head.rates) return null;
	const by = new Map<number, Float64Array>();
	head.rates.functions.forEach((f, i) => by.set(f, Float64Array.from(table.columns[i + 1] ?? [])));
	return { from: head.rates.from, column: head.rates.width, all: Float64Array.from(table.columns[0]), by };
}
