/* SPDX-License-Identifier: MIT */
#include "tool/export/stacks/merged.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"

static uint32_t find(const struct merged *merged, const struct xaudit_read_process *process, uint32_t tid)
{
	return HASH_FIND(i, &merged->table, hash_key((uintptr_t)process, tid),
		merged->thread[i].process == process && merged->thread[i].tid == tid);
}

static struct merged_thread *thread_of(struct merged *merged, struct xaudit_read_process *process, uint32_t tid)
{
	uint32_t number = find(merged, process, tid);

	if (number == HASH_NONE) {
		number = merged->threads++;
		merged->thread = memory_grow(merged->thread, number, sizeof(*merged->thread));
		merged->thread[number] = (struct merged_thread){ .process = process, .tid = tid };
		memory_hash(&merged->table, hash_key((uintptr_t)process, tid), number);
	}
	return &merged->thread[number];
}

/* Calls in others stay in these, whichever thread they are made by. */
static bool place(void *user, struct cct *cct, const struct xaudit_read_call *call, uint32_t *node, bool *all)
{
	struct merged *merged = user;
	struct merged_thread *thread;

	if (call->parent && call->parent->start >= cct->from)
		return false;
	thread = thread_of(merged, call->process, call->tid);
	if (!thread->node)
		thread->node = cct_child(cct, CCT_ROOT, MERGED_THREAD + (uint32_t)(thread - merged->thread));
	*node = thread->node;
	*all = thread->node != CCT_ROOT;
	return true;
}

void merged_begin(struct merged *merged, const struct export *export, bool by_thread)
{
	cct_open(&merged->cct, MERGED_MOST);
	merged->cct.from = export->from;
	merged->cct.nodes_only = true;
	if (!by_thread)
		return;
	merged->cct.place = place;
	merged->cct.user = merged;
}

void merged_take(struct merged *merged, const struct export_call *call)
{
	/* The low half of user[0], and user[1], are the tree's. */
	cct_take(&merged->cct, (struct xaudit_read_call *)call->call);
}

/* What is neither a call's own time nor that of one in it was in calls that are left out. */
static void keep_rest(struct cct *cct)
{
	uint64_t *rest = memory_zeroed(cct->nodes, sizeof(*rest));

	for (uint32_t i = cct->nodes - 1; i; i--) {
		struct cct_node *node = &cct->node[i];
		uint64_t known = node->own.time + rest[i];

		if (node->function < MERGED_THREAD && node->all.time > known)
			node->own.time = node->all.time - rest[i];
		rest[node->parent] += node->all.time;
	}
	free(rest);
}

void merged_end(struct merged *merged, const struct export *export)
{
	for (uint32_t i = 0; i < xaudit_read_threads(export->trace); i++) {
		const struct xaudit_read_thread *thread = xaudit_read_thread(export->trace, i);
		uint32_t number = find(merged, thread->process, thread->tid);

		if (number != HASH_NONE && *thread->name)
			merged->thread[number].name = thread->name;
	}
	cct_sum(&merged->cct);
	keep_rest(&merged->cct);
	if (merged->cct.folded)
		tool_error("export",
			"%" PRIu64 " calls are in the time of those around them: there are more than %u stacks",
			merged->cct.folded, MERGED_MOST);
}

void merged_free(struct merged *merged)
{
	cct_close(&merged->cct);
	free(merged->thread);
	hash_free(&merged->table);
}

/* ---- names ---- */

const struct merged_thread *merged_thread(
	const struct merged *merged, const struct xaudit_read_process *process, uint32_t tid)
{
	uint32_t number = find(merged, process, tid);

	return number == HASH_NONE ? NULL : &merged->thread[number];
}

char *merged_process_name(const struct merged_thread *thread)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(thread->process);

	return memory_format("%s %" PRIu32, info->exe ? tool_base(info->exe) : info->name, info->pid);
}

char *merged_name(const struct merged_thread *thread)
{
	char *process = merged_process_name(thread);
	char *both = memory_format("%s, %s %" PRIu32, process, thread->name ? thread->name : "thread", thread->tid);

	free(process);
	return both;
}
