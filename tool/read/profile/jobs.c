/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/profile/jobs.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/read/api/cpu.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"
#include "tool/read/profile/profile.h"

#define JOBS_MOST   1024
#define STACK_SIZE  (512ul << 10)
#define NO_RECORD   UINT32_MAX
#define PROGRESS_NS 100000000 /* how often the caller's thread tells it while it waits for the others */

/* What tells a process, as it was before the threads began: the caller's may change while it is read. */
struct identity {
	const char *path; /* of its family */
	uint32_t place, pid, threads;
	bool moved;
	uint64_t first;
	struct read_clock clock;
};

struct job {
	struct xaudit_read_process *process;
	struct identity identity;
	uint32_t trace;
	uint32_t task, number; /* number: of the thread record; NO_RECORD: none */
	bool last;	       /* of the process: the rest of it is done, too, as the task behind */
	bool left;
	/* What is wrong with the names of the process, and with what was read here. */
	struct read_damage names, damage;
};

struct pool {
	struct xaudit_read_profile *profile;
	struct job *job;
	uint32_t jobs;
	/* Relaxed, both: what the threads do depends on the jobs' numbers alone, and joining them orders the rest. */
	uint32_t next;
	bool failed; /* memory ran out */
	uint64_t done, all; /* bytes; done: relaxed, a sum that only people look at */
	pthread_mutex_t lock;
	pthread_cond_t over;
	uint32_t running; /* threads beside the caller's; under the lock */
};

struct worker {
	struct pool *pool;
	pthread_t thread;
	struct read_count count;
	struct read_damage none; /* for count, if no process is at hand */
	/* Of the caller's thread NULL: it has the traces' own. NULL in it: not opened; `refused`: can't be. */
	struct read_folder **folder;
	bool *refused;
	/* The process at hand, and what is wrong with its names. */
	struct xaudit_read_process *at;
	struct read_process *process;
	struct read_damage names;
	bool begun;
};

/* ---- processes ---- */

/* Does it again what made the trace's folder. */
static struct read_folder *open_again(const struct xaudit_read_trace *trace)
{
	struct read_error why;
	struct read_folder *folder = read_folder_open(trace->folder->path, 0, &why);

	read_error_free(&why);
	/* The folder of that name may be another one by now. */
	if (folder && !read_files_same(&folder->files, &trace->folder->files)) {
		read_folder_close(folder);
		return NULL;
	}
	return folder;
}

static bool is_process(const struct read_process *process, const struct identity *identity)
{
	return process->place == identity->place && process->head.pid == identity->pid &&
	       process->threads >= identity->threads && !process->head.moved == !identity->moved &&
	       process->head.first.ticks == identity->first && !strcmp(process->family->path, identity->path);
}

/* The same process in a thread's own folder, most likely under the same number; NULL: there is none. */
static struct read_process *find_process(struct worker *w, const struct job *job)
{
	uint32_t t = job->trace, number = job->process->number;

	if (!w->folder[t] && !w->refused[t]) {
		w->folder[t] = open_again(w->pool->profile->traces[t]);
		w->refused[t] = !w->folder[t];
	}
	const struct read_folder *folder = w->folder[t];
	if (folder && number < folder->processes && is_process(folder->process[number], &job->identity))
		return folder->process[number];
	for (unsigned i = 0; folder && i < folder->processes; i++)
		if (is_process(folder->process[i], &job->identity))
			return folder->process[i];
	return NULL;
}

/* Turns to the process of a job. Returns false if this thread does not have it. */
static bool turn_to(struct worker *w, const struct job *job)
{
	struct xaudit_read_trace *trace = job->process->trace;
	struct read_damage *damage, before;

	w->at = job->process;
	w->process = w->folder ? find_process(w, job) : job->process->read;
	if (!w->process)
		return false;
	/* The clock of a process that did not end may have been adjusted when the folder was opened again. */
	if (w->folder)
		w->process->clock = job->identity.clock;
	damage = w->process->family->damage;
	before = *damage;
	*damage = (struct read_damage){ 0 };
	if (w->folder)
		read_process_load(w->process);
	else
		read_api_take(w->at);
	w->names = *damage;
	*damage = before;
	damage->no_memory |= w->names.no_memory;
	read_count_begin(&w->count, w->process, job->trace, job->process->number, trace->info.start, trace->sched);
	return true;
}

static void turn_away(struct worker *w)
{
	if (w->process) {
		read_count_end(&w->count);
		if (w->folder)
			read_process_unload(w->process);
		else
			read_api_leave(w->at);
	}
	read_damage_free(&w->names);
	w->at = NULL;
	w->process = NULL;
	w->count.damage = &w->none;
}

/* ---- jobs ---- */

static void fail(struct pool *pool)
{
	__atomic_store_n(&pool->failed, true, __ATOMIC_RELAXED); /* only to end early: see struct pool */
}

static void do_job(struct worker *w, struct job *job)
{
	struct read_damage *damage, before;

	if (w->at != job->process) {
		turn_away(w);
		turn_to(w, job);
	}
	if (!w->process) {
		job->left = true;
		return;
	}
	job->left = false;
	damage = w->process->family->damage;
	before = *damage;
	*damage = (struct read_damage){ .no_memory = before.no_memory };
	if (job->number != NO_RECORD)
		read_count_records(&w->count, job->task, job->number);
	if (job->last) {
		read_count_rest(&w->count, job->task + 1);
		job->names = w->names;
		w->names = (struct read_damage){ 0 };
	}
	job->damage = *damage;
	*damage = before;
	damage->no_memory |= job->damage.no_memory;
	if (damage->no_memory || w->none.no_memory)
		fail(w->pool);
}

static void do_jobs(struct worker *w)
{
	struct pool *pool = w->pool;

	/* Relaxed, both: see struct pool. */
	while (!__atomic_load_n(&pool->failed, __ATOMIC_RELAXED)) {
		uint32_t next = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
		if (next >= pool->jobs)
			break;
		do_job(w, &pool->job[next]);
	}
	turn_away(w);
	if (w->none.no_memory)
		fail(pool);
}

static struct identity identity_of(const struct read_process *process)
{
	return (struct identity){
		.path = process->family->path,
		.place = process->place,
		.pid = process->head.pid,
		.threads = process->threads,
		.moved = process->head.moved,
		.first = process->head.first.ticks,
		.clock = process->clock,
	};
}

static bool list_jobs(struct pool *pool)
{
	struct xaudit_read_profile *profile = pool->profile;
	uint32_t task = 0;

	for (size_t t = 0; t < profile->count_traces; t++) {
		struct xaudit_read_trace *trace = profile->traces[t];
		for (uint32_t i = 0; i < trace->info.processes; i++) {
			struct xaudit_read_process *process = &trace->process[i];
			uint32_t tasks = read_count_tasks(process->read);
			if (profile->pid && process->read->head.pid != profile->pid)
				continue;
			for (uint32_t n = 0; n < tasks || !n; n++) {
				if (!read_memory_grow(&profile->damage, &pool->job, pool->jobs, sizeof(*pool->job)))
					return false;
				pool->job[pool->jobs++] = (struct job){
					.process = process,
					.identity = identity_of(process->read),
					.trace = (uint32_t)t,
					.task = task++,
					.number = tasks ? n : NO_RECORD,
					.last = n + 1 >= tasks,
				};
			}
			task++;
		}
	}
	return true;
}

/* ---- progress ---- */

static void tell(struct pool *pool)
{
	struct xaudit_read_profile *profile = pool->profile;
	uint64_t done = __atomic_load_n(&pool->done, __ATOMIC_RELAXED); /* relaxed: see struct pool */

	if (profile->progress)
		profile->progress(profile->user, done < pool->all ? done : pool->all, pool->all);
}

/* A block of events was counted. */
static void count_block(void *user, uint64_t bytes)
{
	struct worker *w = user;

	__atomic_fetch_add(&w->pool->done, bytes, __ATOMIC_RELAXED); /* relaxed: see struct pool */
	if (!w->folder)
		tell(w->pool);
}

static void begin_progress(struct pool *pool)
{
	pool->profile->setup.block = count_block;
	for (uint32_t i = 0; i < pool->jobs; i++)
		if (pool->job[i].last)
			pool->all += read_process_event_bytes(pool->job[i].process->read);
}

/* ---- threads ---- */

static bool open_worker(struct worker *w, struct pool *pool)
{
	*w = (struct worker){ .pool = pool };
	if (!read_count_open(&w->count, &pool->profile->setup, &w->none))
		return false;
	w->count.user = w;
	w->begun = true;
	return true;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pool *pool = w->pool;

	do_jobs(w);
	pthread_mutex_lock(&pool->lock);
	pool->running--;
	pthread_cond_signal(&pool->over);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Makes a thread, which takes no signals. Returns false if that is not possible. */
static bool start(struct worker *w, struct pool *pool)
{
	size_t traces = pool->profile->count_traces;
	pthread_attr_t attributes;
	sigset_t all;
	bool started;

	if (!open_worker(w, pool))
		return false;
	w->folder = calloc(traces, sizeof(*w->folder));
	w->refused = calloc(traces, sizeof(*w->refused));
	if (!w->folder || !w->refused || pthread_attr_init(&attributes))
		return false;
	sigfillset(&all);
	pthread_mutex_lock(&pool->lock);
	started = !pthread_attr_setsigmask_np(&attributes, &all) &&
		  !pthread_attr_setstacksize(&attributes, STACK_SIZE) &&
		  !pthread_create(&w->thread, &attributes, work, w);
	pool->running += started;
	pthread_mutex_unlock(&pool->lock);
	pthread_attr_destroy(&attributes);
	return started;
}

static void close_worker(struct worker *w, size_t traces)
{
	for (size_t t = 0; w->folder && w->refused && t < traces; t++)
		if (w->folder[t])
			read_folder_close(w->folder[t]);
	free(w->folder);
	free(w->refused);
	if (w->begun)
		read_count_close(&w->count);
}

/* Waits until all other threads have nothing to do. */
static void wait_for_all(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	while (pool->running) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PROGRESS_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&pool->over, &pool->lock, &until);
		pthread_mutex_unlock(&pool->lock);
		tell(pool);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* Does what other threads have left. */
static void do_the_rest(struct pool *pool, struct worker *w)
{
	for (uint32_t i = 0; i < pool->jobs; i++)
		if (pool->job[i].left)
			do_job(w, &pool->job[i]);
	turn_away(w);
	if (w->none.no_memory)
		fail(pool);
}

static bool any_left(const struct pool *pool)
{
	for (uint32_t i = 0; i < pool->jobs; i++)
		if (pool->job[i].left)
			return true;
	return false;
}

/* Runs the workers, of which the first is the caller's thread. */
static void run(struct pool *pool, struct worker *worker, uint32_t workers)
{
	struct read_count *count = &pool->profile->count;
	uint32_t started = 1;
	struct worker rest;

	if (!open_worker(&worker[0], pool)) {
		fail(pool);
		return;
	}
	while (started < workers && start(&worker[started], pool))
		started++;
	if (started < workers)
		close_worker(&worker[started], pool->profile->count_traces);
	do_jobs(&worker[0]);
	wait_for_all(pool);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(worker[i].thread, NULL);
	*count = worker[0].count;
	count->damage = &pool->profile->damage;
	for (uint32_t i = 1; i < started; i++) {
		read_count_merge(count, &worker[i].count);
		close_worker(&worker[i], pool->profile->count_traces);
	}
	if (!any_left(pool))
		return;
	if (!open_worker(&rest, pool)) {
		fail(pool);
		return;
	}
	do_the_rest(pool, &rest);
	read_count_merge(count, &rest.count);
	close_worker(&rest, pool->profile->count_traces);
}

/* ---- all ---- */

static uint32_t workers_for(const struct pool *pool, uint32_t jobs)
{
	cpu_set_t cpus;

	if (jobs == XAUDIT_READ_ALL_CPUS)
		jobs = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (uint32_t)CPU_COUNT(&cpus);
	jobs = jobs < JOBS_MOST ? jobs : JOBS_MOST;
	jobs = jobs < pool->jobs ? jobs : pool->jobs;
	return jobs ? jobs : 1;
}

static void take_damage(struct pool *pool)
{
	for (uint32_t i = 0, last = 0; i < pool->jobs; i++) {
		struct job *job = &pool->job[i];
		struct read_damage *to = &job->process->trace->folder->damage;
		if (!i || pool->job[i - 1].process != job->process) {
			for (last = i; !pool->job[last].last; last++)
				;
			read_damage_move(to, &pool->job[last].names);
		}
		read_damage_move(to, &job->damage);
	}
}

bool read_profile_count(struct xaudit_read_profile *profile, uint32_t jobs)
{
	struct pool pool = { .profile = profile };
	struct worker *worker;
	uint32_t workers;

	pthread_mutex_init(&pool.lock, NULL);
	pthread_cond_init(&pool.over, NULL);
	for (size_t t = 0; t < profile->count_traces; t++)
		read_api_sched(profile->traces[t]);
	if (list_jobs(&pool)) {
		workers = workers_for(&pool, jobs);
		worker = calloc(workers, sizeof(*worker));
		if (profile->progress)
			begin_progress(&pool);
		if (worker)
			run(&pool, worker, workers);
		else
			fail(&pool);
		free(worker);
		if (profile->progress)
			profile->progress(profile->user, pool.all, pool.all);
		take_damage(&pool);
	} else {
		fail(&pool);
	}
	free(pool.job);
	pthread_cond_destroy(&pool.over);
	pthread_mutex_destroy(&pool.lock);
	for (size_t t = 0; t < profile->count_traces; t++)
		pool.failed |= profile->traces[t]->folder->damage.no_memory;
	return !pool.failed && !profile->damage.no_memory;
}
