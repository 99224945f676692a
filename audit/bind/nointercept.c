/* SPDX-License-Identifier: MIT */
#include "audit/bind/nointercept.h"

#include <stdbool.h>
#include <string.h> /* strcmp */
#include <sys/syscall.h> /* __NR_setuid */

#include "runtime/process/execute.h"

static const char *const names[] = {
	/* these return twice, or on another stack */
	"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "_setjmp3", "savectx", "vfork", "__vfork",
	"__libc_vfork", "getcontext",
	"setcontext", "swapcontext", "makecontext", "clone", "__clone", "__clone2", "clone3", "__clone3",
	/* these never return, or return elsewhere */
	"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "__libc_longjmp", "__libc_siglongjmp", "pthread_exit",
	"thrd_exit", "exit",
	"_exit", "_Exit", "quick_exit", "abort", "__libc_start_main", "__cxa_finalize", "__stack_chk_fail",
	/* these look at their return address */
	"dlopen", "dlmopen", "dlsym", "dlvsym", "dlclose", "dladdr", "dladdr1", "dlinfo", "dlerror", "dl_iterate_phdr",
	"_mcount", "mcount",
	"__fentry__", "__cyg_profile_func_enter", "__cyg_profile_func_exit",
	/* these have a calling convention of their own */
	"__tls_get_addr", "___tls_get_addr", "__tls_get_addr_slow", "__tls_get_offset",
};

static const char *const prefixes[] = { "_dl_", "__libc_dl", "_Unwind_", "__morestack", "__asan_", "__tsan_", "__msan_",
	"__ubsan_", "__sanitizer_" };

/* Most names differ in the first characters; calling strcmp for each would cost more than the rest of a binding. */
static int is(const char *name, const char *wanted)
{
	return name[0] == wanted[0] && (!name[0] || name[1] == wanted[1]) && !strcmp(name, wanted);
}

/* The system call that may take rights, or fork. */
static uint32_t call_of(const char *name)
{
	static const struct {
		const char *name;
		uint32_t number;
	} calls[] = {
		{ "setuid", __NR_setuid }, { "setreuid", __NR_setreuid }, { "setresuid", __NR_setresuid },
		{ "capset", __NR_capset }, { "chroot", __NR_chroot }, { "unshare", __NR_unshare },
		{ "setns", __NR_setns }, { "_Fork", __NR_fork }, { "clone", __NR_clone },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (is(name, calls[i].name))
			return calls[i].number;
	return 0;
}

static enum execute_how how_executes(const char *name)
{
	static const struct {
		const char *name;
		enum execute_how how;
	} functions[] = {
		{ "execve", EXECUTE_EXECVE }, { "execvpe", EXECUTE_EXECVPE }, { "execveat", EXECUTE_EXECVEAT },
		{ "fexecve", EXECUTE_FEXECVE }, { "posix_spawn", EXECUTE_SPAWN }, { "posix_spawnp", EXECUTE_SPAWNP },
		{ "execv", EXECUTE_EXECV }, { "execvp", EXECUTE_EXECVP }, { "execl", EXECUTE_EXECL },
		{ "execlp", EXECUTE_EXECLP }, { "execle", EXECUTE_EXECLE }, { "system", EXECUTE_SHELL },
		{ "popen", EXECUTE_SHELL }, { "pidfd_spawn", EXECUTE_SPAWN }, { "pidfd_spawnp", EXECUTE_SPAWNP },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (is(name, functions[i].name))
			return functions[i].how;
	return EXECUTE_NONE;
}

/* Does a function that must be watched begin with these two characters? Few do, and this is asked for each binding. */
static bool begins_like_watched(const char *name)
{
	switch (name[0]) {
	case '_':
		return name[1] == '_' || name[1] == 'U' || name[1] == 'l' || name[1] == 'F';
	case 'c':
		return name[1] == 'a' || name[1] == 'h' || name[1] == 'l';
	case 'd':
		return name[1] == 'l';
	case 'e':
		return name[1] == 'x';
	case 'f':
		return name[1] == 'e';
	case 'l':
		return name[1] == 'o';
	case 'm':
		return name[1] == 'l';
	case 'p':
		return name[1] == 'r' || name[1] == 'o' || name[1] == 'i';
	case 's':
		return name[1] == 'i' || name[1] == 'y' || name[1] == 'e';
	case 'u':
		return name[1] == 'n';
	default:
		return false;
	}
}

enum nointercept_watch nointercept_watch(const char *name)
{
	if (!begins_like_watched(name))
		return WATCH_NONE;
	static const char *const landed[] = { "__cxa_begin_catch", "_Unwind_Resume", "_Unwind_Resume_or_Rethrow" };
	static const char *const jumps[] = { "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk" };

	for (size_t i = 0; i < sizeof(landed) / sizeof(*landed); i++)
		if (is(name, landed[i]))
			return WATCH_LANDED;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++)
		if (is(name, jumps[i]))
			return WATCH_JUMP;
	static const struct {
		const char *name;
		enum nointercept_watch what;
	} others[] = {
		{ "dlopen", WATCH_CALLER }, { "dlmopen", WATCH_CALLER }, { "dlsym", WATCH_CALLER },
		{ "dlvsym", WATCH_CALLER }, { "_Unwind_GetCFA", WATCH_CFA },
		{ "prctl", WATCH_PRCTL }, { "syscall", WATCH_SYSCALL },
		{ "setrlimit", WATCH_LIMIT }, { "setrlimit64", WATCH_LIMIT }, { "prlimit", WATCH_LIMIT },
		{ "prlimit64", WATCH_LIMIT }, { "mlockall", WATCH_LOCK },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (is(name, others[i].name))
			return others[i].what;
	return call_of(name) ? WATCH_RIGHTS : how_executes(name) ? WATCH_EXEC : WATCH_NONE;
}

uint32_t nointercept_word(const char *name)
{
	uint32_t call = call_of(name);

	return call ? call : how_executes(name);
}

int nointercept_name(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is(name, names[i]))
			return 1;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (prefixes[i][0] == name[0] && !strncmp(prefixes[i], name, strlen(prefixes[i])))
			return 1;
	return 0;
}
