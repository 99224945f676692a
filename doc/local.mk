# SPDX-License-Identifier: MIT
#
# Man pages go into dist_man_MANS, other documents into EXTRA_DIST.
dist_man_MANS += doc/xaudit.1 doc/xaudit-record.1 doc/xaudit.conf.5
dist_man_MANS += doc/xaudit-env.1 doc/xaudit-index.1 doc/xaudit-list.1 doc/xaudit-check.1 doc/xaudit-ctl.1 \
	doc/xaudit-locks.1 doc/xaudit-trace.1

# The readers of traces.
dist_man_MANS += doc/xaudit-dump.1 doc/xaudit-info.1 doc/xaudit-replay.1 doc/xaudit-report.1 doc/xaudit-trace.5
dist_man_MANS += doc/xaudit-alloc.1
dist_man_MANS += doc/xaudit-graph.1 doc/xaudit-loads.1 doc/xaudit-outliers.1 doc/xaudit-slow.1 \
	doc/xaudit-stacks.1 doc/xaudit-html.1 doc/xaudit-view.1
dist_man_MANS += doc/xaudit-export.1
dist_man_MANS += doc/xaudit-pack.1 doc/xaudit-perf.1 doc/xaudit-unpack.1

# Which values are recorded, and where.
dist_man_MANS += doc/xaudit-contexts.7 doc/xaudit-probes.7

# What programs call.
dist_man_MANS += doc/xaudit-api.3 doc/xaudit-read.3 doc/xaudit-xray.3

# Examples of libxaudit-read.
exampledir = $(docdir)/examples
dist_example_DATA = doc/examples/calls.c doc/examples/calls.py doc/examples/info.py

# Links to them, made when they are installed.
EXTRA_DIST += doc/man-links.sh

# For developers.
EXTRA_DIST += doc/design.md doc/design-code.md doc/design-reading.md doc/design-recording.md doc/fleet.md \
	doc/measurements.md doc/xaudit-html.png
