/* SPDX-License-Identifier: MIT */
/*
 * Tracks of calls that nest, and of calls that don't; and what waits there until it is known to be long enough. The
 * calls are made here, as a cursor would give them, in the order of its items.
 */
#include "tool/export/tracks.h"

#include <stdlib.h>

#include "t/lib/tap.h"

static struct tracks tracks;
static struct xaudit_read_process *const process = (void *)0x1000, *const other = (void *)0x2000;
static char told[4096];

/* ---- calls ---- */

static struct xaudit_read_call *call(struct xaudit_read_call *parent, uint32_t tid, uint32_t stack, uint64_t start)
{
	static struct xaudit_read_call all[64];
	static size_t count;

	if (count == sizeof(all) / sizeof(*all))
		bail("too many calls");
	struct xaudit_read_call *made = &all[count++];
	*made = (struct xaudit_read_call){ .parent = parent, .process = process, .tid = tid, .stack = stack,
		.start = start, .depth = parent ? parent->depth + 1 : 0, .end = XAUDIT_READ_UNKNOWN };
	return made;
}

static struct export_call leave(struct xaudit_read_call *of, uint64_t end)
{
	of->end = end;
	return tracks_leave(&tracks, of, end);
}

static void nesting(void)
{
	struct xaudit_read_call *a = call(NULL, 7, 0, 100), *b = call(a, 7, 0, 110), *c = call(NULL, 8, 0, 105);
	struct export_call first = tracks_enter(&tracks, a, "main"), inner = tracks_enter(&tracks, b, "main");
	struct export_call second = tracks_enter(&tracks, c, "");

	is_int(first.track->number, 0, "the first call is on the first track");
	ok(inner.track == first.track, "a call in it, too");
	is_int(inner.depth, 1, "below it");
	is_int(second.track->number, 1, "another thread has a track of its own");
	is_str(first.track->name, "main", "a track has the thread's name");
	is_int(second.track->tid, 8, "and its number");
	ok(tracks_of(&tracks, b) == tracks_one(first.track), "the track of a call is known");
	inner = leave(b, 120);
	is_int((long long)inner.start, 110, "a call leaves with its start");
	is_int((long long)inner.end, 120, "and its end");
	ok(inner.known, "which is known");
	is_int(inner.depth, 1, "and its depth");
	second = tracks_leave(&tracks, c, 130);
	is_int((long long)second.end, 130, "a call that is given up ends then");
	ok(!second.known, "and has no known end");
	leave(a, 140);
	struct xaudit_read_call *d = call(NULL, 7, 0, 150), *e = call(NULL, 7, 0, 90);
	ok(tracks_enter(&tracks, d, "main").track == first.track, "the thread's next call is on its track");
	leave(d, 151);
	struct export_call again = tracks_enter(&tracks, e, "main");
	ok(again.track != first.track, "an earlier one, of the same number of a thread, is not");
	is_int(again.track->beside, 1, "but beside it");
	leave(e, 95);
	e->process = other;
	e->user[0] = 0;
	ok(tracks_enter(&tracks, e, "main").track->beside == 0, "a process has tracks of its own");
	leave(e, 95);
}

static void stacks(void)
{
	struct xaudit_read_call *a = call(NULL, 7, 5, 1000), *b = call(NULL, 7, 0, 1010), *c = call(a, 8, 5, 1020);
	struct export_call on = tracks_enter(&tracks, a, "main"), beside = tracks_enter(&tracks, b, "main");

	ok(on.track != beside.track, "a stack has a track of its own");
	is_int(on.track->stack, 5, "with its number");
	ok(tracks_enter(&tracks, c, "other").track == on.track, "on which another thread goes on");
	leave(c, 1025);
	leave(a, 1030);
	/* The call in the middle went to another stack: what goes on inside of it must not stand below what stayed. */
	struct xaudit_read_call *d = call(b, 7, 0, 1040), *e = call(b, 7, 9, 1050);
	ok(tracks_enter(&tracks, d, "main").track == beside.track, "a call in the thread's call");
	struct export_call apart = tracks_enter(&tracks, e, "main");
	ok(apart.track != beside.track, "and one that does not nest with it is elsewhere");
	is_int(apart.track->stack, 9, "on its stack");
	leave(d, 1060);
	leave(e, 1070);
	struct export_call end = leave(b, 1065);
	is_int((long long)end.end, 1065, "each track has its own time");
	struct xaudit_read_call *f = call(call(NULL, 7, 0, 1), 7, 0, 1080);
	apart = tracks_enter(&tracks, f, "main");
	ok(apart.track == beside.track && !apart.depth, "a call around that was never told of does not count");
	leave(f, 1079);
	is_int((long long)tracks_one(apart.track)->last, 1080, "time does not go back on a track");
	/* Threads that were in no call yet: an event, then calls on stacks with numbers. */
	struct tracks_one *thread = tracks_thread(&tracks, process, 30, "worker");
	struct xaudit_read_call *g = call(NULL, 30, 11, 2000), *h = call(NULL, 30, 12, 2010);
	struct xaudit_read_call *i = call(g, 31, 11, 2020);
	on = tracks_enter(&tracks, g, "worker");
	ok(on.track == &thread->track && !on.track->stack, "a thread's first stack is on the thread's track");
	apart = tracks_enter(&tracks, h, "worker");
	is_int(apart.track->stack, 12, "another one is not");
	ok(tracks_enter(&tracks, i, "next").track == on.track, "the first one still is when another goes on with it");
	leave(i, 2030);
	leave(g, 2040);
	struct xaudit_read_call *j = call(NULL, 31, 11, 2050);
	ok(tracks_enter(&tracks, j, "next").track == on.track, "or begins a call there");
	ok(tracks_thread(&tracks, process, 31, "next") != thread, "that thread has one of its own");
}

/* ---- what waits ---- */

static void say(const char *word, uint64_t number)
{
	size_t length = strlen(told);

	snprintf(told + length, sizeof(told) - length, "%s%s%llu", length ? " " : "", word,
		(unsigned long long)number);
}

static void told_enter(struct export *export, const struct export_call *is)
{
	(void)export;
	say("enter", is->start);
}

static void told_custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	(void)export;
	(void)track;
	say(item->data ? item->data : "custom", item->time);
}

static const struct export_format format = { .enter = told_enter, .custom = told_custom };
static struct export export = { .format = &format };

#define MIN 100

static struct waiting *on(struct xaudit_read_call *of)
{
	return &tracks_of(&tracks, of)->waiting;
}

static void begins(struct xaudit_read_call *of)
{
	struct export_call is = tracks_enter(&tracks, of, "waits");

	waiting_look(&export, on(of), is.track, is.start, MIN);
	waiting_enter(on(of), &is);
}

static void ends(struct xaudit_read_call *of, uint64_t end)
{
	struct export_call is = leave(of, end);

	if (waiting_leave(&export, on(of), &is, MIN))
		say("leave", is.start);
}

static void event(struct xaudit_read_call *in, uint64_t time)
{
	char data[] = "event";
	struct xaudit_read_item item = { .what = XAUDIT_READ_CUSTOM, .time = time, .data = data,
		.data_size = sizeof(data) - 1 };

	waiting_look(&export, on(in), &tracks_of(&tracks, in)->track, time, MIN);
	waiting_custom(&export, on(in), &tracks_of(&tracks, in)->track, &item);
	/* The cursor's data is gone by the next item. */
	memset(data, 'x', sizeof(data) - 1);
}

static void told_is(const char *what, const char *sentence)
{
	is_str(told, what, "%s", sentence);
	told[0] = 0;
}

static void waits(void)
{
	struct xaudit_read_call *a = call(NULL, 20, 0, 2000), *b = call(a, 20, 0, 2010), *c = call(a, 20, 0, 2040);

	begins(a);
	begins(b);
	ends(b, 2030);
	begins(c);
	ends(c, 2060);
	ends(a, 2099);
	told_is("", "calls that are too short are not told of");

	a = call(NULL, 20, 0, 3000), b = call(a, 20, 0, 3010), c = call(a, 20, 0, 3040);
	begins(a);
	begins(b);
	event(b, 3015);
	ends(b, 3030);
	begins(c);
	told_is("", "nothing is told while it is not known");
	ends(c, 3140);
	told_is("enter3000 event3015 enter3040 leave3040", "then all in the order of time, without the short one");
	ends(a, 3141);
	told_is("leave3000", "and the end of the one around it");

	a = call(NULL, 20, 0, 4000), b = call(a, 20, 0, 4090);
	begins(a);
	event(a, 4050);
	begins(b);
	told_is("", "after 90 ns of 100");
	event(b, 4105);
	told_is("enter4000 event4050", "a call is long enough as soon as anything comes later");
	ends(b, 4110);
	told_is("event4105", "what was in a short call comes when that is over");
	event(a, 4120);
	told_is("event4120", "and what comes behind it at once");
	ends(a, 4130);
	told_is("leave4000", "the end, too");
	a = call(NULL, 20, 0, 5000);
	begins(a);
	ends(a, 5100);
	told_is("enter5000 leave5000", "a call of exactly that time counts");
}

int main(void)
{
	nesting();
	stacks();
	waits();
	tracks_free(&tracks);
	return done_testing();
}
