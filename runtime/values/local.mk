# SPDX-License-Identifier: MIT
#
# Values of calls: the code that finds them is checked and run.
runtime_libruntime_la_SOURCES += runtime/values/evaluate.c runtime/values/evaluate.h
