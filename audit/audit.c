/* SPDX-License-Identifier: MIT */
/*
 * The callbacks that ld.so calls: routing only. doc/design.md ("The loader's callbacks") tells which callback comes
 * when, under which lock, and what is true then. True for all of them: they run on a thread of the program, without a
 * libc of their own (audit/freestanding.h).
 */
#define _GNU_SOURCE
#include <elf.h>      /* AT_BASE */
#include <link.h>     /* la_objopen */
#include <stdbool.h>
#include <stdlib.h>   /* getenv */
#include <string.h>   /* strcmp */
#include <sys/auxv.h> /* getauxval */
#include <time.h>     /* clock_gettime */

#include "audit/api_connect.h"
#include "audit/bind/bind.h"
#include "audit/bind/cyg_bind.h"
#include "audit/bind/dladdr_bind.h"
#include "audit/bind/gmon.h"
#include "audit/bind/imports.h"
#include "audit/bind/iterate.h"
#include "audit/bind/loader_calloc.h"
#include "audit/bind/no_plt.h"
#include "audit/bind/runtime_symbols.h"
#include "audit/bind/symbol.h"
#include "audit/check/check.h"
#include "audit/check/dlclose.h"
#include "audit/freestanding.h"
#include "audit/index/find.h"
#include "audit/live/announce.h"
#include "audit/live/backtraces.h"
#include "audit/live/dlclose.h"
#include "audit/live/requests.h"
#include "audit/live/switch.h"
#include "audit/live/unwinder.h"
#include "audit/live/values.h"
#include "audit/model/object.h"
#include "audit/prepare/got_calls.h"
#include "audit/prepare/image.h"
#include "audit/prepare/lifetime.h"
#include "audit/prepare/prepare.h"
#include "audit/rules/rules.h"
#include "audit/start/altstack.h"
#include "audit/start/children.h"
#include "audit/start/loader_time.h"
#include "audit/start/sanitizer.h"
#include "audit/start/static_tls.h"
#include "config.h"
#include "runtime/base/identity.h"
#include "runtime/base/maps.h"
#include "runtime/base/text.h"
#include "runtime/calls/calls.h"
#include "runtime/control.h"
#include "runtime/custom.h"
#include "runtime/files/broker.h"
#include "runtime/files/pool.h"
#include "runtime/files/pool_make.h"
#include "runtime/files/surroundings.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/clock.h"
#include "runtime/process/epoch.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/record/chunk.h"
#include "runtime/record/filter.h"
#include "runtime/record/own_labels.h"
#include "runtime/record/recorder.h"
#include "runtime/snapshot/compact.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/start.h"
#include "x86_64/confined.h"
#include "x86_64/labels.h"
#include "x86_64/libc.h"
#include "x86_64/mirror.h"
#include "x86_64/pages.h"
#include "x86_64/sys.h"

#define EXPORT __attribute__((visibility("default")))

#define BINDING_KINDS kinds_with(KIND_BOUND)

static struct rules rules;
static unsigned kinds; /* all kinds that the rules ask for */
static int program_seen; /* objects announced before the program belong to another auditor */
static int exiting;	 /* the program's own objects are being closed: nothing is unmapped any more */
static int started;	 /* the first LA_ACT_CONSISTENT has come: not in ldd's trace mode */
static int recorded;	 /* `xaudit record` started the process: it reads the folder even if nothing was selected */

/* Namespaces of other auditors: announced before the program. */
static uint64_t foreign;

static uintptr_t loader_base; /* where ld.so is mapped */
static char program[4096] SYS_LARGE; /* object_program; "" where /proc/self/exe is the program */

/*
 * The kernel tells where ld.so is, unless ld.so is what it was told to execute: then ld.so has mapped the program,
 * whose file the kernel knows by its mapping.
 */
static void find_loader(void)
{
	struct mapping mapping;
	struct process_held held;

	loader_base = getauxval(AT_BASE);
	if (loader_base)
		return;
	process_lock(&held);
	/* Its segments lie as in the file. */
	if (maps_find(freestanding_loader(), &mapping) == 1 &&
		maps_find(mapping.low - mapping.offset, &mapping) == 1 && !mapping.offset)
		loader_base = mapping.low;
	/* ld.so has put the program's own entry there. */
	if (maps_find(getauxval(AT_ENTRY), &mapping) == 1 && *mapping.name == '/' &&
		strlen(mapping.name) < sizeof(program)) {
		strcpy(program, mapping.name);
		object_program = program;
	}
	process_unlock(&held);
}

EXPORT unsigned la_version(unsigned version)
{
	struct process_options options = {
		.version = PACKAGE_VERSION, .program = program, .describe = announce_all, .begin = control_permit,
		.confine = check_confine};

	/* The program has more rights than its caller, whose environment this is: read, create and print nothing. */
	if (getauxval(AT_SECURE))
		return 0;
	static_tls_start();
	mirror_main(getauxval(AT_RANDOM)); /* an address above all its frames */
	if (rules_read(&rules, getenv))
		return 0; /* the reason was printed; ld.so unloads us */
	kinds = rules_kinds(&rules) & kinds_with(KIND_EVENTS); /* the other kinds need no bindings */
	if (check_init(getenv))
		return 0; /* `xaudit check` says so */
	index_find_init(getenv);
	recorded = getenv("XAUDIT_RULES") != NULL && !check_mode();
	if (recorded)
		broker_init(getenv(BROKER_VARIABLE));
	options.output = rules.output;
	options.chunk_size = chunk_init(pool_chunk_size(rules_buffer(&rules)), rules.ring);
	options.source = rules.source;
	labels_keep_place();
	if (rules.perf)
		options.made = own_labels_start;
	/* A coarse clock is the TSC, or none at all. */
	enum trace_clock wanted = rules.clock == RULES_CLOCK_TSC	 ? TRACE_CLOCK_TSC
				  : rules.clock == RULES_CLOCK_MONOTONIC ? TRACE_CLOCK_MONOTONIC
									 : 0;
	/*
	 * Otherwise the clock would ask a file of the kernel, or the processor by an instruction that a virtual machine
	 * traps.
	 */
	if (!wanted && libc_ticks_are_steady(freestanding_of_loader(LIBC_CPU)))
		wanted = TRACE_CLOCK_TSC;
	clock_init(wanted, clock_gettime);
	unwinder_init();
	if (process_init(&options)) {
		static const char line[] = "xaudit: the kernel gives no memory that fork wipes (Linux 4.14); the "
					   "program runs on, untraced\n";
		sys_write(2, line, sizeof(line) - 1);
		return 0;
	}
	start_parts();
	find_loader();
	pages_may_ask(); /* before the program installs a filter of its own */
	recorder_init(&(struct recorder_options){
		.mode = rules.mode, .coarse = rules.clock == RULES_CLOCK_COARSE, .size_limit = rules.size_limit,
		.overflow = rules.overflow, .throttle = rules.throttle });
	custom_backtraces(rules.event_backtrace);
	filter_init(&(struct filter_options){ .depth = rules.depth, .time = rules.time, .below = rules.below != NULL });
	snapshot_init(&(struct snapshot_options){
		.signal = rules.snapshot_signal, .exit = rules.snapshot_exit, .crash = rules.snapshot_crash });
	epoch_init(0);
	control_init(&(struct control_options){ .version = PACKAGE_VERSION,
		.objects = &objects,
		.loads = &loads,
		.any = rules.control_any && !check_mode(),
		.change = switch_obey,
		.calm = switch_calm_place(),
		.values = values_rules_place(&rules),
		.names = requests_names_place(&rules) });
	process_quiet(1);
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The object's flags for the trace (format/trace.h). */
static uint32_t object_flags(const struct link_map *map, Lmid_t namespace)
{
	if (map->l_addr && map->l_addr == getauxval(AT_SYSINFO_EHDR))
		return TRACE_OBJECT_VDSO;
	if (map->l_addr && map->l_addr == loader_base)
		return TRACE_OBJECT_LOADER;
	if (namespace == LM_ID_BASE && !program_seen && !*map->l_name)
		return TRACE_OBJECT_PROGRAM;
	return 0;
}

/*
 * What la_objopen returns when no PLT slot concerns us: for PLT slots ld.so calls la_symbind64 only when the binding
 * object has LA_FLG_BINDFROM and the defining one LA_FLG_BINDTO. Not 0: up to glibc 2.43, if we don't want to hear of a
 * dlsym(), ld.so does not tell the auditors after us either.
 */
#define DLSYM_ALONE LA_FLG_BINDTO

/* The program headers are neither at their usual place nor where ld.so's struct link_map has them (image.c). */
static void say_unread(const struct link_map *map)
{
	struct process_held held;
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	text_string(&text, map->l_name);
	text_string(&text, ": is not traced, since its program headers are not found in memory");
	process_lock(&held);
	process_say(buffer);
	process_unlock(&held);
}

/* May calls be open, now or later? */
static int binds(void)
{
	/* Relaxed, as in unwinder_begin(). */
	return kinds || __atomic_load_n(&unwinder_begun, __ATOMIC_RELAXED);
}

/* The arguments of la_objopen, and the load that it makes. */
struct opening {
	struct link_map *map;
	Lmid_t namespace;
	uint32_t flags;
	struct load *load; /* NULL: none, or an object that stays as it is */
	uintptr_t *cookie;
};

/* May the rules select a function that the object calls? */
static bool may_bind(const struct load *load)
{
	const struct rules_section *section = load->object->section;

	return kinds & 1u << TRACE_KIND_PLT || (section && section->kinds & 1u << TRACE_KIND_CALLS);
}

/* A signal may come in while a thread is in our own code, too: that is noted for who asks for backtraces, or will. */
static void open_backtraces(struct load *load, uint32_t flags)
{
	struct load *own = flags & TRACE_OBJECT_PROGRAM ? object_own() : NULL;

	if (own)
		backtraces_open(own);
	backtraces_open(load);
}

/* Most of la_objopen. */
static void open_object(void *argument)
{
	struct opening *opening = argument;
	const uint32_t flags = opening->flags;
	struct image image;
	struct imports imports;

	if (!image_read(&image, opening->map, (flags & TRACE_OBJECT_PROGRAM) != 0)) {
		say_unread(opening->map);
		return;
	}
	struct load *load = object_open(opening->map, opening->namespace, &image, &rules, flags);
	*opening->cookie = (uintptr_t)load;
	if (load && !check_mode())
		open_backtraces(load, flags);
	if (!load || flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
		return;
	dladdr_note(load);
	imports_look(&imports, load);
	if (!started && opening->namespace == LM_ID_BASE)
		static_tls_look(opening->map, &image, &imports, (flags & TRACE_OBJECT_PROGRAM) != 0);
	if (!started && imports.sanitizer && sanitizer_refuse(load, imports.sanitizer, &rules))
		kinds &= rules_kinds(&rules);
	runtime_symbols_give(load, &imports);
	dlclose_note(load, imports.defines_dlclose, imports.index[IMPORT_DLCLOSE], imports.relocation,
		imports.relocations);
	/* Under `xaudit check` a process makes no trace. */
	if (!check_mode() && api_connect(&image))
		prepare_for_interface();
	load->unbound = !binds();
	load->object->unbound |= (uint8_t)load->unbound;
	got_calls_open(load, &image, !check_mode() && may_bind(load));
	no_plt_open(load, &imports, !load->unbound);
	if (kinds & BINDING_KINDS)
		unwinder_look();
	prepare(load, &image);
	got_calls_write(load);
	cyg_bind_open(load, &imports);
	gmon_open(load, &imports);
	opening->load = load;
}

static unsigned opened(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	struct opening opening = { map, namespace, object_flags(map, namespace), NULL, cookie };

	*cookie = 0;
	if (opening.flags & TRACE_OBJECT_PROGRAM)
		program_seen = 1;
	if (!program_seen && namespace > 0 && namespace < 64)
		foreign |= 1ull << namespace;
	if (!program_seen || (namespace > 0 && namespace < 64 && foreign & 1ull << namespace))
		return 0;
	/*
	 * Each namespace has an entry for ld.so, which is mapped once. Before glibc 2.41 these entries are closed
	 * without having been opened; since then each would be one more load of the same memory, "unloaded" while ld.so
	 * runs.
	 */
	if (opening.flags & TRACE_OBJECT_LOADER && namespace != LM_ID_BASE)
		return DLSYM_ALONE;
	/* The first thread's stack is large. */
	if (started)
		altstack_call(open_object, &opening);
	else
		open_object(&opening);
	struct load *load = opening.load;
	if (!load)
		return DLSYM_ALONE;
	handlers_loaded(HANDLERS_LOAD, load->object->number, load->base);
	/*
	 * While calls are open, dl_iterate_phdr, longjmp and the like must be bound to ours in every object that calls
	 * them.
	 */
	load->asked = binds() || check_mode() || (load->closes && dlclose_is_watched());
	return load->asked ? LA_FLG_BINDTO | LA_FLG_BINDFROM : DLSYM_ALONE;
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	uint64_t paused = loader_time_pause();
	unsigned flags = opened(map, namespace, cookie);

	loader_time_resume(paused);
	return flags;
}

/*
 * The program's libc tells us when its threads end. A key under 32 has its place in struct pthread, so setting it never
 * allocates; without a key, ended threads are found by asking the kernel.
 */
static void watch_thread_ends(void)
{
	static int done;
	unsigned key;

	/* Relaxed: once is enough, and no thread waits for it. */
	if (__atomic_load_n(&done, __ATOMIC_RELAXED) || __atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		return;
	int (*create)(unsigned *, void (*)(void *)) =
		(int (*)(unsigned *, void (*)(void *)))symbol_of_libc("pthread_key_create");
	int (*remove)(unsigned) = (int (*)(unsigned))symbol_of_libc("pthread_key_delete");
	uintptr_t set = symbol_of_libc("pthread_setspecific");
	values_find_errno(symbol_of_libc("__errno_location"));
	if (!create || !remove || !set || create(&key, thread_ended))
		return;
	if (key < 32)
		thread_watch_ends(set, key);
	else
		remove(key);
}

/*
 * Who may have the family's file is looked at before rights are given up (runtime/process/leave.h). Registered like the
 * key; a program has seldom as many functions there as would need memory (48).
 */
static void watch_forks(void)
{
	static int done;
	int (*watch)(void (*)(void), void (*)(void), void (*)(void), void *);

	/* Relaxed: as in watch_thread_ends(). */
	if (__atomic_load_n(&done, __ATOMIC_RELAXED) || __atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		return;
	watch = (int (*)(void (*)(void), void (*)(void), void (*)(void), void *))symbol_of_libc("__register_atfork");
	if (!watch || watch(pool_inherited, NULL, NULL, &done))
		pool_forks_unknown();
}

/* Signals are blocked: a handler that jumps away from the first call would leave libc's lock of such functions held. */
static void watch_program(void)
{
	static int done;
	uint64_t before;

	/* Relaxed: as in watch_thread_ends(). */
	if (__atomic_load_n(&done, __ATOMIC_RELAXED))
		return;
	sys_block_signals(&before);
	watch_thread_ends();
	watch_forks();
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED); /* relaxed, as said */
	sys_set_signals(&before, NULL);
}

/* At start-up ld.so itself looks these names up, as if the program called dlsym. */
static bool is_loaders_own(const char *name)
{
	return !strcmp(name, "malloc") || !strcmp(name, "calloc") || !strcmp(name, "realloc") || !strcmp(name, "free");
}

/* This load may hold the program's dlclose. */
static void look_for_close(const struct load *load)
{
	if (load->state != LOAD_OPEN || load->namespace != LM_ID_BASE || !load->object->soname)
		return;
	/* Up to glibc 2.33 it is in libdl. Wrappers in other libraries don't count. */
	if (!strcmp(load->object->soname, "libc.so.6") || !strcmp(load->object->soname, "libdl.so.2"))
		dlclose_bind(symbol_find(load, "dlclose"), symbol_find(load, "dlmopen"));
}

/* Once there are handlers, dlclose goes through us. The program may keep a result of dlsym() until then. */
static uintptr_t watched(uintptr_t address, unsigned flags)
{
	return flags & LA_SYMB_DLSYM && api_handlers && address == dlclose_real() ? (uintptr_t)dlclose_call
									      : dlclose_through(address);
}

/*
 * Labels have to be there before the first call, which may last as long as the program. A forked child has its
 * parent's. Under a filter, and in a child that shares our memory, no folder can be made, as in thread_get().
 */
static void start_labels(void)
{
	struct process_held held;

	if (!rules.perf || process_state() != PROCESS_NONE || pool_is_open() || confined() || !identity_is_ours())
		return;
	process_lock(&held);
	process_start();
	process_unlock(&held);
}

EXPORT uintptr_t la_symbind64(
	Elf64_Sym *symbol, unsigned index, uintptr_t *refcook, uintptr_t *defcook, unsigned *flags, const char *name)
{
	(void)index;
	if (!started && *flags & LA_SYMB_DLSYM && !strcmp(name, "calloc"))
		return loader_calloc_bind(symbol->st_value);
	if (!binds() && !check_mode())
		return watched(symbol->st_value, *flags); /* the auditors after us find the flags unchanged */
	struct load *from = object_load(*refcook), *to = object_load(*defcook);
	if (to && !strcmp(name, "dl_iterate_phdr"))
		return iterate_bind(to, symbol->st_value);
	if (!from || !to || (!started && *flags & LA_SYMB_DLSYM && is_loaders_own(name)))
		return watched(symbol->st_value, *flags);
	if (check_mode())
		return check_bind(symbol, from, to, *flags, name);
	uint32_t word, hash;
	bool is_word = got_calls_take(from, name, symbol->st_value, *flags, &word, &hash);
	uintptr_t address = bind(symbol, from, to, *flags, name, is_word ? &hash : NULL);
	if (address == symbol->st_value && (kinds & BINDING_KINDS || values_are_wanted()))
		address = dladdr_through(to, name, address);
	address = watched(address, *flags);
	if (is_word) {
		got_calls_set(from, word, address);
		address = watched(symbol->st_value, *flags);
	}
	/* This may be the first selected function, and perhaps no LA_ACT_CONSISTENT follows. */
	if (started && object_selected) {
		watch_program();
		start_labels();
	}
	return address;
}

/* The library goes, after we waited for its handlers. */
static void say_left(const struct load *load, int answer)
{
	struct process_held held;
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	if (!answer)
		return;
	text_string(&text, load->object->path);
	text_string(&text, answer == HANDLERS_DEFERRED
				   ? ": is unloaded by its own handler, whose dlclose does not come by way of xaudit; "
				     "it would stay else"
				   : ": is unloaded, though a thread has not left its handler for two seconds");
	process_lock(&held);
	process_say(buffer);
	process_unlock(&held);
}

static void closed(struct load *load)
{
	/* In namespace 0 the program is closed first, and only when the process exits. */
	if (load->object->flags & TRACE_OBJECT_PROGRAM) {
		struct process_held held;
		exiting = 1;
		process_lock(&held);
		announce_changed_counts(1);
		process_unlock(&held);
		calls_finish();
		/* After it: so open calls have their ends, and the copy says that the process came to its end. */
		if (!check_mode())
			snapshot_at_exit();
	}
	if (check_mode() && !exiting)
		check_closing(load);
	/* At exit nothing is unmapped, and other threads go on: we wait for no handler, and report no unload. */
	say_left(load, handlers_forget(load->start, load->end, !exiting));
	if (!exiting)
		handlers_loaded(HANDLERS_UNLOAD, load->object->number, load->base);
	runtime_symbols_forget(load);
	no_plt_forget(load);
	object_close(load);
}

EXPORT unsigned la_objclose(uintptr_t *cookie)
{
	struct load *load = object_load(*cookie);
	uint64_t paused = loader_time_pause(); /* newer glibc closes some objects after LA_ACT_DELETE */

	if (load)
		closed(load);
	loader_time_resume(paused);
	return 0;
}

EXPORT void la_activity(uintptr_t *cookie, unsigned activity)
{
	struct process_held held;

	(void)cookie; /* may be that of a load already closed, or no cookie of ours */
	if (exiting) {
		/* All objects are closed. */
		if (activity == LA_ACT_CONSISTENT && !check_mode())
			compact_at_exit();
		return;
	}
	if (activity != LA_ACT_CONSISTENT && started)
		loader_time_begin(activity == LA_ACT_DELETE);
	if (activity == LA_ACT_DELETE && started) {
		uint64_t paused = loader_time_pause();
		object_doom();
		loader_time_resume(paused);
		return;
	}
	if (activity != LA_ACT_CONSISTENT || !program_seen)
		return;
	int first = !started;
	uint64_t now = clock_now();
	if (first)
		children_follow(rules.follow);
	started = 1;
	loader_calloc_settled();
	runtime_symbols_settled();
	no_plt_settled();
	cyg_bind_settled();
	for (const struct load *load = first ? loads : NULL; load; load = load->next)
		look_for_close(load);
	if (check_mode())
		check_consistent();
	object_retire();
	size_t length = 0;
	const char *command = first ? freestanding_command(&length) : NULL;
	process_lock(&held);
	surroundings_command(command, length);
	if (recorded || object_selected) {
		process_start();
		recorder_describe();
		announce_changed_counts(0);
	}
	loader_time_end(now);
	surroundings_command(NULL, 0);
	process_unlock(&held);
	process_clock();
	if (object_selected)
		watch_program();
	process_quiet(0);
	if (first && !check_mode())
		snapshot_start();
}
