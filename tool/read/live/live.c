/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/live/live.h"

#include <ctype.h> /* isdigit */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/now.h"
#include "tool/read/api/facts.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/live/process.h"
#include "tool/read/process_load.h"
#include "tool/read/state.h"
#include "x86_64/cpu.h"

#define ASK_NS	  20000000u /* how often a process is asked whether it runs */
#define LAST	  4	    /* looks at a process that has ended: source.c wants some to be sure of what is missing */
#define GIVEN	  (16u << 20) /* bytes of a file that are given back at a time */
#define MOST	  50	    /* ... at most */
#define LOOK_NS	  200000000u /* a look; OFTEN: events, before there is one at the clock */
#define OFTEN	  1024
#define SCAN_NS	  50000000  /* a folder's time may be that of changes so much later */

/* A folder DIR/p<pid>[.<n>]. */
struct live_family {
	char *name;
	struct xaudit_read_trace *trace; /* NULL: it is over, or not there yet */
	struct read_family *read; /* of the trace */
	struct trace_head *head;  /* of place 0, as it was at the last look; NULL with the trace */
	uint32_t seen;		  /* places of the directory that were looked through for heads */
	uint32_t known;		  /* heads up to there are none of ours */
	bool over;
};

static struct live_moment moment(void)
{
	uint64_t before = tool_now(), ticks = cpu_ticks(), after = tool_now();

	return (struct live_moment){ ticks, before + (after - before) / 2 };
}

/* ---- finding processes ---- */

static bool add_process(struct read_live *live, struct live_family *family, struct read_process *read, bool newest)
{
	struct live_process **list =
		reallocarray(live->process, live->processes + 1, sizeof(*live->process));
	struct live_process *process;

	if (!list)
		return false;
	live->process = list;
	process = live_process_open(live, family->trace, read, newest);
	if (!process)
		return false;
	live->process[live->processes++] = process;
	return true;
}

static bool has_process(const struct read_live *live, const struct read_process *read)
{
	for (unsigned i = 0; i < live->processes; i++)
		if (live->process[i]->read == read)
			return true;
	return false;
}

/* Is the head of a process there as a whole? */
static bool has_head(const struct live_family *family, uint32_t place)
{
	struct trace_head head;
	uint64_t at = place * family->read->place_size;

	return read_file_read(family->read->meta, &head, sizeof(head), at, NULL) == sizeof(head) &&
	       !memcmp(head.magic, TRACE_MAGIC, sizeof(head.magic)) && head.used;
}

/* Processes that were forked since the last look. */
static void find_forked(struct read_live *live, struct live_family *family)
{
	const struct read_family_list *places = &family->read->places;

	for (uint32_t i = 0; i < places->count; i++) {
		const struct read_family_place *at = &places->place[i];
		if (at->what != TRACE_PLACE_HEAD || at->place <= family->known || !has_head(family, at->place))
			continue;
		struct read_process *read = read_process_at(family->read, at->place);
		if (read && !has_process(live, read) && !add_process(live, family, read, false))
			live->no_memory = true;
	}
}

/* Has anything been added to the family since the last look? */
static bool is_changed(struct live_family *family)
{
	struct trace_head head, *last = family->head;

	if (read_file_read(family->read->meta, &head, sizeof(head), 0, NULL) != sizeof(head))
		return false;
	bool changed = head.places != last->places || head.given != last->given ||
		       head.taken_again != last->taken_again || head.handed != last->handed ||
		       head.threads != last->threads || head.beside != last->beside;
	*last = head;
	return changed;
}

static void look_at_family(struct read_live *live, struct live_family *family)
{
	/* A word of the directory may be written after the count of places. */
	bool again = family->seen < family->head->places || family->read->beside_begins;

	if (!is_changed(family) && !again)
		return;
	read_family_look(family->read);
	family->seen = family->read->first_zero < family->head->places ? family->read->first_zero
								     : family->head->places;
	find_forked(live, family);
	for (unsigned i = 0; i < live->processes; i++)
		if (live->process[i]->read->family == family->read && !live->process[i]->over)
			live_process_look(live->process[i], false);
}

/* Makes room for the head of a family that was opened; else closes it. */
static bool has_room(struct read_live *live, struct live_family *family)
{
	family->head = calloc(1, sizeof(*family->head));
	if (family->head)
		return true;
	live->no_memory = true;
	xaudit_read_close(family->trace);
	family->trace = NULL;
	return false;
}

/* Opens the folder of a family, if its first head is there. Returns false if it is not. */
static bool open_family(struct read_live *live, struct live_family *family)
{
	struct xaudit_read_options options = { .size = sizeof(options), .alone = 1 };
	struct xaudit_read_error error;
	char *path;

	if (asprintf(&path, "%s/%s", live->path, family->name) < 0) {
		live->no_memory = true;
		return false;
	}
	family->trace = xaudit_read_open(path, &options, &error);
	live->no_memory |= error.why == XAUDIT_READ_NO_MEMORY;
	free(path);
	if (!family->trace || !has_room(live, family))
		return false;
	family->read = family->trace->folder->family[0];
	if (!add_process(live, family, family->trace->folder->process[0], false))
		live->no_memory = true;
	return true;
}

static struct live_family *add_family(struct read_live *live, const char *name)
{
	struct live_family **list = reallocarray(live->family, live->families + 1, sizeof(*live->family));
	struct live_family *family = list ? calloc(1, sizeof(*family)) : NULL;

	live->family = list ? list : live->family;
	if (family)
		family->name = strdup(name);
	if (!family || !family->name || !hash_add(&live->by_name, hash_text(0, name), live->families)) {
		live->no_memory = true;
		free(family ? family->name : NULL);
		free(family);
		return NULL;
	}
	live->family[live->families++] = family;
	return family;
}

static bool has_family(const struct read_live *live, const char *name)
{
	return HASH_FIND(i, &live->by_name, hash_text(0, name), !strcmp(live->family[i]->name, name)) != HASH_NONE;
}

/* Lists the folder, if it has changed. */
static void find_families(struct read_live *live)
{
	struct stat st;

	if (stat(live->path, &st))
		return;
	int64_t changed = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (changed == live->scanned)
		return;
	DIR *dir = opendir(live->path);
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));)
		if (*e->d_name == 'p' && isdigit((unsigned char)e->d_name[1]) && !has_family(live, e->d_name))
			add_family(live, e->d_name);
	closedir(dir);
	/* What comes in the same moment of the kernel's clock does not change the time again. */
	live->scanned = (int64_t)tool_now_on(CLOCK_REALTIME) - changed > SCAN_NS ? changed : 0;
}

/* ---- how processes end ---- */

static enum read_process_state state_of(const struct read_live *live, const struct live_process *process)
{
	const struct trace_head *head = &process->read->head;

	/* A program that it executed is another process of the trace, in a folder of its own. */
	for (unsigned i = 0; i < live->processes; i++)
		if (live->process[i]->read->head.pid == head->pid &&
			live->process[i]->read->head.first.mono > head->first.mono)
			return head->flags & TRACE_EXITED ? READ_PROCESS_ENDED : READ_PROCESS_EXECUTED;
	if (head->flags & TRACE_EXITED && read_process_is_alive(process->read))
		return READ_PROCESS_RUNNING; /* its last words */
	return read_process_state(process->read);
}

/* It has ended, or executed another program: when, at the latest? */
static uint64_t exited(const struct read_live *live, const struct live_process *process)
{
	const struct trace_head *head = &process->read->head;

	for (unsigned i = 0; i < live->processes; i++) {
		const struct trace_head *other = &live->process[i]->read->head;
		if (other->pid == head->pid && other->first.mono > head->first.mono)
			return other->first.mono;
	}
	if (head->flags & TRACE_EXITED && head->last.ticks)
		return live_ns(live, live_ticks(live, process, head->last.ticks));
	return live->now.ns;
}

static void ask_state(struct read_live *live, struct live_process *process)
{
	if (process->last || live->now.ns - process->asked < ASK_NS)
		return;
	process->asked = live->now.ns;
	read_process_read_head(process->read);
	/* Of one that has ended, names and layouts are not looked for again when they are needed. */
	if (process->read->head.flags & TRACE_EXITED)
		read_process_load(process->read);
	process->public.state = read_api_state(state_of(live, process));
	if (process->public.state == XAUDIT_READ_STATE_RUNNING)
		return;
	process->last = 1;
	process->public.exited = exited(live, process);
	if (live->hooks->exits)
		live->hooks->exits(live->user, &process->public);
}

/* ---- the order of time ---- */

static uint64_t time_of(const struct read_live *live, const struct live_record *record)
{
	return live_ticks(live, record->process, record->source.head.ticks);
}

static void sift_down(struct read_live *live, unsigned at)
{
	struct live_record **heap = live->heap, *record = heap[at];

	for (unsigned child; (child = 2 * at + 1) < live->heaped; at = child) {
		if (child + 1 < live->heaped && heap[child + 1]->time < heap[child]->time)
			child++;
		if (heap[child]->time >= record->time)
			break;
		heap[at] = heap[child];
	}
	heap[at] = record;
}

/* Lists all records that have an event. */
static void fill_heap(struct read_live *live)
{
	live->heaped = 0;
	for (unsigned i = 0; i < live->processes; i++) {
		struct live_process *process = live->process[i];

		for (unsigned k = 0; k < process->records && !process->over; k++) {
			struct live_record *record = process->record[k];
			if (!record)
				continue;
			record->source.ended = process->last;
			if (!read_source_next(&record->source))
				continue;
			if (live->heaped == live->room) {
				unsigned room = live->room ? 2 * live->room : 64;
				struct live_record **heap = reallocarray(live->heap, room, sizeof(*heap));
				live->no_memory |= !heap;
				if (!heap)
					return;
				live->heap = heap;
				live->room = room;
			}
			record->process = process;
			record->time = time_of(live, record);
			live->heap[live->heaped++] = record;
		}
	}
	for (unsigned i = live->heaped / 2; i-- > 0;)
		sift_down(live, i);
}

/* Returns false if the look has taken long enough: there may be more. */
static bool take_all(struct read_live *live, uint64_t until)
{
	uint64_t end = live->now.ns + LOOK_NS;

	for (unsigned taken = 1; live->heaped && live->heap[0]->time <= until; taken++) {
		struct live_record *record = live->heap[0];

		if (!(taken % OFTEN) && tool_now() > end)
			return false;
		live_process_take(record->process, record);
		if (read_source_next(&record->source))
			record->time = time_of(live, record);
		else
			live->heap[0] = live->heap[--live->heaped];
		if (live->heaped)
			sift_down(live, 0);
	}
	return true;
}

/* ---- looks ---- */

static uint64_t rate(const struct read_live *live)
{
	uint64_t ticks = live->now.ticks - live->begin.ticks, ns = live->now.ns - live->begin.ns;

	return live->now.ticks > live->begin.ticks ? (uint64_t)(((unsigned __int128)ns << LIVE_RATE) / ticks) : 0;
}

/* ---- room on the disk ---- */

/* What t<n> of a record has before an offset; 0: all. Returns false where that can't be done: the file keeps it. */
static bool give(const struct read_live *live, const struct live_process *process, unsigned number, uint64_t end)
{
	char name[READ_FAMILY_NAME_SIZE], *path;
	struct stat st;

	read_family_file_name(name, 't', number, process->read->place);
	if (asprintf(&path, "%s/%s/%s", live->path, process->read->family->name, name) < 0)
		return true;
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return true;
	if (!end && !fstat(fd, &st))
		end = (uint64_t)st.st_size;
	bool given = !end || !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)end);
	close(fd);
	return given;
}

/* Events that were told. */
static void give_back(const struct read_live *live, const struct live_process *process, struct read_source *source)
{
	uint64_t taken = read_source_taken(source);

	if (taken < source->given + GIVEN)
		return;
	read_source_given(source, taken);
	if (!give(live, process, source->number, taken))
		source->given = UINT64_MAX - GIVEN;
}

/* Of a process that has ended nothing is looked at again. */
static void give_rest_back(const struct read_live *live, const struct live_process *process)
{
	for (unsigned k = 0; live->path && live->gives && k < process->records; k++)
		if (process->record[k])
			give(live, process, k, 0);
}

/* ---- ends ---- */

/* Has an event of it still to wait for those of others? A damaged one may be of a time that never comes. */
static bool waits(const struct live_process *process)
{
	bool waits = false;

	for (unsigned i = 0; i < process->records; i++)
		waits |= process->record[i] && process->record[i]->source.has;
	return waits && process->last < MOST;
}

static void end_processes(struct read_live *live)
{
	for (unsigned i = 0; i < live->processes; i++) {
		struct live_process *process = live->process[i];
		if (!process->last || process->over || process->last++ <= LAST || waits(process))
			continue;
		/* What it has executed may have been seen since. */
		process->public.state = read_api_state(state_of(live, process));
		live_process_end(process);
		give_rest_back(live, process);
	}
}

static void close_family(struct read_live *live, unsigned number)
{
	struct live_family *family = live->family[number];
	unsigned kept = 0;

	for (unsigned i = 0; i < live->processes; i++) {
		if (live->process[i]->read->family == family->read)
			live_process_close(live->process[i]);
		else
			live->process[kept++] = live->process[i];
	}
	live->processes = kept;
	xaudit_read_close(family->trace);
	free(family->head);
	family->trace = NULL;
	family->read = NULL;
	family->head = NULL;
	family->over = true;
}

/* Families all of whose processes have ended: nobody is left who could fork. */
static void close_families(struct read_live *live)
{
	for (unsigned i = 0; i < live->families; i++) {
		bool over = live->family[i]->read != NULL;

		for (unsigned k = 0; k < live->processes && over; k++)
			over = live->process[k]->over || live->process[k]->read->family != live->family[i]->read;
		if (over)
			close_family(live, i);
	}
}

unsigned read_live_look(struct read_live *live, uint64_t slack)
{
	unsigned running = 0;

	live->now = moment();
	live->rate = rate(live);
	if (live->path)
		find_families(live);
	for (unsigned i = 0; i < live->families; i++) {
		struct live_family *family = live->family[i];
		if (!family->over && (family->read || open_family(live, family)))
			look_at_family(live, family);
	}
	for (unsigned i = 0; i < live->processes; i++)
		ask_state(live, live->process[i]);
	fill_heap(live);
	uint64_t span = live->now.ns - live->begin.ns, ticks = live->now.ticks - live->begin.ticks;
	uint64_t late = span ? (uint64_t)((double)slack * (double)ticks / (double)span) : 0;
	live->more = !take_all(live, live->now.ticks > late ? live->now.ticks - late : 0);
	if (!live->more) {
		end_processes(live);
		close_families(live);
	}
	for (unsigned i = 0; i < live->processes; i++)
		running += !live->process[i]->over;
	return running;
}

bool read_live_more(const struct read_live *live)
{
	return live->more;
}

void read_live_stop(struct read_live *live)
{
	for (unsigned i = 0; i < live->processes; i++)
		if (!live->process[i]->over)
			live_process_end(live->process[i]);
}

uint64_t read_live_behind(struct read_live *live)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < live->processes; i++)
		for (unsigned k = 0; k < live->process[i]->records && !live->process[i]->over; k++)
			if (live->process[i]->record[k])
				bytes += read_source_behind(&live->process[i]->record[k]->source);
	return bytes;
}

void read_live_give_back(struct read_live *live)
{
	live->gives = true;
	for (unsigned i = 0; live->path && i < live->processes; i++)
		for (unsigned k = 0; k < live->process[i]->records && !live->process[i]->over; k++)
			if (live->process[i]->record[k])
				give_back(live, live->process[i], &live->process[i]->record[k]->source);
}

bool read_live_no_memory(const struct read_live *live)
{
	return live->no_memory;
}

/* ---- all ---- */

static struct read_live *open_live(
	const struct read_live_hooks *hooks, void *user, struct xaudit_read_error *error)
{
	struct read_live *live = calloc(1, sizeof(*live));

	read_api_error(error, live ? XAUDIT_READ_OK : XAUDIT_READ_NO_MEMORY, live ? "" : "out of memory");
	if (live) {
		live->hooks = hooks;
		live->user = user;
		live->begin = moment();
	}
	return live;
}

struct read_live *read_live_open(
	const char *path, const struct read_live_hooks *hooks, void *user, struct xaudit_read_error *error)
{
	struct read_live *live = open_live(hooks, user, error);

	if (live && !(live->path = strdup(path))) {
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
		read_live_close(live);
		return NULL;
	}
	return live;
}

struct read_live *read_live_open_process(
	uint32_t pid, const struct read_live_hooks *hooks, void *user, struct xaudit_read_error *error)
{
	struct xaudit_read_trace *trace = xaudit_read_open_live(pid, error);
	struct read_live *live = trace ? open_live(hooks, user, error) : NULL;
	struct live_family *family = live ? add_family(live, "") : NULL;

	if (!family) {
		xaudit_read_close(trace);
		read_live_close(live);
		return NULL;
	}
	family->trace = trace;
	if (!has_room(live, family)) {
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
		read_live_close(live);
		return NULL;
	}
	family->read = trace->folder->family[0];
	is_changed(family);
	/* What others of the family do is not asked for, but for what is forked from now on. */
	for (uint32_t i = 0; i < family->read->places.count; i++)
		if (family->read->places.place[i].what == TRACE_PLACE_HEAD)
			family->known = family->read->places.place[i].place > family->known
						? family->read->places.place[i].place : family->known;
	if (!add_process(live, family, trace->folder->process[0], true))
		live->no_memory = true;
	return live;
}

void read_live_close(struct read_live *live)
{
	if (!live)
		return;
	for (unsigned i = 0; i < live->families; i++) {
		if (live->family[i]->read)
			close_family(live, i);
		free(live->family[i]->name);
		free(live->family[i]);
	}
	free(live->family);
	hash_free(&live->by_name);
	free(live->process);
	free(live->heap);
	free(live->path);
	free(live);
}
