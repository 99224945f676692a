/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/indexing.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/index/find.h"
#include "audit/index/folder.h"
#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/index/cache.h"
#include "tool/index/cache_trim.h"
#include "tool/index/file_index.h"
#include "tool/index/image.h"
#include "tool/index/own_file.h"
#include "tool/index/write.h"
#include "tool/record/folder.h"
#include "tool/record/objects.h"
#include "tool/record/run.h"

#define MOST_NAMED 1000 /* files that one pattern names */
#define MOST_JOBS  8
#define LONG	   1000 /* ms until the user is told what is going on */

/* ---- which ---- */

struct search {
	const struct rules *rules;
	struct record_indexes *missing;
	struct index_identity *seen;
	size_t count;
};

/* Will the module want an index of such an object? */
static bool is_wanted(const struct rules_section *section, const char *path, const char *soname)
{
	return section && (section->kinds | section->fallback) & kinds_with(KIND_BY_INDEX) &&
	       rules_may_select(section, path, soname);
}

/* In a folder in which the module looks. */
static bool is_there(const struct image_name *name)
{
	struct index index;

	if (!index_is_kept(&index, name))
		return false;
	index_close(&index);
	return true;
}

static bool was_seen(struct search *search, const struct index_identity *identity)
{
	for (size_t i = 0; i < search->count; i++)
		if (index_same_file(&search->seen[i], identity))
			return true;
	search->seen = memory_resize(search->seen, search->count + 1, sizeof(*search->seen));
	search->seen[search->count++] = *identity;
	return false;
}

/* Adds the file if its index is wanted and missing. What can't be read is left to the program's own messages. */
static void look_at(struct search *search, const char *path, bool program)
{
	struct image_name name;
	int fd = own_open(path), r = fd < 0 ? fd : image_identify(fd, &name);

	if (fd >= 0)
		close(fd);
	if (r)
		return;
	/* Nothing of the dynamic linker can be displaced. */
	if (!record_is_loader(path) &&
		is_wanted(rules_for(search->rules, path, name.soname, program), path, name.soname) &&
		!was_seen(search, &name.identity) && !is_there(&name)) {
		struct record_indexes *missing = search->missing;

		missing->file = memory_resize(missing->file, missing->count + 1, sizeof(*missing->file));
		missing->file[missing->count++] = memory_text(path, strlen(path));
	}
	free(name.soname);
}

/* Files that a pattern for libraries names by absolute paths: of libraries that the program loads later. */
static void look_at_named(struct search *search, const char *pattern)
{
	glob_t found;

	if (!pattern || *pattern != '/' || glob(pattern, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && i < MOST_NAMED; i++)
		look_at(search, found.gl_pathv[i], false);
	globfree(&found);
}

static void find_missing(struct search *search, const struct record_objects *objects)
{
	char *program = objects->program ? realpath(objects->program, NULL) : NULL;

	if (program)
		look_at(search, program, true);
	free(program);
	for (size_t i = 0; i < objects->libraries; i++)
		look_at(search, objects->library[i], false);
	for (const struct rules_section *section = search->rules->sections; section; section = section->next) {
		look_at_named(search, section->library);
		for (const struct rules_pattern *p = section->functions; p; p = p->next)
			look_at_named(search, p->library);
	}
	free(search->seen);
}

/* ---- making them ---- */

struct job {
	pid_t pid;
	const char *file;
};

/* In a child: returns its exit status. */
static int make(const char *file, const char *folder, int shared)
{
	struct cache_lock lock = { .folder = folder, .shared = shared, .at = -1, .fd = -1 };
	struct index_made made;
	int fd = own_open(file);

	int r = fd < 0 ? fd : cache_take_locked(&made, fd, file, &lock);
	if (r) {
		cache_unlock(&lock);
		record_error("%s can't be analysed, so its functions have no kind entry: %s", file,
			r == -ENOEXEC ? "it is no x86-64 program or library" : strerror(-r));
		return RECORD_FAILED;
	}
	r = cache_put(&made, folder, shared);
	cache_unlock(&lock);
	if (r)
		record_error("the index of %s can't be kept in %s, so its functions have no kind entry: %s",
			file, folder, cache_why_not(r));
	return r ? RECORD_FAILED : 0;
}

/* end: closed when the child ends. processors: for the child. */
static void start(
	struct job *job, int *end, const char *file, const char *folder, int shared, unsigned processors)
{
	int ends[2];
	pid_t parent = getpid();

	*job = (struct job){ .pid = -1, .file = file };
	*end = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	job->pid = fork();
	if (!job->pid) {
		/* If the user gives up, so do we. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(RECORD_FAILED);
		index_processors(processors);
		_exit(make(file, folder, shared));
	}
	close(ends[1]);
	if (job->pid < 0)
		close(ends[0]);
	else
		*end = ends[0];
}

static void finish(const struct job *job)
{
	int status = 0;

	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		record_error("%s can't be analysed, so its functions have no kind entry: signal %d (%s)",
			job->file, WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static void say_long(size_t count)
{
	if (isatty(STDERR_FILENO))
		record_error("analysing %zu file%s, once for all: which functions could be traced by entry",
			count, count == 1 ? "" : "s");
}

static void make_all(const struct record_indexes *missing, const char *folder, int shared)
{
	struct job job[MOST_JOBS];
	struct pollfd end[MOST_JOBS];
	struct sigaction before, action = { .sa_handler = SIG_DFL };
	const unsigned processors = tool_processors();
	size_t most = processors > MOST_JOBS ? MOST_JOBS : processors, jobs = 0, next = 0;
	long long begin = tool_now_ms();
	bool said = false;

	/* If it were ignored, children would vanish with their status. */
	sigaction(SIGCHLD, &action, &before);
	while (jobs || next < missing->count) {
		if (jobs < most && next < missing->count) {
			/* Those that are being made, and that will be next. */
			size_t left = missing->count - next + jobs, beside = left < most ? left : most;
			start(&job[jobs], &end[jobs].fd, missing->file[next], folder, shared,
				processors / (unsigned)beside);
			end[jobs].events = POLLIN;
			if (job[jobs].pid < 0)
				record_error("%s can't be analysed, so its functions have no kind entry: %s",
					missing->file[next], strerror(errno));
			else
				jobs++;
			next++;
			continue;
		}
		long long left = begin + LONG - tool_now_ms();
		int ready = poll(end, jobs, said ? -1 : left > 0 ? (int)left : 0);
		if (!ready && !said) {
			say_long(missing->count);
			said = true;
		}
		for (size_t i = jobs; ready > 0 && i--;) {
			if (!end[i].revents)
				continue;
			close(end[i].fd);
			finish(&job[i]);
			job[i] = job[--jobs];
			end[i] = end[jobs];
		}
	}
	sigaction(SIGCHLD, &before, NULL);
}

static void forget(struct record_indexes *indexes)
{
	for (size_t i = 0; i < indexes->count; i++)
		free(indexes->file[i]);
	free(indexes->file);
	*indexes = (struct record_indexes){ 0 };
}

/* Moves files that other users may change to `theirs`: what later traces believe can't be of those. */
static void part(struct record_indexes *indexes, struct record_indexes *theirs)
{
	size_t kept = 0;

	for (size_t i = 0; i < indexes->count; i++) {
		int fd = own_open(indexes->file[i]);

		if (fd >= 0 && !own_is(fd)) {
			theirs->file = memory_resize(theirs->file, theirs->count + 1, sizeof(*theirs->file));
			theirs->file[theirs->count++] = indexes->file[i];
		} else {
			indexes->file[kept++] = indexes->file[i];
		}
		if (fd >= 0)
			close(fd);
	}
	indexes->count = kept;
	if (theirs->count)
		record_error("indexes of %zu file%s that other users may change are made for this trace alone",
			theirs->count, theirs->count == 1 ? "" : "s");
}

void record_indexes_make(struct record_indexes *left, const struct rules *rules, const struct record_objects *objects)
{
	struct search search = { .rules = rules, .missing = left };
	char folder[PATH_MAX];
	int shared, r = 0;

	*left = (struct record_indexes){ 0 };
	if (!(rules_kinds(rules) & kinds_with(KIND_BY_INDEX)))
		return;
	find_missing(&search, objects);
	if (!left->count)
		return;
	if (!cache_own_folder(folder, sizeof(folder), &shared)) {
		record_error(
			"indexes are made for this trace alone: no folder is theirs; set XDG_CACHE_HOME or HOME");
	} else if ((r = cache_may_put(folder, shared))) {
		record_error("indexes are made for this trace alone: they can't be kept in %s: %s", folder,
			cache_why_not(r));
	} else {
		struct record_indexes theirs = { 0 };

		time_t begun = time(NULL);

		part(left, &theirs);
		make_all(left, folder, shared);
		cache_trim(folder, begun);
		forget(left);
		*left = theirs;
	}
}

void record_indexes_aside(struct record_indexes *left, const struct record_folder *folder)
{
	if (!left->count)
		return;
	char *path = memory_format("%s/" RECORD_INDEXES, folder->path);
	make_all(left, path, INDEX_FOR_TRACE);
	if (setenv(INDEX_FOLDER_VARIABLE, path, 1))
		memory_failed();
	free(path);
	forget(left);
}
