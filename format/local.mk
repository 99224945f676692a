# SPDX-License-Identifier: MIT
#
# The format of a trace: what module, reader and command agree on. It stands on nothing.
EXTRA_DIST += format/trace.h
