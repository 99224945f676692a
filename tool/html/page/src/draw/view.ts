// SPDX-License-Identifier: MIT
//
// Which part of the time is in view. Whoever shows it is told of each change; moves by keys and buttons take a moment,
// so that eyes can follow, unless the system asks for less motion.

const LEAST = 20; // Nanoseconds: nothing shorter can be in view.
const MOVE = 120; // Milliseconds.

export class View {
	from: number;
	to: number;
	private readonly tellers: (() => void)[] = [];
	private target: [number, number] | null = null;
	private begun = 0;
	private origin: [number, number] = [0, 0];

	constructor(
		readonly first: number,
		readonly last: number,
	) {
		this.from = first;
		this.to = last;
	}

	get span(): number {
		return this.last - this.first;
	}

	onChange(teller: () => void): void {
		this.tellers.push(teller);
	}

	private put(from: number, to: number): void {
		this.from = from;
		this.to = to;
		for (const t of this.tellers) t();
	}

	// The nearest that is allowed: inside of the trace, and not too narrow.
	private within(from: number, to: number): [number, number] {
		const wide = Math.min(this.span, Math.max(LEAST, to - from));
		const middle = (from + to) / 2;
		const left = Math.min(
			Math.max(to - from < LEAST ? middle - wide / 2 : from, this.first),
			this.last - wide,
		);
		return [left, left + wide];
	}

	set(from: number, to: number): void {
		this.target = null;
		this.put(...this.within(from, to));
	}

	// By and by. Moves that follow on each other begin from where the former would have ended.
	move(from: number, to: number): void {
		if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
			this.set(from, to);
			return;
		}
		const idle = this.target === null;
		this.target = this.within(from, to);
		this.origin = [this.from, this.to];
		this.begun = performance.now();
		if (idle) requestAnimationFrame(() => this.step());
	}

	private step(): void {
		if (!this.target) return;
		const part = Math.min(1, (performance.now() - this.begun) / MOVE);
		const ease = 1 - (1 - part) ** 3;
		const [a, b] = this.target;
		if (part >= 1) this.target = null;
		else requestAnimationFrame(() => this.step());
		this.put(this.origin[0] + (a - this.origin[0]) * ease, this.origin[1] + (b - this.origin[1]) * ease);
	}

	private get ahead(): [number, number] {
		return this.target ?? [this.from, this.to];
	}

	// `factor` below 1 shows less; the moment `at` stays where it is.
	zoom(factor: number, at: number, slowly: boolean): void {
		const [from, to] = slowly ? this.ahead : [this.from, this.to];
		const wide = Math.max(LEAST, Math.min(this.span, (to - from) * factor));
		const left = at - ((at - from) * wide) / (to - from);
		if (slowly) this.move(left, left + wide);
		else this.set(left, left + wide);
	}

	pan(by: number, slowly: boolean): void {
		const [from, to] = slowly ? this.ahead : [this.from, this.to];
		if (slowly) this.move(from + by, to + by);
		else this.set(from + by, to + by);
	}

	// Shows what lasts from `from` to `to`, with a little room on both sides.
	show(from: number, to: number): void {
		const room = Math.max((to - from) * 0.15, LEAST / 2);
		this.move(from - room, to + room);
	}

	get middle(): number {
		const [from, to] = this.ahead;
		return (from + to) / 2;
	}
}
