# SPDX-License-Identifier: MIT
#
# The public headers and libxaudit-api, what programs link.
runtime_libruntime_la_SOURCES += runtime/api/table.h

# libxaudit-api, what programs link: nothing but pointers that the module fills in. The archive by hand, since libtool
# would compile the whole tree twice for one archive; it is position-independent, for plugins, and its functions are
# hidden in the object that links it.
include_HEADERS += runtime/api/xaudit.h
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
