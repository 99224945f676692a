# SPDX-License-Identifier: MIT
#
# What the rest of runtime/ stands on: memory, text, look-ups, who we are.
runtime_libruntime_la_SOURCES += runtime/base/maps.c runtime/base/maps.h runtime/base/search.h runtime/base/sum.h \
	runtime/base/text.c runtime/base/text.h
runtime_libbase_la_SOURCES += runtime/base/arena.c runtime/base/arena.h runtime/base/identity.c \
	runtime/base/identity.h
