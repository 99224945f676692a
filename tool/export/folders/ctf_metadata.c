/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/ctf_metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/term/names.h"

#define SECOND 1000000000u

static const char before[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; base = hex; } := hex8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = hex; } := address_t;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double_t;\n"
	"trace {\n"
	"	major = 1;\n"
	"	minor = 8;\n"
	"	byte_order = le;\n"
	"	packet.header := struct { uint32_t magic; uint32_t stream_id; };\n"
	"};\n";

static const char behind[] =
	"typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } := time32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time64_t;\n"
	"enum how : uint8_t { \"open\" = 0, \"returned\" = 1, \"jumped\" = 2, \"unwound\" = 3, \"cut\" = 4, "
	"\"no end\" = 5, \"off\" = 6, \"entry only\" = 7 };\n"
	"enum state : uint8_t { \"on\" = 1, \"waits\" = 2, \"preempted\" = 3, \"unknown\" = 4 };\n"
	"stream {\n"
	"	id = 0;\n"
	"	packet.context := struct {\n"
	"		time64_t timestamp_begin;\n"
	"		time64_t timestamp_end;\n"
	"		uint64_t content_size;\n"
	"		uint64_t packet_size;\n"
	"		uint64_t events_discarded;\n"
	"	};\n"
	"	event.header := struct { uint16_t id; time32_t timestamp; };\n"
	"	event.context := struct { int32_t _vpid; int32_t _vtid; string _procname; };\n"
	"};\n";

#define CALL   "address_t _addr; address_t _call_site; enum function _function;"
#define CALLERS "uint16_t _size; string _callers[_size];"
#define BINARY "address_t _baddr; uint64_t _memsz; string _path;"
#define FLAGS  " uint8_t _has_build_id; uint8_t _has_debug_link;"
#define BUILD  "address_t _baddr; uint16_t _size; hex8_t _build_id[_size];"

static const struct {
	const char *name, *fields;
} events[CTF_EVENTS] = {
	[CTF_ENTRY] = { "lttng_ust_cyg_profile:func_entry", CALL },
	[CTF_EXIT] = { "lttng_ust_cyg_profile:func_exit", CALL " enum how _how;" },
	[CTF_ENTRY_VALUES] = { "lttng_ust_cyg_profile:func_entry", CALL " string _arguments;" },
	[CTF_EXIT_VALUES] = { "lttng_ust_cyg_profile:func_exit", CALL " enum how _how; string _result;" },
	[CTF_ENTRY_REQUEST] = { "lttng_ust_cyg_profile:func_entry", CALL " string _arguments; string _request;" },
	[CTF_ENTRY_CALLERS] = { "lttng_ust_cyg_profile:func_entry", CALL " string _arguments; " CALLERS },
	[CTF_ENTRY_REQUEST_CALLERS] = { "lttng_ust_cyg_profile:func_entry",
		CALL " string _arguments; string _request; " CALLERS },
	[CTF_TRACK] = { "xaudit:track", "uint32_t _tid; uint32_t _stack; uint32_t _beside; string _name;" },
	[CTF_OVERWRITTEN] = { "xaudit:overwritten", "uint64_t _buffers;" },
	[CTF_DLOPEN] = { "lttng_ust_dl:dlopen", BINARY FLAGS },
	[CTF_DLCLOSE] = { "lttng_ust_dl:dlclose", "address_t _baddr; string _path;" },
	[CTF_BUILD_ID] = { "lttng_ust_dl:build_id", BUILD },
	[CTF_DUMP_START] = { "lttng_ust_statedump:start", "" },
	[CTF_DUMP_BINARY] = { "lttng_ust_statedump:bin_info", BINARY " uint8_t _is_pic;" FLAGS },
	[CTF_DUMP_BUILD_ID] = { "lttng_ust_statedump:build_id", BUILD },
	[CTF_DUMP_END] = { "lttng_ust_statedump:end", "" },
	[CTF_RUN] = { "xaudit:run", "enum state _state; uint64_t _duration;" },
	[CTF_PROCESS] = { "xaudit:process",
		"uint32_t _pid; uint32_t _parent; string _exe; string _command; string _host;" },
	[CTF_FUNCTION] = { "xaudit:function",
		"enum function _function; address_t _addr; string _symbol; string _library; string _soname; "
		"string _build_id;" },
	[CTF_COUNTED] = { "xaudit:counted", "enum function _function; uint64_t _calls;" },
};

void ctf_quote(FILE *file, const char *text)
{
	const char *shown;
	size_t length;

	putc('"', file);
	while (*text) {
		text += text_next(text, &shown, &length);
		if (*shown == '"' || *shown == '\\')
			putc('\\', file);
		fwrite(shown, 1, length, file);
	}
	putc('"', file);
}

/* ---- names of functions ---- */

/* Labels of an enumeration are different, as strings of the metadata: so two functions of one name are told apart. */
struct labels {
	char **label;
	uint32_t count;
	struct hash by_label;
};

static bool is_label(const struct labels *labels, const char *label)
{
	return HASH_FIND(i, &labels->by_label, hash_text(0, label), !strcmp(labels->label[i], label)) != HASH_NONE;
}

static char *clean_name(const char *name)
{
	char *clean = memory_text(name, strlen(name));

	text_clean(clean);
	return clean;
}

static void add_label(struct labels *labels, const struct xaudit_read_function *function)
{
	char *name = clean_name(names_full(function->name)), *label = memory_text(name, strlen(name));

	for (unsigned i = 0; is_label(labels, label); i++) {
		free(label);
		label = i ? memory_format("%s@%s (%u)", name, tool_base(function->object->path), i + 1)
			  : memory_format("%s@%s", name, tool_base(function->object->path));
		text_clean(label);
	}
	free(name);
	labels->label[labels->count] = label;
	memory_hash(&labels->by_label, hash_text(0, label), labels->count++);
}

static void describe_functions(FILE *file, const struct ctf *ctf)
{
	struct labels labels = { memory_zeroed(ctf->functions + 1, sizeof(char *)), 0, { 0 } };

	fputs("enum function : uint32_t {", file);
	for (uint32_t i = 0; i < ctf->functions; i++) {
		add_label(&labels, ctf->function[i]);
		fputs(i ? ",\n\t" : "\n\t", file);
		ctf_quote(file, labels.label[i]);
		fprintf(file, " = %" PRIu32, i);
	}
	fprintf(file, "%s};\n", ctf->functions ? "\n" : " \"none\" = 0 ");
	for (uint32_t i = 0; i < labels.count; i++)
		free(labels.label[i]);
	free(labels.label);
	hash_free(&labels.by_label);
}

/* ---- all ---- */

static void describe_environment(FILE *file, const struct export *export)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(xaudit_read_process(export->trace, 0));
	uint64_t real = export->info->start_real;
	/* The clock of the trace at 1970. */
	uint64_t offset = real > export->info->start ? real - export->info->start : 0;

	fputs("env {\n\thostname = ", file);
	/* The host's system follows its name. */
	char *host = info->host ? memory_text(info->host, strcspn(info->host, " ")) : NULL;
	ctf_quote(file, host ? host : "unknown");
	free(host);
	fputs(";\n\tdomain = \"ust\";\n\ttracer_name = \"lttng-ust\";\n\ttracer_major = 2;\n\ttracer_minor = 13;\n"
	      "\tcommand = ", file);
	ctf_quote(file, export->info->command ? export->info->command : "unknown");
	fprintf(file, ";\n};\nclock { name = monotonic; description = \"CLOCK_MONOTONIC\"; freq = 1000000000; "
		      "offset_s = %" PRIu64 "; offset = %" PRIu64 "; };\n", offset / SECOND, offset % SECOND);
}

void ctf_describe(FILE *file, const struct export *export)
{
	const struct ctf *ctf = export->state;

	fputs(before, file);
	describe_environment(file, export);
	describe_functions(file, ctf);
	fputs(behind, file);
	for (unsigned i = 0; i < CTF_EVENTS; i++)
		fprintf(file, "event { name = \"%s\"; id = %u; stream_id = 0; fields := struct { %s }; };\n",
			events[i].name, i, events[i].fields);
	ctf_types_describe(file, &ctf->types, CTF_EVENTS);
}
