/* SPDX-License-Identifier: MIT */
#include "audit/start/sanitizer.h"

#include "audit/bind/imports.h"
#include "audit/live/unwinder.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "x86_64/mirror.h"

#define REFUSED kinds_with(KIND_RETURNS)

static void say(const struct load *load, int sanitizer, unsigned kinds)
{
	static const char *const names[] = { [IMPORT_TSAN] = "ThreadSanitizer",
		[IMPORT_MSAN] = "MemorySanitizer",
		[IMPORT_DFSAN] = "DataFlowSanitizer" };
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };
	struct process_held held;
	int n = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		if (!(kinds & 1u << kind))
			continue;
		text_string(&text, n++ ? ", " : "not recorded of this program: kind ");
		text_string(&text, kind_rows[kind].word);
	}
	text_string(&text, ": the addresses where xaudit keeps open calls are ");
	text_string(&text, names[sanitizer]);
	text_string(&text, "'s (in ");
	text_string(&text, load->object->path);
	text_string(&text, ")");
	process_lock(&held);
	process_say(buffer);
	process_unlock(&held);
}

int sanitizer_refuse(const struct load *load, int sanitizer, struct rules *rules)
{
	static int done;
	const unsigned asked = rules_kinds(rules) & REFUSED;

	if (done)
		return 0;
	done = 1;
	mirror_forbid();
	unwinder_stop();
	rules_refuse(rules, REFUSED);
	if (asked)
		say(load, sanitizer, asked);
	return 1;
}
