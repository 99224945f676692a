/* SPDX-License-Identifier: MIT */
#include "tool/locks/show_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/tool.h"
#include "tool/locks/chain.h"
#include "tool/locks/names.h"
#include "tool/locks/order.h"
#include "tool/locks/show.h"
#include "tool/locks/ways.h"
#include "tool/show/term/fit.h"
#include "tool/show/term/names.h"
#include "tool/show/term/term.h"

#define CALLERS 4 /* of a backtrace, the innermost: JSON has all */
#define SHORT 1000 /* a hold is not shown if others waited this part of what they did in the first one, or less */

/* ---- parts of lines ---- */

static void print_function(const struct locks_view *view, uint32_t number)
{
	names_print(stdout, locks_function_name(view, number));
}

/* " in NAME": the function where it was locked, as far as that is known. */
static bool print_in(const struct locks_view *view, const char *before, uint32_t place)
{
	char buf[LOCKS_FRAME_SIZE];
	const char *name = locks_place_name(view, place, buf);

	if (!name)
		return false;
	fputs(before, stdout);
	names_print(stdout, name);
	return true;
}

/* The way to a place: the traced function around it, or the innermost callers. */
static void print_way(const struct locks_view *view, uint32_t number)
{
	const struct locks_origin *place = &view->reading.place[number];
	uint32_t callers = place->stack ? place->stack->frames : 0;
	char buf[LOCKS_FRAME_SIZE];

	if (callers) {
		fputs(callers > CALLERS ? "... > " : "", stdout);
		for (uint32_t i = callers < CALLERS ? callers : CALLERS; i--;) {
			names_print(stdout, locks_frame_name(place->stack->frame[i], buf));
			fputs(" > ", stdout);
		}
	} else if (place->caller != LOCKS_NONE) {
		print_function(view, place->caller);
		fputs(" > ", stdout);
	}
	print_function(view, place->function);
}

static void print_symbol(const struct locks_name *name)
{
	if (name->symbol)
		names_print(stdout, name->symbol);
	if (name->offset || !name->symbol)
		printf("%s%" PRIx64, name->symbol ? "+0x" : "0x", name->offset);
	fputs(" [", stdout);
	tool_text(stdout, tool_base(name->library));
	putchar(']');
}

/* A lock in words: of its variable; or where it lies, and, if asked for, where it was locked first. */
static void print_which(const struct locks_view *view, uint32_t number, bool first)
{
	const struct locks_lock *lock = &view->reading.locks.lock[number];
	struct locks_name name = locks_name(&view->reading, lock);

	fputs(view->color->name, stdout);
	if (name.library)
		print_symbol(&name);
	else
		printf("0x%" PRIx64, lock->address);
	bool is_held = lock->kind != LOCKS_CONDITION && lock->kind != LOCKS_SEMAPHORE;
	if (!name.symbol && first)
		print_in(view, is_held ? " first locked in " : " first waited for in ", lock->first_place);
	fputs(view->color->off, stdout);
	if (lock->life)
		printf(" (%" PRIu32 " there before)", lock->life);
	if (view->reading.processes > 1)
		printf(" of process %" PRIu32, xaudit_read_process_info(
			view->reading.process[lock->process].process)->pid);
}

static void print_lock(const struct locks_view *view, uint32_t number)
{
	print_which(view, number, true);
}

static void print_thread(const struct locks_view *view, uint32_t number)
{
	const char *name = locks_thread_name(view, number);

	printf("thread %" PRIu32, view->reading.locks.thread[number].tid);
	if (*name) {
		fputs(" (", stdout);
		tool_text(stdout, name);
		putchar(')');
	}
}

static void print_moment(const struct locks_view *view, uint64_t time)
{
	uint64_t start = xaudit_read_trace_info(view->reading.trace)->start, after = time > start ? time - start : 0;

	printf("%" PRIu64 ".%09u s", after / 1000000000, (unsigned)(after % 1000000000));
}

static void head(const struct locks_view *view, const char *text)
{
	printf("\n%s%s%s\n", view->color->head, text, view->color->off);
}

static void print_more(uint32_t all, uint32_t shown)
{
	if (all > shown)
		printf("and %" PRIu32 " more: -n shows them\n", all - shown);
}

static uint32_t rows_of(const struct locks_view *view, uint32_t all)
{
	return all < view->count ? all : view->count;
}

/* A time of a column; - where there is none. */
static void print_time(bool any, uint64_t time)
{
	char text[SHOW_TIME_SIZE];

	printf("  %11s", any ? show_time_column(text, time) : "-");
}

/* ---- tables ---- */

/* Would the columns leave no room for names? Then there are none of maxima and of threads. */
static bool is_narrow(void)
{
	return term_columns() && term_columns() < 98 + FIT_KEEPS;
}

static void print_lock_row(const struct locks_view *view, uint32_t number)
{
	const struct locks_lock *lock = &view->reading.locks.lock[number];

	printf("%10" PRIu64 "  %9" PRIu64, lock->calls, lock->wait.count + lock->busy);
	print_time(lock->wait.count, lock->wait.total);
	if (!is_narrow())
		print_time(lock->wait.count, lock->wait.max);
	print_time(lock->hold.count, lock->hold.total);
	if (!is_narrow()) {
		print_time(lock->hold.count, lock->hold.max);
		printf("  %7" PRIu32, lock->holders);
	}
	printf("  %-6s  ", locks_kind_word(lock->kind));
	print_lock(view, number);
	putchar('\n');
}

static void print_locks(const struct locks_view *view)
{
	bool narrow = is_narrow();

	printf("%s%10s  %9s  %11s%s  %11s%s  %-6s  %s%s\n", view->color->head, "Calls", "Contended", "Waited",
		narrow ? "" : "      Longest", "Held", narrow ? "" : "      Longest  Threads", "Kind", "Lock",
		view->color->off);
	printf("==========  =========  ===========%s  ===========%s  ======  ====================\n",
		narrow ? "" : "  ===========", narrow ? "" : "  ===========  =======");
	uint32_t rows = rows_of(view, view->locks);
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++)
		print_lock_row(view, view->lock[i]);
	print_more(view->locks, rows);
}

static void print_conditions(const struct locks_view *view)
{
	if (!view->conditions)
		return;
	printf("\n%s%10s  %9s  %11s  %11s  %-9s  %s%s\n", view->color->head, "Calls", "In vain", "Waited", "Longest",
		"Kind", "Condition or semaphore", view->color->off);
	printf("==========  =========  ===========  ===========  =========  ====================\n");
	uint32_t rows = rows_of(view, view->conditions);
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++) {
		const struct locks_lock *lock = &view->reading.locks.lock[view->condition[i]];
		printf("%10" PRIu64 "  %9" PRIu64, lock->calls, lock->timed_out + lock->busy);
		print_time(lock->wait.count, lock->wait.total);
		print_time(lock->wait.count, lock->wait.max);
		printf("  %-9s  ", locks_kind_word(lock->kind));
		print_lock(view, view->condition[i]);
		putchar('\n');
	}
	print_more(view->conditions, rows);
}

/* By thread. */
static void print_users(const struct locks_view *view)
{
	bool narrow = is_narrow();
	uint32_t rows = rows_of(view, view->holders);

	if (!rows)
		return;
	printf("\n%s%10s  %9s  %11s%s  %11s  %s%s\n", view->color->head, "Holds", "Contended", "Waited",
		narrow ? "" : "      Longest         Held", "Kept others", "Who", view->color->off);
	printf("==========  =========  ===========%s  ===========  ====================\n",
		narrow ? "" : "  ===========  ===========");
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++) {
		const struct locks_holder *holder = &view->reading.locks.holder[view->holder[i]];
		printf("%10" PRIu64 "  %9" PRIu64, holder->hold.count, holder->wait.count);
		print_time(holder->wait.count, holder->wait.total);
		if (!narrow) {
			print_time(holder->wait.count, holder->wait.max);
			print_time(holder->hold.count, holder->hold.total);
		}
		print_time(holder->waited, holder->waited);
		fputs("  ", stdout);
		print_thread(view, holder->thread);
		fputs(": ", stdout);
		print_which(view, holder->lock, false);
		putchar('\n');
	}
	print_more(view->holders, rows);
}

static void print_places(const struct locks_view *view)
{
	bool any = false;

	for (uint32_t i = 0; i < view->places; i++)
		any |= view->reading.place[view->place[i]].stack ||
		       view->reading.place[view->place[i]].caller != LOCKS_NONE;
	if (!any)
		return;
	bool narrow = is_narrow();
	printf("\n%s%10s  %9s  %11s%s  %11s  %s%s\n", view->color->head, "Calls", "Contended", "Waited",
		narrow ? "" : "      Longest         Held", "Kept others", "Where it was locked", view->color->off);
	printf("==========  =========  ===========%s  ===========  ====================\n",
		narrow ? "" : "  ===========  ===========");
	uint32_t ways;
	struct locks_way *way = locks_ways(&view->reading, view->place, view->places, &ways);
	uint32_t rows = rows_of(view, ways);
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++) {
		const struct locks_place *place = &way[i].sum;
		printf("%10" PRIu64 "  %9" PRIu64, place->calls, place->wait.count);
		print_time(place->wait.count, place->wait.total);
		if (!narrow) {
			print_time(place->wait.count, place->wait.max);
			print_time(place->hold.count, place->hold.total);
		}
		print_time(place->waited, place->waited);
		fputs("  ", stdout);
		print_way(view, way[i].place);
		if (!place->several) {
			fputs(": ", stdout);
			print_lock(view, place->lock);
		}
		putchar('\n');
	}
	print_more(ways, rows);
	free(way);
}

/* ---- sentences ---- */

/* "in refresh > nanosleep": where it was locked, and the longest that its thread did then. */
static void print_doing(const struct locks_view *view, const struct locks_hold *hold)
{
	const char *before = " in ";
	struct locks_path path = locks_path_shown(view, &hold->path);

	if (print_in(view, before, hold->place))
		before = " > ";
	for (uint32_t i = 0; i < path.functions; i++) {
		fputs(i ? " > " : before, stdout);
		print_function(view, path.function[i]);
	}
}

static void print_holders(const struct locks_view *view)
{
	const struct locks *locks = &view->reading.locks;
	uint32_t rows = rows_of(view, locks->tops);
	/* Handing a lock on takes a moment, each time. */
	while (rows && locks->top[rows - 1].waited < locks->top[0].waited / SHORT)
		rows--;
	char time[SHOW_TIME_SIZE], waited[SHOW_TIME_SIZE];

	if (!rows)
		return;
	head(view, "Who held locks while others waited");
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++) {
		const struct locks_hold *hold = &locks->top[i];
		print_thread(view, hold->thread);
		fputs(" held ", stdout);
		print_lock(view, hold->lock);
		printf(" %s", show_time(time, hold->until - hold->since));
		print_doing(view, hold);
		printf(" while %" PRIu32 " waited, %s in all; at ", hold->waiters, show_time(waited, hold->waited));
		print_moment(view, hold->since);
		putchar('\n');
	}
}

static void print_chain(const struct locks_view *view, const struct locks_chain *chain)
{
	char time[SHOW_TIME_SIZE];

	printf("%s", chain->circle ? "deadlock: " : "");
	for (uint32_t i = 0; i < chain->waits; i++) {
		if (!i)
			print_thread(view, chain->thread[i]);
		fputs(i ? ", who waited for " : " waited for ", stdout);
		print_lock(view, chain->lock[i]);
		fputs(" of ", stdout);
		print_thread(view, chain->thread[i + 1]);
	}
	printf("; %" PRIu32 " time%s, the first one waited up to %s; at ", chain->count, show_s(chain->count),
		show_time(time, chain->longest));
	print_moment(view, chain->first);
	putchar('\n');
}

static void print_chains(const struct locks_view *view)
{
	uint32_t rows = rows_of(view, view->chains);

	if (!rows)
		return;
	head(view, "Chains of waits");
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++)
		print_chain(view, &view->reading.locks.chains->chain[view->chain[i]]);
	print_more(view->chains, rows);
}

static void print_edge(const struct locks_view *view, const struct order_edge *edge)
{
	fputs("  ", stdout);
	print_which(view, edge->from, false);
	print_in(view, ", locked in ", edge->held_place);
	fputs(" before ", stdout);
	print_which(view, edge->to, false);
	fputs(" by ", stdout);
	print_thread(view, edge->thread);
	print_in(view, " in ", edge->place);
	printf(", %" PRIu64 " time%s%s; at ", edge->count, show_s(edge->count), edge->several ? ", and others" : "");
	print_moment(view, edge->first);
	putchar('\n');
}

static void print_inversions(const struct locks_view *view)
{
	const struct locks_order *order = view->reading.locks.order;
	uint32_t rows = rows_of(view, view->inversions);

	if (!rows)
		return;
	head(view, "Inversions: locks that were taken in more than one order");
	for (uint32_t i = 0; i < rows && !show_output_broken(); i++) {
		const struct order_inversion *inversion = &order->inversion[view->inversion[i]];
		uint32_t gate = order_gate(order, inversion);
		printf("%" PRIu32 ". ", i + 1);
		if (gate != LOCKS_NONE) {
			fputs("no deadlock as long as all of them hold ", stdout);
			print_lock(view, gate);
			putchar('\n');
		} else {
			fputs(order_is_one_thread(order, inversion) ?
					"by one thread, so far: a deadlock if others do it, too" :
					"by several threads: a deadlock if they do it at the same time", stdout);
			puts(locks_inversion_is_sure(view, view->inversion[i]) ? "" :
					", and if these are the same locks each time");
		}
		for (uint32_t k = 0; k < inversion->edges; k++)
			print_edge(view, &order->edge[inversion->edge[k]]);
	}
	print_more(view->inversions, rows);
}

static void print_end(const struct locks_view *view)
{
	const struct locks *locks = &view->reading.locks;
	char time[SHOW_TIME_SIZE];

	if (locks->stucks)
		head(view, "Waiting at the end");
	for (uint32_t i = 0; i < rows_of(view, locks->stucks); i++) {
		print_thread(view, locks->stuck[i].thread);
		fputs(" for ", stdout);
		print_lock(view, locks->stuck[i].lock);
		printf("%s; since ", locks->stuck[i].own ? ", which it holds itself" : "");
		print_moment(view, locks->stuck[i].time);
		putchar('\n');
	}
	print_more((uint32_t)locks->stuck_all, rows_of(view, locks->stucks));
	if (locks->lefts)
		head(view, "Held at the end");
	for (uint32_t i = 0; i < rows_of(view, locks->lefts); i++) {
		const struct locks_hold *hold = &locks->left[i];
		print_thread(view, hold->thread);
		fputs(locks->thread[hold->thread].ended ? " ended with " : " holds ", stdout);
		print_lock(view, hold->lock);
		printf(", for %s; since ", show_time(time, hold->until - hold->since));
		print_moment(view, hold->since);
		putchar('\n');
	}
	print_more((uint32_t)locks->left_all, rows_of(view, locks->lefts));
}

static void print_left_out(const struct locks_view *view)
{
	const struct locks_reading *r = &view->reading;
	unsigned unseen = locks_unseen(r);
	const char *before = "\nnot seen: ";

	for (const struct locks_unseen_word *word = locks_unseen_words; word->bit; word++)
		if (unseen & word->bit) {
			printf("%s%s", before, word->phrase);
			before = ", ";
		}
	if (unseen)
		puts(" own locks, which call no function of pthreads; see xaudit-locks(1)");
	if (r->lost)
		printf("\n%" PRIu64 " event%s lost: of threads that lost some, open holds and waits are left out\n",
			r->lost, r->lost == 1 ? " was" : "s were");
	if (r->unnamed)
		printf("\n%" PRIu64 " call%s left out, since it is not recorded which lock %s about\n", r->unnamed,
			r->unnamed == 1 ? " is" : "s are", r->unnamed == 1 ? "it is" : "they are");
}

static void print_sums(const struct locks_view *view)
{
	struct locks_sum wait = { 0 }, free = { 0 };
	char waited[SHOW_TIME_SIZE], total[SHOW_TIME_SIZE], max[SHOW_TIME_SIZE];

	for (uint32_t i = 0; i < view->locks; i++) {
		const struct locks_lock *lock = &view->reading.locks.lock[view->lock[i]];
		wait.count += lock->wait.count;
		wait.total += lock->wait.total;
		free.count += lock->cost.count;
		free.total += lock->cost.total;
		free.max = lock->cost.max > free.max ? lock->cost.max : free.max;
	}
	printf("\n%" PRIu64 " call%s waited %s in all; %" PRIu64 " did not wait, and took %s, at most %s\n", wait.count,
		show_s(wait.count), show_time(waited, wait.total), free.count, show_time(total, free.total),
		show_time(max, free.max));
}

void locks_print_text(const struct locks_view *view)
{
	if (!view->reading.calls) {
		term_rows(false);
		puts("no function that locks was called");
		print_left_out(view);
		return;
	}
	print_locks(view);
	print_conditions(view);
	print_users(view);
	print_places(view);
	term_rows(false);
	print_sums(view);
	print_holders(view);
	print_chains(view);
	print_inversions(view);
	print_end(view);
	print_left_out(view);
}
