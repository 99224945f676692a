/* SPDX-License-Identifier: MIT */
#include "audit/index/find.h"

#include <limits.h> /* PATH_MAX */
#include <stdbool.h>
#include <unistd.h> /* X_OK */

#include "audit/index/folder.h"
#include "audit/index/helper.h"
#include "runtime/base/maps.h"
#include "runtime/base/sum.h"
#include "runtime/base/text.h"
#include "runtime/notes.h"
#include "runtime/process/process.h"
#include "x86_64/sys.h"

#define FOLDERS	    3 /* the one that is named, the user's, the system's */
#define VARIABLES   3 /* what the command needs of the environment */
#define ATTEMPTS    256
#define LINE_MOST   256 /* bytes of a name, or of what the command said, in a line of ours */
#define RULES_MOST  20  /* lines about the rules */
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static const char *const variable_name[VARIABLES] = { "XDG_CACHE_HOME", "HOME", INDEX_FOLDER_VARIABLE };

/* Strings, one behind the other, as a rule in one page: the program may overwrite its environment. */
static char strings[2 * FOLDERS * PATH_MAX] SYS_LARGE;
static size_t strings_used;

static const char *folder[FOLDERS];
static unsigned folders;
static const char *environ_of_command[VARIABLES + 1];
static const char *named_command; /* or NULL */
static int gave_up;		  /* the command is not run again. Under ld.so's lock */

/* An attempt to make an index that put none into a folder. Each file is attempted once. */
static struct attempt {
	struct index_identity identity;
	const void *bytes; /* an index that lies in memory alone, whole; NULL: it failed */
	size_t size;
} attempts[ATTEMPTS] SYS_LARGE;
/* Those before never change. Written under ld.so's lock. */
static unsigned attempted;

/* ---- the environment ---- */

/* Keeps "first" + "second"; NULL: none, or too long. */
static const char *keep(const char *first, const char *second)
{
	char *to = strings + strings_used;
	size_t n = sys_length(first), m = second ? sys_length(second) + 1 : 0;

	if (!m || n + m > sizeof(strings) - strings_used)
		return NULL;
	sys_copy(to, first, n);
	sys_copy(to + n, second, m);
	strings_used += n + m;
	return to;
}

static void add_folder(const char *path)
{
	folder[folders] = keep("", path);
	folders += folder[folders] != NULL;
}

static const char *absolute(const char *path)
{
	return path && path[0] == '/' && sys_length(path) < PATH_MAX ? path : NULL;
}

void index_find_init(char *(*environment)(const char *name))
{
	const char *value[VARIABLES], *command = environment(INDEX_COMMAND_VARIABLE);
	char path[PATH_MAX];
	unsigned kept = 0;

	strings_used = 0;
	folders = 0;
	for (unsigned i = 0; i < VARIABLES; i++) {
		char name[32];
		value[i] = absolute(environment(variable_name[i]));
		struct text text = { name, sizeof(name), 0 };
		text_string(&text, variable_name[i]);
		text_char(&text, '=');
		environ_of_command[kept] = keep(name, value[i]);
		kept += environ_of_command[kept] != NULL;
	}
	environ_of_command[kept] = NULL;
	add_folder(value[2]);
	for (unsigned i = 0; i < 2; i++)
		if (index_folder(i, value[0], value[1], path, sizeof(path)))
			add_folder(path);
	/* What is no path is none that could be run. */
	named_command = command ? keep("", absolute(command) ? command : "") : NULL;
}

/* ---- making one ---- */

static const struct attempt *attempt_at(const struct index_identity *identity)
{
	/* Acquire: pairs with the release in note(). */
	for (unsigned n = __atomic_load_n(&attempted, __ATOMIC_ACQUIRE); n; n--)
		if (index_same_file(&attempts[n - 1].identity, identity))
			return &attempts[n - 1];
	return NULL;
}

static void note(const struct index_identity *identity, const void *bytes, size_t size)
{
	struct attempt *attempt = &attempts[attempted];

	sys_copy(&attempt->identity, identity, sizeof(*identity));
	attempt->bytes = bytes;
	attempt->size = size;
	/* Release: pairs with the acquire in attempt_at(). */
	__atomic_store_n(&attempted, attempted + 1, __ATOMIC_RELEASE);
}

/* "DIR/xaudit" where the module is DIR/.libs/libxaudit.so; 0: it lies elsewhere, or nothing of that name is there. */
static int find_beside(char *to, size_t room)
{
	static const char libs[] = "/.libs/";
	struct text text = { to, room, 0 };
	struct process_held held;
	struct mapping mapping;
	size_t slash = 0;

	process_lock(&held);
	if (maps_find((uintptr_t)&find_beside, &mapping) == 1)
		text_string(&text, mapping.name);
	process_unlock(&held);
	for (size_t i = 0; i < text.length; i++)
		if (to[i] == '/')
			slash = i;
	if (to[0] != '/' || slash < sizeof(libs) - 2 ||
		!sys_same(to + slash - (sizeof(libs) - 2), libs, sizeof(libs) - 1))
		return 0;
	text.length = slash - (sizeof(libs) - 2);
	text_string(&text, "/xaudit");
	return text.length + 1 < room && !sys_call(__NR_faccessat, AT_FDCWD, (long)to, X_OK, 0, 0, 0);
}

/* The first line of what the command said, which ends there now, without that name in front. *next: behind it. */
static const char *bare(char *said, const char *name, char **next)
{
	char *end = said;
	const size_t length = sys_length(name);

	while (*end && *end != '\n')
		end++;
	*next = *end ? end + 1 : end;
	*end = '\0';
	return length <= (size_t)(end - said) && sys_same(said, name, length) ? said + length : said;
}

static void say(struct helper *helper)
{
	struct process_held held;
	char line[2 * LINE_MOST + 200];
	struct text text = { line, sizeof(line), 0 };
	char *next;

	text_string(&text, helper->file);
	text_string(&text,
		helper->values ? ": no values of its calls are recorded, and it has no probes: "
			       : ": no index of it could be made: ");
	switch (helper->end) {
	case HELPER_NO_COMMAND:
		text_string(&text, helper->command);
		text_string(&text, " can't be executed: ");
		text_error(&text, helper->value);
		break;
	case HELPER_NOT_STARTED:
		text_string(&text, "no process could be started: ");
		text_error(&text, helper->value);
		break;
	case HELPER_WRITABLE:
		text_string(&text, "others could write to it: ");
		text_error(&text, helper->value);
		break;
	case HELPER_LATE:
	case HELPER_ALONE:
		text_string(&text, "it took longer than ");
		text_number(&text, (uint64_t)helper->value);
		text_string(&text, helper->end == HELPER_ALONE ? " seconds; `xaudit index` goes on, for later runs"
								: " seconds");
		break;
	case HELPER_KILLED:
		text_string(&text, "`xaudit index` was killed by signal ");
		text_number(&text, (uint64_t)helper->value);
		break;
	case HELPER_LOST:
		text_string(&text, "the process that waited for it was killed");
		break;
	case HELPER_EXITED:
		text_string(&text, helper->said[0] ? bare(helper->said, "xaudit index: ", &next)
				   : helper->value ? "`xaudit index` failed"
						   : "what was made is of another file");
		break;
	}
	process_lock(&held);
	process_say(line);
	process_unlock(&held);
}

static bool may_make(void)
{
	if (gave_up || attempted >= ATTEMPTS || (named_command && !*named_command))
		return false;
	return helper_allowed();
}

/*
 * To the command, /proc/self is the command. What the link says serves it better than the link of our process, for
 * debug files are found by it; but it may be gone, or not in this root.
 */
static const char *name_for_others(const char *path, char *to, size_t room)
{
	static const char own[] = "/proc/self/exe";
	static const char descriptor[2][sizeof("/proc/self/fd/")] = { "/proc/self/fd/", "/dev/fd/" };
	struct text text = { to, room, 0 };
	struct stat st, at;

	for (int i = 0; i < 2; i++) {
		size_t length = sys_length(descriptor[i]);
		if (sys_length(path) <= length || !sys_same(path, descriptor[i], length))
			continue;
		text_string(&text, "/proc/");
		text_number(&text, (uint64_t)sys_getpid());
		text_string(&text, "/fd/");
		text_string(&text, path + length);
		return to;
	}
	if (sys_length(path) != sizeof(own) - 1 || !sys_same(path, own, sizeof(own)))
		return path;
	long n = sys_call(__NR_readlinkat, AT_FDCWD, (long)own, (long)to, (long)room - 1, 0, 0);
	to[n > 0 ? n : 0] = '\0';
	if (!sys_call(__NR_newfstatat, AT_FDCWD, (long)own, (long)&st, 0, 0, 0) &&
		!sys_call(__NR_newfstatat, AT_FDCWD, (long)to, (long)&at, 0, 0, 0) && st.st_dev == at.st_dev &&
		st.st_ino == at.st_ino)
		return to;
	text_string(&text, "/proc/");
	text_number(&text, (uint64_t)sys_getpid());
	text_string(&text, "/exe");
	return to;
}

struct names {
	char beside[PATH_MAX], file[PATH_MAX];
};

/* Has the command make what `helper` asks for, from the file. Names in `helper` may lie in *names from then on. */
static void run(struct helper *helper, const char *path, struct names *names)
{
	helper->command = named_command;
	if (!helper->command)
		helper->command = find_beside(names->beside, sizeof(names->beside)) ? names->beside : XAUDIT_COMMAND;
	helper->file = name_for_others(path, names->file, sizeof(names->file));
	helper->environment = environ_of_command;
	helper->seconds = INDEX_SECONDS;
	helper_run(helper);
	gave_up = helper->end != HELPER_EXITED && helper->end != HELPER_KILLED;
}

/* Returns 0 when it made one. */
static int make(const struct index_identity *identity, const char *path, struct index *to)
{
	static struct helper helper SYS_LARGE; /* ld.so's lock guards both */
	static struct names names SYS_LARGE;

	helper.values = NULL;
	helper.keeps = true;
	run(&helper, path, &names);
	int good = helper.end == HELPER_EXITED && !helper.value;
	if (good && helper.bytes && !index_attach(to, helper.bytes, helper.size, NULL) &&
		index_same_file(&to->head->identity, identity)) {
		note(identity, helper.bytes, helper.size);
		return 0;
	}
	if (good && !helper.bytes && !index_look(to, folder, folders, identity))
		return 0;
	if (helper.bytes)
		sys_munmap((void *)(uintptr_t)helper.bytes, helper.size);
	*to = (struct index){ 0 };
	note(identity, NULL, 0);
	say(&helper);
	return -1;
}

int index_find_kept(struct index *to, const struct index_identity *identity)
{
	int why = index_look(to, folder, folders, identity);

	if (!why || why == -EPERM)
		return why;
	const struct attempt *attempt = attempt_at(identity);
	return attempt && attempt->bytes ? index_attach(to, attempt->bytes, attempt->size, NULL) : why;
}

int index_find(struct index *to, const struct index_identity *identity, const char *path)
{
	int why = index_find_kept(to, identity);

	if (!why || why == -EPERM || attempt_at(identity))
		return why;
	return may_make() && !make(identity, path, to) ? 0 : why;
}

/* What the command says of the rules, as a rule of each file: each line once, up to a number of them. */
static void say_of_rules(char *words)
{
	static uint64_t said[RULES_MOST]; /* their sums; ld.so's lock guards both */
	static unsigned lines;
	struct process_held held;

	for (char *next; *words; words = next) {
		const char *line = bare(words, "xaudit: ", &next);
		const uint64_t sum = sum_add(SUM_NONE, line, sys_length(line));
		bool again = !*line || lines > RULES_MOST;
		for (unsigned i = 0; i < lines && i < RULES_MOST; i++)
			again |= said[i] == sum;
		if (again)
			continue;
		if (lines < RULES_MOST)
			said[lines] = sum;
		else
			line = "more is wrong with what is asked of values and probes: it is said when that is put "
			       "right";
		lines++;
		process_lock(&held);
		notes_say(line);
		process_unlock(&held);
	}
}

const void *index_plan(const char *rules, const char *path, size_t *size)
{
	static struct helper helper SYS_LARGE; /* ld.so's lock guards both */
	static struct names names SYS_LARGE;

	if (!may_make())
		return NULL;
	helper.values = rules;
	helper.keeps = false;
	run(&helper, path, &names);
	int good = helper.end == HELPER_EXITED && !helper.value && helper.bytes;
	if (!good)
		say(&helper);
	else if (helper.said[0])
		say_of_rules(helper.said);
	if (!good && helper.bytes)
		sys_munmap((void *)(uintptr_t)helper.bytes, helper.size);
	*size = helper.size;
	return good ? helper.bytes : NULL;
}
