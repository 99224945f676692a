// SPDX-License-Identifier: MIT
//
// What the blocks of JSON have in them, as the command writes them (tool/html/head.h).

export interface HeadCall {
	function: number;
	time: number;
	duration: number;
	self?: number;
	p99?: number;
	median?: number;
	track: number | null;
	window: number | null;
}

export interface Head {
	format: number;
	xaudit: string;
	start_real_ns: string | null;
	range: [number, number];
	filters: Record<string, string | number | boolean | null>;
	info: {
		path: string | null;
		command: string | null;
		status: string | null;
		version: string | null;
		host: string | null;
		exe: string | null;
		coarse: number;
		sched: boolean;
		notes?: string[];
		left: string[];
		lost: { why: string; count: number }[];
		sums: Record<string, number>;
	};
	totals: Record<'calls' | 'functions' | 'tracks' | 'rows' | 'events', number>;
	processes: {
		pid: number;
		parent: number;
		name: string | null;
		exe: string | null;
		command: string | null;
		host: string | null;
		module: string | null;
		start: number;
		end: number;
		lost: number;
		state: string | null;
		rules: string | null;
		notes: string[];
		threads: number;
		cpu_ns: number | null;
	}[];
	tracks: {
		process: number;
		tid: number;
		stack: number;
		name: string | null;
		calls: number;
		time: number;
		first: number;
		last: number;
		depth: number;
		row: number | null;
		rows: number;
		loose: number | null;
		cpu: number | null;
		deeper: number;
	}[];
	rest: { tracks: number; calls: number; time: number; row: number } | null;
	rows: { track: number | null; kind: 'calls' | 'loose' | 'cpu' | 'rest'; depth: number; levels: number }[];
	pyramid: { columns: number; from: number; width: number; levels: number };
	windows: {
		id: number;
		why: string;
		text: string;
		from: number;
		to: number;
		track: number | null;
		function: number | null;
		time: number | null;
		duration: number | null;
		calls: number;
		whole: boolean;
	}[];
	outliers: HeadCall[];
	slowest: HeadCall[];
	around: HeadCall[] | null;
	tree?: { folded: number } | null;
	rates?: { columns: number; functions: number[]; from: number; width: number } | null;
	blocks: [string, number, number][];
}

export interface FunctionsBlock {
	functions: {
		name: string;
		shown?: string;
		library: string;
		kind: string;
		calls: number;
		counted: number;
		total: number | null;
		self: number | null;
		min: number | null;
		max: number | null;
		avg: number | null;
		p50: number | null;
		p90: number | null;
		p99: number | null;
		stddev: number | null;
		cpu: number | null;
		cpu_self: number | null;
		throttled: number | null;
		hist: number[];
	}[];
	others: { functions: number; calls: number } | null;
}

export interface EventsBlock {
	types: { name: string; count: number; kept: number }[];
	type: number[];
	time: number[];
	track: number[];
	tid: number[];
	text: string[];
	mark: number[];
}

export interface LoadsBlock {
	objects: string[];
	count: number;
	what: number[];
	time: number[];
	process: number[];
	object: number[];
	tid: number[];
}

export interface RequestsBlock {
	count: number;
	text: string[];
	track: number[];
	from: number[];
	to: number[];
}
