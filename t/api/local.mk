# SPDX-License-Identifier: MIT
#
# What programs call: events, guards, handlers, and the interface of XRay.
dist_check_SCRIPTS += t/api/api.t t/api/custom_callers.t t/api/event_values_live.t t/api/guard_live.t \
	t/api/handlers_api.t t/api/handlers_close.t t/api/handlers_programs.t t/api/resolve.t
EXTRA_DIST += t/api/event_values_live.c t/api/event_values_part.c t/api/event_values_part.h
EXTRA_DIST += t/api/api.c t/api/api.h t/api/api_parts.c t/api/api_read.c t/api/closing.c t/api/closing.h \
	t/api/closing_plugin.c t/api/custom_callers.c t/api/events.c t/api/events.h t/api/events_by_hand.S \
	t/api/events_part.c t/api/events_raw.c t/api/events_steps.c t/api/guard.c t/api/guard.h \
	t/api/guard_live.c t/api/guard_part.c t/api/guard_part.cc t/api/guard_spin.c t/api/handlers_api.c \
	t/api/handlers_plugin.c t/api/handlers_spoil.cc t/api/handlers_work.cc t/api/handlers_work.h \
	t/api/resolve_host.c t/api/resolve_library.c t/api/xray_auditor.c t/api/xray_handlers.cc \
	t/api/xray_log.cc t/api/xray_many.cc t/api/xray_none.cc t/api/xray_options.cc t/api/xray_part.c \
	t/api/xray_patch.cc t/api/xray_plugin.cc t/api/xray_sends.c t/api/xray_test.h
check_PROGRAMS += t/api/event_values.u t/api/handlers.u t/api/handlers_safe.u t/api/xray_log_functions.u

t_api_event_values_u_SOURCES = t/api/event_values.c t/lib/flow.h t/lib/flow_xray.h
t_api_event_values_u_LDADD = t/lib/libcore.la

t_api_handlers_u_SOURCES = t/api/handlers.c t/lib/flow.h t/lib/flow_xray.h
t_api_handlers_u_LDADD = t/lib/libcore.la

t_api_handlers_safe_u_SOURCES = t/api/handlers_safe.c t/lib/flow.h t/lib/flow_xray.h
t_api_handlers_safe_u_LDADD = t/lib/libcore.la

t_api_xray_log_functions_u_SOURCES = t/api/xray_log_functions.c
t_api_xray_log_functions_u_LDADD = libxaudit-api.a
