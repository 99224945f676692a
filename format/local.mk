# SPDX-License-Identifier: MIT
#
# The formats of a trace and of an index: what module, reader and command agree on. They stand on nothing.
EXTRA_DIST += format/index.h format/sched.h format/trace.h
