/* SPDX-License-Identifier: MIT */
/* libxaudit-api: each call goes through the table, which the module has filled in, or not (runtime/api/table.h). */
#define XAUDIT_NO_HOOK
#include "runtime/api/table.h"

struct api_table xaudit_api_table __attribute__((visibility("hidden"), used));

#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

__asm__(".pushsection .note.xaudit,\"a\",@note\n"
	"	.balign 4\n"
	"	.long 7, 16, " TEXT(API_NOTE) "\n"
	"	.asciz \"" API_OWNER "\"\n"
	"	.balign 4\n"
	"	.quad xaudit_api_table - .\n"
	"	.long " TEXT(API_VERSION) ", " TEXT(API_ENTRIES) "\n"
	"	.popsection\n");

int xaudit_event(const void *data, size_t size)
{
	return xaudit_api_table.event ? xaudit_api_table.event(data, size) : -ENOSYS;
}

int xaudit_typed_event(int type, const void *data, size_t size)
{
	return xaudit_api_table.typed_event ? xaudit_api_table.typed_event(type, data, size) : -ENOSYS;
}

int xaudit_register_type(const char *name)
{
	return xaudit_api_table.register_type ? xaudit_api_table.register_type(name) : -ENOSYS;
}

int xaudit_mark(const char *text)
{
	return xaudit_api_table.mark ? xaudit_api_table.mark(text) : -ENOSYS;
}

int xaudit_request(const char *text)
{
	return xaudit_api_table.request ? xaudit_api_table.request(text) : -ENOSYS;
}

int xaudit_request_number(uint64_t number)
{
	return xaudit_api_table.request_number ? xaudit_api_table.request_number(number) : -ENOSYS;
}

int xaudit_request_end(void)
{
	return xaudit_api_table.request_end ? xaudit_api_table.request_end() : -ENOSYS;
}

int xaudit_flush(void)
{
	return xaudit_api_table.flush ? xaudit_api_table.flush() : -ENOSYS;
}

int xaudit_start(void)
{
	return xaudit_api_table.start ? xaudit_api_table.start() : -ENOSYS;
}

int xaudit_stop(void)
{
	return xaudit_api_table.stop ? xaudit_api_table.stop() : -ENOSYS;
}

int xaudit_enable(const char *rule, struct xaudit_result *result)
{
	return xaudit_api_table.enable ? xaudit_api_table.enable(rule, result) : -ENOSYS;
}

int xaudit_disable(const char *rule, struct xaudit_result *result)
{
	return xaudit_api_table.disable ? xaudit_api_table.disable(rule, result) : -ENOSYS;
}

int xaudit_status(struct xaudit_status *status)
{
	return xaudit_api_table.status ? xaudit_api_table.status(status) : -ENOSYS;
}

int xaudit_function(uint32_t id, struct xaudit_function_info *info)
{
	return xaudit_api_table.function ? xaudit_api_table.function(id, info) : -ENOSYS;
}

int xaudit_for_each_function(int (*callback)(const struct xaudit_function_info *info, void *arg), void *arg)
{
	return xaudit_api_table.for_each_function ? xaudit_api_table.for_each_function(callback, arg) : -ENOSYS;
}

int xaudit_dump_table(int fd)
{
	return xaudit_api_table.dump_table ? xaudit_api_table.dump_table(fd) : -ENOSYS;
}

int xaudit_set_handler(int type, xaudit_handler *handler, void *arg)
{
	return xaudit_api_table.set_handler ? xaudit_api_table.set_handler(type, handler, arg) : -ENOSYS;
}

int xaudit_remove_handler(int type)
{
	return xaudit_api_table.remove_handler ? xaudit_api_table.remove_handler(type) : -ENOSYS;
}

int xaudit_vector(const struct xaudit_handler_event *event, unsigned n, uint8_t value[64])
{
	return xaudit_api_table.vector ? xaudit_api_table.vector(event, n, value) : -ENOSYS;
}

int xaudit_event_values(const struct xaudit_handler_event *event, struct xaudit_values *values)
{
	return xaudit_api_table.event_values ? xaudit_api_table.event_values(event, values) : -ENOSYS;
}
