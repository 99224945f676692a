/* SPDX-License-Identifier: MIT */
/*
 * What LLVM 20's xray/xray_interface.h and xray_log_interface.h declare, as C sees it. Programs include LLVM's own
 * headers; what the calls mean here is in doc/xaudit-xray.3.
 *
 * The library keeps nothing of handlers: the program's function is the argument of an adaptor, which is set as
 * xaudit_set_handler() does. So all copies of the library in a process act as one, and a handler in a library that is
 * closed is removed. The log interface's modes are each copy's own.
 */
#ifndef XAUDIT_API_XRAY_H
#define XAUDIT_API_XRAY_H

#include "runtime/api/table.h"

extern struct api_table xaudit_api_table __attribute__((visibility("hidden")));

/* ---- xray_interface.h ---- */

enum xray_entry_type { XRAY_ENTRY, XRAY_EXIT, XRAY_TAIL, XRAY_LOG_ARGS_ENTRY };

typedef void xray_handler(int32_t id, int type);
typedef void xray_handler_arg1(int32_t id, int type, uint64_t arg1);
typedef void xray_handler_custom(void *data, size_t size);
typedef void xray_handler_typed(size_t type, const void *data, size_t size);

int __xray_set_handler(xray_handler *handler);
int __xray_remove_handler(void);
int __xray_set_handler_arg1(xray_handler_arg1 *handler);
int __xray_remove_handler_arg1(void);
int __xray_set_customevent_handler(xray_handler_custom *handler);
int __xray_remove_customevent_handler(void);
int __xray_set_typedevent_handler(xray_handler_typed *handler);
int __xray_remove_typedevent_handler(void);
uint16_t __xray_register_event_type(const char *name);

int __xray_patch(void);
int __xray_unpatch(void);
int __xray_patch_object(int32_t object);
int __xray_unpatch_object(int32_t object);
int __xray_patch_function(int32_t id);
int __xray_unpatch_function(int32_t id);
int __xray_patch_function_in_object(int32_t function, int32_t object);
int __xray_unpatch_function_in_object(int32_t function, int32_t object);

uintptr_t __xray_function_address(int32_t id);
uintptr_t __xray_function_address_in_object(int32_t function, int32_t object);
size_t __xray_max_function_id(void);
size_t __xray_max_function_id_in_object(int32_t object);
size_t __xray_num_objects(void);
int32_t __xray_unpack_function_id(int32_t id);
int32_t __xray_unpack_object_id(int32_t id);
int32_t __xray_pack_id(int32_t function, int32_t object);
void __xray_init(void);

/* ---- xray_log_interface.h ---- */

enum xray_log_init {
	XRAY_LOG_UNINITIALIZED,
	XRAY_LOG_INITIALIZING,
	XRAY_LOG_INITIALIZED,
	XRAY_LOG_FINALIZING,
	XRAY_LOG_FINALIZED
};
enum xray_log_flush { XRAY_LOG_NOT_FLUSHING, XRAY_LOG_FLUSHING, XRAY_LOG_FLUSHED };
enum xray_log_register { XRAY_REGISTRATION_OK, XRAY_DUPLICATE_MODE, XRAY_MODE_NOT_FOUND, XRAY_INCOMPLETE_IMPL };

struct xray_log_impl {
	enum xray_log_init (*init)(size_t buffer_size, size_t buffers, void *config, size_t config_size);
	enum xray_log_init (*finalize)(void);
	xray_handler *handler;
	enum xray_log_flush (*flush)(void);
};

struct xray_buffer {
	const void *data;
	size_t size;
};

typedef struct xray_buffer xray_buffer_iterator(struct xray_buffer last);

void __xray_set_log_impl(struct xray_log_impl impl);
void __xray_remove_log_impl(void);
enum xray_log_register __xray_log_register_mode(const char *mode, struct xray_log_impl impl);
enum xray_log_register __xray_log_select_mode(const char *mode);
const char *__xray_log_get_current_mode(void);
enum xray_log_init __xray_log_init(size_t buffer_size, size_t buffers, void *config, size_t config_size);
enum xray_log_init __xray_log_init_mode(const char *mode, const char *config);
enum xray_log_init __xray_log_init_mode_bin(const char *mode, const char *config, size_t config_size);
enum xray_log_init __xray_log_finalize(void);
enum xray_log_flush __xray_log_flushLog(void);
void __xray_log_set_buffer_iterator(xray_buffer_iterator *iterator);
void __xray_log_remove_buffer_iterator(void);
enum xray_log_flush __xray_log_process_buffers(void (*process)(const char *mode, struct xray_buffer buffer));

/* ---- what objects built -fxray-shared ask for ---- */

struct xray_trampolines {
	void (*entry)(void), (*exit)(void), (*tail)(void), (*log_args)(void);
};

int32_t __xray_register_dso(const void *sleds, const void *sleds_end, const void *index, const void *index_end,
	struct xray_trampolines trampolines);
_Bool __xray_deregister_dso(int32_t object);

#endif
