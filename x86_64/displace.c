/* SPDX-License-Identifier: MIT */
#include "x86_64/displace.h"

#include "x86_64/sys.h" /* sys_copy */

static size_t whole(const struct index_template *head)
{
	return (sizeof(*head) + head->fixups * sizeof(struct index_fixup) + head->size + 3) & ~(size_t)3;
}

static size_t width(const struct index_fixup *fixup)
{
	return fixup->fix == INDEX_FIX_NEAR ? 4 : fixup->fix == INDEX_FIX_ADDRESS ? 8 : 0;
}

size_t displace_template_size(const void *p, size_t left)
{
	const struct index_template *head = p;
	const struct index_fixup *fixup = (const void *)(head + 1);

	if (left < sizeof(*head) || !head->size || head->size > INDEX_TEMPLATE_MAX || head->fixups > INDEX_FIXUPS_MAX ||
		left < whole(head) || head->call > INDEX_CALL_BY_RAX || head->meets > 1)
		return 0;
	for (size_t i = 0; i < sizeof(head->inside); i++)
		if (head->inside[i] >= head->size)
			return 0;
	for (size_t i = 0; i < head->fixups; i++) {
		size_t n = width(&fixup[i]);
		if (!n || fixup[i].at + n > head->size || fixup[i].end > head->size)
			return 0;
	}
	return whole(head);
}

size_t displace_copy(
	const struct index_template *from, uint64_t load, uint64_t function, uint64_t at, uint8_t *out, size_t room)
{
	const struct index_fixup *fixup = (const void *)(from + 1);

	if (room < from->size)
		return 0;
	sys_copy(out, fixup + from->fixups, from->size);
	for (size_t i = 0; i < from->fixups; i++) {
		uint64_t target = load + function + (uint64_t)(int64_t)fixup[i].target;
		uint64_t near = target - (at + fixup[i].end);
		if (fixup[i].fix == INDEX_FIX_ADDRESS) {
			sys_put32(out + fixup[i].at, (uint32_t)target);
			sys_put32(out + fixup[i].at + 4, (uint32_t)(target >> 32));
		} else if ((uint64_t)(int64_t)(int32_t)near == near) {
			sys_put32(out + fixup[i].at, (uint32_t)near);
		} else {
			return 0;
		}
	}
	return from->size;
}

size_t displace_call(enum index_call_in call, uint8_t out[DISPLACE_CALL_MAX])
{
	static const uint8_t by_stack[] = { INDEX_CALL_FIRST, 0x54, 0x24, 0xf8 }, by_rax[] = { INDEX_CALL_FIRST, 0xd0 };
	const uint8_t *from = call == INDEX_CALL_BY_STACK ? by_stack : by_rax;
	size_t n = call == INDEX_CALL_BY_STACK ? sizeof(by_stack) : call == INDEX_CALL_BY_RAX ? sizeof(by_rax) : 0;

	sys_copy(out, from, n);
	return n;
}
