/* SPDX-License-Identifier: MIT */
/* xray_interface.h of LLVM 20, by the calls of xaudit.h and the module's XRay numbers (audit/live/xray.h). */
#define XAUDIT_NO_HOOK
#include "runtime/api/xray.h"

#define FUNCTION_BITS 24
#define FUNCTION_MASK ((1u << FUNCTION_BITS) - 1)

/* ---- adaptors: arg is the program's function ---- */

#define HANDLER(type, arg) ((type *)(uintptr_t)(arg))

/*
 * An entry of a function whose first argument shall be logged is told to the handler of such entries alone, if there is
 * one, as LLVM's trampolines do.
 */
static void on_entry(const struct xaudit_handler_event *event, void *arg)
{
	int32_t id;
	int is = xaudit_api_table.xray_id(event, &id);

	if (is >= 0 && !(is & XRAY_LOG_ARGS && is & XRAY_HAS_ARGS))
		HANDLER(xray_handler, arg)(id, is & XRAY_LOG_ARGS ? XRAY_LOG_ARGS_ENTRY : XRAY_ENTRY);
}

static void on_arguments(const struct xaudit_handler_event *event, void *arg)
{
	int32_t id;
	int is = xaudit_api_table.xray_id(event, &id);

	if (is >= 0 && is & XRAY_LOG_ARGS)
		HANDLER(xray_handler_arg1, arg)(id, XRAY_LOG_ARGS_ENTRY, event->registers->rdi);
}

static void on_end(const struct xaudit_handler_event *event, void *arg)
{
	int32_t id;

	if (xaudit_api_table.xray_id(event, &id) >= 0)
		HANDLER(xray_handler, arg)(id, event->type == XAUDIT_HANDLE_TAIL ? XRAY_TAIL : XRAY_EXIT);
}

static void on_custom(const struct xaudit_handler_event *event, void *arg)
{
	HANDLER(xray_handler_custom, arg)((void *)(uintptr_t)event->data, event->data_size);
}

static void on_typed(const struct xaudit_handler_event *event, void *arg)
{
	HANDLER(xray_handler_typed, arg)(event->data_type, event->data, event->data_size);
}

/* ---- handlers ---- */

/* NULL: removes it. Returns 1; 0: it could not be set, or a thread is still in the old handler. */
static int set(int type, xaudit_handler *adaptor, uintptr_t handler)
{
	if (!xaudit_api_table.xray_id)
		return 0;
	int r = handler ? xaudit_set_handler(type, adaptor, (void *)handler) : xaudit_remove_handler(type);
	return r >= 0 || (!handler && r == -ENOENT);
}

int __xray_set_handler(xray_handler *handler)
{
	uintptr_t address = (uintptr_t)handler;

	if (!handler)
		return __xray_remove_handler();
	int r = set(XAUDIT_HANDLE_EXIT, on_end, address);
	r &= set(XAUDIT_HANDLE_TAIL, on_end, address);
	r &= set(XAUDIT_HANDLE_ENTRY, on_entry, address);
	return r;
}

int __xray_remove_handler(void)
{
	int r = set(XAUDIT_HANDLE_ENTRY, NULL, 0);

	r &= set(XAUDIT_HANDLE_EXIT, NULL, 0);
	r &= set(XAUDIT_HANDLE_TAIL, NULL, 0);
	return r;
}

int __xray_set_handler_arg1(xray_handler_arg1 *handler)
{
	return set(XAUDIT_HANDLE_ARGUMENTS, on_arguments, (uintptr_t)handler);
}

int __xray_remove_handler_arg1(void)
{
	return __xray_set_handler_arg1(NULL);
}

int __xray_set_customevent_handler(xray_handler_custom *handler)
{
	return set(XAUDIT_HANDLE_CUSTOM, on_custom, (uintptr_t)handler);
}

int __xray_remove_customevent_handler(void)
{
	return __xray_set_customevent_handler(NULL);
}

int __xray_set_typedevent_handler(xray_handler_typed *handler)
{
	return set(XAUDIT_HANDLE_TYPED, on_typed, (uintptr_t)handler);
}

int __xray_remove_typedevent_handler(void)
{
	return __xray_set_typedevent_handler(NULL);
}

uint16_t __xray_register_event_type(const char *name)
{
	int type = xaudit_register_type(name);

	return type > 0 ? (uint16_t)type : 0;
}

/* ---- patching ---- */

static int patch(unsigned what, int32_t object, int32_t function, int on)
{
	return xaudit_api_table.xray_patch ? xaudit_api_table.xray_patch(what, object, function, on)
					   : XRAY_NOT_INITIALIZED;
}

int __xray_patch(void)
{
	return patch(XRAY_ALL, 0, 0, 1);
}

int __xray_unpatch(void)
{
	return patch(XRAY_ALL, 0, 0, 0);
}

int __xray_patch_object(int32_t object)
{
	return patch(XRAY_OBJECT, object, 0, 1);
}

int __xray_unpatch_object(int32_t object)
{
	return patch(XRAY_OBJECT, object, 0, 0);
}

int __xray_patch_function_in_object(int32_t function, int32_t object)
{
	return patch(XRAY_FUNCTION, object, function, 1);
}

int __xray_unpatch_function_in_object(int32_t function, int32_t object)
{
	return patch(XRAY_FUNCTION, object, function, 0);
}

int __xray_patch_function(int32_t id)
{
	return patch(XRAY_FUNCTION, __xray_unpack_object_id(id), __xray_unpack_function_id(id), 1);
}

int __xray_unpatch_function(int32_t id)
{
	return patch(XRAY_FUNCTION, __xray_unpack_object_id(id), __xray_unpack_function_id(id), 0);
}

/* ---- numbers ---- */

int32_t __xray_unpack_function_id(int32_t id)
{
	return (int32_t)((uint32_t)id & FUNCTION_MASK);
}

int32_t __xray_unpack_object_id(int32_t id)
{
	return (int32_t)((uint32_t)id >> FUNCTION_BITS);
}

int32_t __xray_pack_id(int32_t function, int32_t object)
{
	return (int32_t)((uint32_t)object << FUNCTION_BITS | ((uint32_t)function & FUNCTION_MASK));
}

uintptr_t __xray_function_address_in_object(int32_t function, int32_t object)
{
	return xaudit_api_table.xray_address ? xaudit_api_table.xray_address(object, function) : 0;
}

uintptr_t __xray_function_address(int32_t id)
{
	return __xray_function_address_in_object(__xray_unpack_function_id(id), __xray_unpack_object_id(id));
}

size_t __xray_max_function_id_in_object(int32_t object)
{
	return xaudit_api_table.xray_max_id ? xaudit_api_table.xray_max_id(object) : 0;
}

size_t __xray_max_function_id(void)
{
	return __xray_max_function_id_in_object(0);
}

size_t __xray_num_objects(void)
{
	return xaudit_api_table.xray_objects ? xaudit_api_table.xray_objects() : 0;
}

/* The module has done all that LLVM does here. */
void __xray_init(void)
{
}
