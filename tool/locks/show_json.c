/* SPDX-License-Identifier: MIT */
#include "tool/locks/show_json.h"

#include <inttypes.h>

#include "tool/base/json.h"
#include "tool/locks/chain.h"
#include "tool/locks/names.h"
#include "tool/locks/order.h"
#include "tool/locks/show.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/names.h"

static void put_sum(const char *name, const struct locks_sum *sum)
{
	printf(",\"%s\":{\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 "}", name, sum->count,
		sum->total, sum->max);
}

/* The name of a function, or null. */
static void put_function(const struct locks_view *view, uint32_t number)
{
	json_string(stdout, number == LOCKS_NONE ? NULL : locks_function_name(view, number));
}

static void put_origin(const struct locks_view *view, const char *name, uint32_t place)
{
	char buf[LOCKS_FRAME_SIZE];

	printf(",\"%s\":", name);
	json_string(stdout, locks_place_name(view, place, buf));
}

static void put_thread(const struct locks_view *view, uint32_t number)
{
	const struct locks_thread *thread = &view->reading.locks.thread[number];

	printf("\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"thread\":",
		xaudit_read_process_info(view->reading.process[thread->process].process)->pid, thread->tid);
	json_string(stdout, locks_thread_name(view, number));
}

/* A lock is named by its number in `locks` or `conditions`: by "id". */
static void put_lock(const struct locks_view *view, uint32_t number)
{
	const struct locks_lock *lock = &view->reading.locks.lock[number];
	struct locks_name name = locks_name(&view->reading, lock);

	printf("{\"id\":%" PRIu32 ",\"kind\":\"%s\",\"pid\":%" PRIu32 ",\"address\":\"0x%" PRIx64
	       "\",\"life\":%" PRIu32 ",\"variable\":", number, locks_kind_word(lock->kind),
		xaudit_read_process_info(view->reading.process[lock->process].process)->pid, lock->address, lock->life);
	json_string(stdout, name.symbol);
	if (name.symbol)
		names_json(stdout, name.symbol);
	printf(",\"library\":");
	json_string(stdout, name.library);
	printf(",\"offset\":%" PRIu64, name.offset);
	put_origin(view, "first_locked_in", lock->first_place);
	printf(",\"calls\":%" PRIu64 ",\"busy\":%" PRIu64 ",\"in_vain\":%" PRIu64 ",\"posts\":%" PRIu64
	       ",\"unlocked_by_others\":%" PRIu64 ",\"holders\":%" PRIu32, lock->calls, lock->busy, lock->timed_out,
		lock->posts, lock->foreign, lock->holders);
	put_sum("waits", &lock->wait);
	put_sum("free", &lock->cost);
	put_sum("holds", &lock->hold);
	putchar('}');
}

static const char *separator(uint32_t i)
{
	return i ? ",\n" : "\n";
}

static void put_locks(const struct locks_view *view, const char *name, const uint32_t *list, uint32_t count)
{
	printf("%s\"%s\":[", *name == 'c' ? "," : "", name);
	for (uint32_t i = 0; i < count && !show_output_broken(); i++) {
		fputs(separator(i), stdout);
		put_lock(view, list[i]);
	}
	printf("\n]");
}

static void put_holders(const struct locks_view *view)
{
	const struct locks *locks = &view->reading.locks;

	printf(",\"holders\":[");
	for (uint32_t i = 0; i < locks->holders && !show_output_broken(); i++) {
		const struct locks_holder *holder = &locks->holder[i];
		printf("%s{\"lock\":%" PRIu32 ",", separator(i), holder->lock);
		put_thread(view, holder->thread);
		put_sum("waits", &holder->wait);
		put_sum("holds", &holder->hold);
		printf(",\"others_waited_ns\":%" PRIu64 "}", holder->waited);
	}
	printf("\n]");
}

static void put_path(const struct locks_view *view, const struct locks_path *path)
{
	struct locks_path shown = locks_path_shown(view, path);

	printf(",\"meanwhile\":[");
	for (uint32_t i = 0; i < shown.functions; i++) {
		fputs(i ? "," : "", stdout);
		put_function(view, shown.function[i]);
	}
	putchar(']');
}

static void put_holds(const struct locks_view *view, const char *name, const struct locks_hold *hold, uint32_t count)
{
	printf(",\"%s\":[", name);
	for (uint32_t i = 0; i < count && !show_output_broken(); i++, hold++) {
		printf("%s{\"lock\":%" PRIu32 ",", separator(i), hold->lock);
		put_thread(view, hold->thread);
		printf(",\"thread_ended\":%s,\"start_ns\":%" PRIu64 ",\"time_ns\":%" PRIu64 ",\"waiters\":%" PRIu32
		       ",\"others_waited_ns\":%" PRIu64,
			view->reading.locks.thread[hold->thread].ended ? "true" : "false", hold->since,
			hold->until - hold->since, hold->waiters, hold->waited);
		put_origin(view, "locked_in", hold->place);
		put_path(view, &hold->path);
		printf(",\"meanwhile_ns\":%" PRIu64 "}", hold->busiest);
	}
	printf("\n]");
}

static void put_places(const struct locks_view *view)
{
	printf(",\"places\":[");
	for (uint32_t i = 0; i < view->places && !show_output_broken(); i++) {
		const struct locks_place *place = &view->reading.locks.place[view->place[i]];
		printf("%s{\"function\":", separator(i));
		put_function(view, view->reading.place[view->place[i]].function);
		put_origin(view, "locked_in", view->place[i]);
		printf(",\"lock\":");
		if (place->several)
			printf("null");
		else
			printf("%" PRIu32, place->lock);
		printf(",\"calls\":%" PRIu64, place->calls);
		put_sum("waits", &place->wait);
		put_sum("holds", &place->hold);
		printf(",\"others_waited_ns\":%" PRIu64, place->waited);
		printf(",\"stack\":");
		frames_json(stdout, view->reading.place[view->place[i]].stack, NULL);
		putchar('}');
	}
	printf("\n]");
}

static void put_chains(const struct locks_view *view)
{
	printf(",\"chains\":[");
	for (uint32_t i = 0; i < view->chains && !show_output_broken(); i++) {
		const struct locks_chain *chain = &view->reading.locks.chains->chain[view->chain[i]];
		printf("%s{\"deadlock\":%s,\"count\":%" PRIu32 ",\"first_ns\":%" PRIu64 ",\"longest_ns\":%" PRIu64
		       ",\"locks\":[", separator(i), chain->circle ? "true" : "false", chain->count, chain->first,
			chain->longest);
		for (uint32_t k = 0; k < chain->waits; k++)
			printf("%s%" PRIu32, k ? "," : "", chain->lock[k]);
		printf("],\"threads\":[");
		for (uint32_t k = 0; k <= chain->waits; k++) {
			printf("%s{", k ? "," : "");
			put_thread(view, chain->thread[k]);
			putchar('}');
		}
		printf("]}");
	}
	printf("\n]");
}

static void put_inversions(const struct locks_view *view)
{
	const struct locks_order *order = view->reading.locks.order;

	printf(",\"inversions\":[");
	for (uint32_t i = 0; i < view->inversions && !show_output_broken(); i++) {
		const struct order_inversion *inversion = &order->inversion[view->inversion[i]];
		uint32_t gate = order_gate(order, inversion);
		printf("%s{\"gate\":", separator(i));
		if (gate == LOCKS_NONE)
			printf("null");
		else
			printf("%" PRIu32, gate);
		printf(",\"sure\":%s,\"one_thread\":%s,\"orders\":[",
			locks_inversion_is_sure(view, view->inversion[i]) ? "true" : "false",
			order_is_one_thread(order, inversion) ? "true" : "false");
		for (uint32_t k = 0; k < inversion->edges; k++) {
			const struct order_edge *edge = &order->edge[inversion->edge[k]];
			printf("%s{\"before\":%" PRIu32 ",\"after\":%" PRIu32 ",", k ? "," : "", edge->from, edge->to);
			put_thread(view, edge->thread);
			printf(",\"several_threads\":%s,\"count\":%" PRIu64 ",\"first_ns\":%" PRIu64,
				edge->several ? "true" : "false", edge->count, edge->first);
			put_origin(view, "held_in", edge->held_place);
			put_origin(view, "locked_in", edge->place);
			putchar('}');
		}
		printf("]}");
	}
	printf("\n]");
}

static void put_stuck(const struct locks_view *view)
{
	const struct locks *locks = &view->reading.locks;

	printf(",\"waiting_at_end\":[");
	for (uint32_t i = 0; i < locks->stucks; i++) {
		printf("%s{\"lock\":%" PRIu32 ",", separator(i), locks->stuck[i].lock);
		put_thread(view, locks->stuck[i].thread);
		printf(",\"own\":%s,\"start_ns\":%" PRIu64, locks->stuck[i].own ? "true" : "false",
			locks->stuck[i].time);
		put_origin(view, "locked_in", locks->stuck[i].place);
		putchar('}');
	}
	printf("\n]");
}

void locks_print_json(const struct locks_view *view)
{
	unsigned unseen = locks_unseen(&view->reading);
	uint32_t words = 0;

	putchar('{');
	put_locks(view, "locks", view->lock, view->locks);
	put_locks(view, "conditions", view->condition, view->conditions);
	put_holders(view);
	put_places(view);
	put_holds(view, "holds", view->reading.locks.top, view->reading.locks.tops);
	put_chains(view);
	put_inversions(view);
	put_holds(view, "held_at_end", view->reading.locks.left, view->reading.locks.lefts);
	put_stuck(view);
	printf(",\"not_seen\":[");
	for (const struct locks_unseen_word *word = locks_unseen_words; word->bit; word++)
		if (unseen & word->bit)
			printf("%s\"%s\"", words++ ? "," : "", word->word);
	printf("],\"lost\":%" PRIu64 ",\"unnamed\":%" PRIu64 "}\n", view->reading.lost, view->reading.unnamed);
}
