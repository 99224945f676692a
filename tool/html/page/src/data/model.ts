// SPDX-License-Identifier: MIT
//
// What the page shows, apart from how it came into the page (source.ts) and how it is drawn (../draw). Times are
// nanoseconds since the beginning of the trace. A track is a thread, or a stack of its own (a coroutine's); a row is
// one line of the timeline: a track and a depth.

export interface Fn {
	name: string; // Visible: see names.ts.
	raw: string; // As it was recorded.
	library: string; // Its path.
	file: string; // The last part of that.
	kind: string;
	calls: number;
	counted: number;
	total: number | null;
	self: number | null;
	min: number | null;
	avg: number | null;
	p50: number | null;
	p90: number | null;
	p99: number | null;
	max: number | null;
	stddev: number | null;
	cpu: number | null;
	selfCpu: number | null;
	throttled: number | null;
	hist: number[]; // First bucket, then calls of this one and of those behind it.
}

export type RowKind = 'calls' | 'loose' | 'cpu' | 'rest';

export interface Track {
	tid: number;
	stack: number;
	shared: boolean; // The thread has other stacks, too.
	name: string; // What the program calls the thread, or nothing.
	process: number;
	calls: number;
	first: number;
	last: number;
	depth: number;
	deeper: number; // Calls that are in no row.
	rows: number[]; // Of calls, by depth; that of calls which do not nest is the last one.
	cpu: number; // The row of times on processors, or -1.
}

export interface Process {
	pid: number;
	name: string;
	facts: [string, string][];
	tracks: number[];
}

export interface Row {
	track: number; // Or -1: the sum of tracks without rows.
	kind: RowKind;
	depth: number;
	levels: number;
}

// A part of the time of which calls are there one by one.
export interface WindowInfo {
	id: number;
	from: number;
	to: number;
	calls: number;
	why: string;
	text: string;
	track: number; // Or -1: several.
	whole: boolean; // All calls of all tracks.
	fn: number;
	at: number;
	lasts: number;
}

export type LaneKind = 'load' | 'event' | 'request' | 'mark';

// Something that happened at a moment, or lasted.
export interface Mark {
	kind: LaneKind;
	at: number;
	lasts: number;
	track: number; // Or -1: of the process.
	process: number;
	fn: number; // Or -1.
	text: string;
	type: string; // Of an event; of a load, load or unload.
}

export interface Info {
	title: string;
	facts: [string, string][];
	left: string[]; // What the trace lacks, the most important first.
	notes: string[];
}

// What one row shows in one tile: runs of columns. Value: 0 nothing, else function + 1 (rows of calls), or another
// number (of other rows: html-format). Form: 0 one call, 1 several, added up, 2 these, and mostly nothing.
export interface Runs {
	n: number;
	end: Uint16Array; // The first column behind the run.
	value: Uint32Array;
	form: Uint8Array;
}

export interface Tile {
	from: number;
	column: number; // Time of one column.
	row(index: number): Runs | null;
}

// Calls of one row of a window, by their beginnings.
export interface Calls {
	n: number;
	start: Float64Array;
	lasts: Float64Array;
	self: Float64Array;
	cpu: Float64Array; // -1: not known.
	fn: Uint32Array;
	how: Uint8Array;
	text: Uint32Array;
	request: Uint32Array;
	levels: Uint32Array[]; // Of 8, 64, ... calls in a row the longest.
}

// Times of a row of which a window has everything.
export interface Piece {
	from: number;
	to: number;
}

// When a thread was on a processor.
export interface OnCpu {
	n: number;
	start: Float64Array;
	lasts: Float64Array;
	known: Uint8Array;
}

export interface Win {
	calls(row: number): Calls | null;
	cpu(row: number): OnCpu | null;
	pieces(row: number): Piece[];
	text(number: number): string;
	texts: number;
	rows: number[];
	bytes: number;
}

export const HOW = [
	'',
	'returned',
	'jumped on to another function',
	'ended by an exception or longjmp',
	'cut',
	'its end is not known',
	'recording was switched off in it',
	'only its entry was recorded',
];

export interface Tree {
	n: number;
	fn: Float64Array;
	parent: Float64Array; // 1 + its index; 0 for roots. Parents come first.
	calls: Float64Array;
	total: Float64Array;
	self: Float64Array;
	all: Float64Array;
	folded: Float64Array;
}

export interface Bucket {
	low: number;
	high: number;
	calls: number;
}

export interface Edge {
	from: number; // A function; -1: nothing that was traced.
	to: number;
	calls: number;
	total: number;
	self: number;
}

export interface Rates {
	from: number;
	column: number;
	all: Float64Array;
	by: Map<number, Float64Array>;
}

// What is said of functions that are not listed one by one.
export interface Others {
	functions: number;
	calls: number;
}

export interface Trace {
	from: number;
	to: number;
	began: number | null; // Milliseconds since 1970, of time 0.
	info: Info;
	fns: Fn[];
	others: Others | null;
	processes: Process[];
	tracks: Track[];
	rows: Row[];
	rest: { tracks: number; calls: number; row: number } | null;
	windows: WindowInfo[];
	marks: Mark[];
	sched: boolean;
	functions: number; // With calls; some that were only seen as callers have none.
	leftOut: number; // Calls that no context of the tree has.
	levels: number;
	columns: number; // Of a tile.
	column(level: number): number; // How long a column of a level is.
	origin: number; // Where the first column begins.
	// Each of these returns what is there; null where the page has none; else undefined, and `ready` is called when
	// it is there. `peek` does not fetch.
	tile(level: number, index: number): Tile | null | undefined;
	peek(level: number, index: number): Tile | null | undefined;
	win(index: number): Win | null | undefined;
	// Waits for them; null where the page does not have them.
	wholeTile(level: number, index: number): Promise<Tile | null>;
	wholeWin(index: number): Promise<Win | null>;
	tree(): Promise<Tree | null>;
	edges(): Promise<Edge[]>;
	rates(): Promise<Rates | null>;
	ready: () => void;
}
