/* SPDX-License-Identifier: MIT */
#include "audit/xray.h"

#include "runtime/process.h"

static struct load *numbered[XRAY_OBJECTS];

static int has_functions(const struct object *object)
{
	return object->marks && object->sites.first_patchable && object->sites.first_patchable < XRAY_FUNCTIONS;
}

void xray_open(struct load *load)
{
	static int said;

	if (!has_functions(load->object))
		return;
	if (load->object->flags & TRACE_OBJECT_PROGRAM) {
		numbered[0] = load;
		return;
	}
	for (uint32_t n = 1; n < XRAY_OBJECTS; n++) {
		if (!numbered[n]) {
			numbered[n] = load;
			return;
		}
	}
	if (!said)
		process_say("255 libraries with XRay functions are loaded: the XRay interface has no numbers for more; they are traced as the rules say");
	said = 1;
}

void xray_free(struct load *load)
{
	for (uint32_t n = 0; n < XRAY_OBJECTS; n++)
		if (numbered[n] == load)
			numbered[n] = NULL;
}

/* Lock held. */
static int32_t number_at(uint64_t address)
{
	for (int32_t n = 0; n < XRAY_OBJECTS; n++) {
		const struct load *load = numbered[n];
		if (load && load->state == LOAD_OPEN && address >= load->start && address < load->end)
			return n;
	}
	return -1;
}

int32_t xray_number_at(uint64_t address)
{
	struct process_held held;

	process_lock(&held);
	int32_t number = number_at(address);
	process_unlock(&held);
	return number;
}
