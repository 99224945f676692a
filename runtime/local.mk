# SPDX-License-Identifier: MIT
#
# runtime/libruntime.la: C and header files go into runtime_libruntime_la_SOURCES. All of it is compiled for program threads
# (no vector registers, no libc). runtime/arena.c is in audit/libcommon.la, see audit/local.mk.
noinst_LTLIBRARIES += runtime/libruntime.la
runtime_libruntime_la_SOURCES = runtime/sys.h runtime/trace.h
runtime_libruntime_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
