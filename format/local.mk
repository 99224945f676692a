# SPDX-License-Identifier: MIT
#
# The formats of a trace, of a packed one and of an index: what module, reader and command agree on. They stand on
# nothing.
EXTRA_DIST += format/ask.h format/chain.h format/compact.h format/dense.h format/frames.h format/index.h \
	format/labels.h format/pack.h format/places.h format/plan.h format/probe.h format/reasons.h format/sched.h \
	format/stream.h format/trace.h format/valued.h format/values.h
