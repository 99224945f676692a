# SPDX-License-Identifier: MIT
#
# runtime/libruntime.la: C and header files go into runtime_libruntime_la_SOURCES. All of it is compiled for program
# threads (no vector registers, no libc). runtime/arena.c is in audit/libcommon.la, see audit/local.mk.
noinst_LTLIBRARIES += runtime/libruntime.la
runtime_libruntime_la_SOURCES = runtime/chunk.c runtime/chunk.h runtime/clock.c runtime/clock.h runtime/handler.c \
	runtime/handler.h runtime/maps.c runtime/maps.h runtime/process.c runtime/process.h runtime/recorder.c \
	runtime/recorder.h runtime/text.c runtime/text.h runtime/thread.c runtime/thread.h runtime/trace.h
runtime_libruntime_la_SOURCES += runtime/family.c runtime/family.h runtime/pool.c runtime/pool.h runtime/records.c \
	runtime/records.h
runtime_libruntime_la_SOURCES += runtime/epoch.c runtime/epoch.h
runtime_libruntime_la_SOURCES += runtime/calls.c runtime/calls.h runtime/count.c runtime/filter.c runtime/filter.h \
	runtime/throttle.c runtime/throttle.h
runtime_libruntime_la_SOURCES += runtime/broker.c runtime/broker.h runtime/surroundings.c runtime/surroundings.h
runtime_libruntime_la_SOURCES += runtime/snapshot.c runtime/snapshot.h
runtime_libruntime_la_SOURCES += runtime/control.c runtime/control.h
runtime_libruntime_la_SOURCES += runtime/custom.c runtime/custom.h runtime/api_table.h
runtime_libruntime_la_SOURCES += runtime/handlers.c runtime/handlers.h runtime/handlers_calls.c \
	runtime/handlers_state.h runtime/handlers_vectors.c
runtime_libruntime_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

# runtime/libbase.la: the ground for all, the command too.
noinst_LTLIBRARIES += runtime/libbase.la
runtime_libbase_la_SOURCES = runtime/arena.c runtime/arena.h runtime/identity.c runtime/identity.h runtime/sys.h
runtime_libbase_la_SOURCES += runtime/output.c runtime/output.h
runtime_libbase_la_SOURCES += runtime/snapshot_copy.c runtime/snapshot_copy.h runtime/snapshot_meta.c \
	runtime/snapshot_parts.h
runtime_libbase_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

# libxaudit-api, what programs link: nothing but pointers that the module fills in. The archive by hand, since libtool
# would compile the whole tree twice for one archive; it is position-independent, for plugins, and its functions are
# hidden in the object that links it.
include_HEADERS += runtime/xaudit.h
lib_LTLIBRARIES += libxaudit-api.la
libxaudit_api_la_SOURCES = runtime/api/api.c runtime/api/xray.c runtime/api/xray.h runtime/api/xray_log.c \
	runtime/api/xray_shared.c
libxaudit_api_la_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC
libxaudit_api_la_LDFLAGS = -shared -version-info 0:0:0 -Wl,-z,defs -Wl,--version-script=$(srcdir)/runtime/api/api.map
EXTRA_libxaudit_api_la_DEPENDENCIES = runtime/api/api.map
EXTRA_DIST += runtime/api/api.map
lib_LIBRARIES += libxaudit-api.a
libxaudit_api_a_SOURCES = $(libxaudit_api_la_SOURCES)
libxaudit_api_a_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC -fvisibility=hidden
libxaudit_api_a_AR = $(AR) cr
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = runtime/api/xaudit.pc
