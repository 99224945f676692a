# SPDX-License-Identifier: MIT
#
# audit/model/libmodel.la: objects and loads, which threads of the program read.
noinst_LTLIBRARIES += audit/model/libmodel.la
audit_model_libmodel_la_SOURCES = audit/model/object.c audit/model/object.h audit/model/probes.h \
	audit/model/semaphore.c audit/model/semaphore.h
audit_model_libmodel_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
