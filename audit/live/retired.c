/* SPDX-License-Identifier: MIT */
#include "audit/live/retired.h"

#include "audit/live/entry.h"
#include "audit/live/probe.h"
#include "audit/live/xray.h"
#include "audit/model/object.h"
#include "runtime/base/arena.h"
#include "x86_64/stub.h"

_Static_assert(__builtin_offsetof(struct load, retired) == 0, "retired_free() finds the load by its item");

void retired_free(struct epoch_item *item)
{
	struct load *load = (struct load *)item; /* its first member */

	for (struct stub_block *block = load->blocks; block; block = block->next)
		stub_unmap(&block->pages);
	entry_free(load);
	probe_free(load);
	stub_unmap(&load->stubs);
	stub_unmap(&load->words);
	arena_free(&load->arena);
	load->blocks = NULL;
	load->bindings = NULL;
	load->touched = NULL;
	load->got = NULL;
	load->got_buckets = NULL;
	load->got_words = 0;
	xray_free(load);
	load->state = LOAD_FREE;
}
