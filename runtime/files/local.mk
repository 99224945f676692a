# SPDX-License-Identifier: MIT
#
# The files of a trace: what is in them, who may write them, and what becomes of it.
runtime_libruntime_la_SOURCES += runtime/files/backoff.c runtime/files/backoff.h runtime/files/broker.c \
	runtime/files/broker.h runtime/files/family.c runtime/files/family.h runtime/files/pool.c \
	runtime/files/pool.h runtime/files/pool_grow.c runtime/files/pool_grow.h runtime/files/pool_make.c \
	runtime/files/pool_make.h runtime/files/pool_private.h runtime/files/records.c runtime/files/records.h \
	runtime/files/stderr.c runtime/files/stderr.h runtime/files/surroundings.c runtime/files/surroundings.h
runtime_libbase_la_SOURCES += runtime/files/dense.c runtime/files/dense.h runtime/files/output.c \
	runtime/files/output.h
