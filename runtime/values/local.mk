# SPDX-License-Identifier: MIT
#
# Values of calls: which there are, the code that finds them, and what ends need of entries.
runtime_libruntime_la_SOURCES += runtime/values/actions.c runtime/values/actions.h \
	runtime/values/backtrace.c runtime/values/backtrace.h runtime/values/part.c runtime/values/part.h \
	runtime/values/evaluate.c runtime/values/evaluate.h runtime/values/plans.c runtime/values/plans.h \
	runtime/values/running.h runtime/values/sample.c runtime/values/sample.h \
	runtime/values/side.c runtime/values/side.h
