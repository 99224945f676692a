# SPDX-License-Identifier: MIT
#
# The program's handlers; compiled as runtime/ is, into runtime/libruntime.la.
runtime_libruntime_la_SOURCES += \
	runtime/handlers/events.c runtime/handlers/events.h runtime/handlers/handlers.c runtime/handlers/handlers.h \
	runtime/handlers/objects.c runtime/handlers/objects.h runtime/handlers/state.h
