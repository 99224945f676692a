# SPDX-License-Identifier: MIT
#
# xaudit, the command: files go into xaudit_SOURCES. It finds the module as $XAUDIT_MODULE, else .libs/libxaudit.so
# beside its own executable (a build folder), else in XAUDIT_MODULE_DIR. Linked with static convenience libraries only,
# so that libtool makes a plain executable and no wrapper script.
bin_PROGRAMS += xaudit
xaudit_SOURCES = tool/histogram.c tool/histogram.h tool/json.c tool/json.h tool/memory.c tool/memory.h tool/reader.c \
	tool/reader.h tool/report.c tool/report_count.c tool/report_count.h tool/trace_calls.c tool/trace_calls.h \
	tool/trace_chunks.c tool/trace_chunks.h tool/trace_clock.c tool/trace_clock.h tool/trace_file.c \
	tool/trace_file.h tool/trace_base.c tool/trace_base.h tool/trace_family.c tool/trace_family.h \
	tool/trace_names.c tool/trace_process.c tool/trace_words.c tool/trace_decode.c tool/trace_decode.h \
	tool/trace_events.c tool/trace_events.h tool/trace_folder.c tool/trace_folder.h tool/trace_merge.c \
	tool/trace_merge.h tool/trace_meta.c tool/trace_meta.h tool/trace_stream.c tool/trace_stream.h \
	tool/trace_stacks.c tool/trace_stacks.h tool/trace_state.c tool/trace_state.h tool/dump.c tool/info.c \
	tool/info.h tool/info_json.c tool/info_many.c tool/replay.c
xaudit_SOURCES += tool/main.c tool/record.c tool/record.h tool/record_after.c tool/record_broker.c \
	tool/record_folder.c tool/record_lost.c tool/record_rules.c tool/record_run.c tool/record_file.c \
	tool/record_signals.c tool/record_tls.c tool/record_trim.c tool/record_why.c tool/tool.h
xaudit_CPPFLAGS = $(AM_CPPFLAGS) -DXAUDIT_MODULE_DIR='"$(libdir)"' -DXAUDIT_DATA_DIR='"$(pkgdatadir)"'
xaudit_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(INIH_CFLAGS)
xaudit_LDADD = audit/libsites.la audit/libcommon.la $(ELF_LIBS) $(INIH_LIBS)

bashcompletiondir = $(datadir)/bash-completion/completions
EXTRA_DIST += tool/xaudit.bash

# Installed as xaudit, the name that bash-completion looks for.
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) $(srcdir)/tool/xaudit.bash '$(DESTDIR)$(bashcompletiondir)/xaudit'

uninstall-local:
	rm -f '$(DESTDIR)$(bashcompletiondir)/xaudit'

xaudit_SOURCES += tool/list.c tool/env.c

# Writing chunks in the stead of traced threads.
xaudit_SOURCES += tool/lost.c tool/lost.h tool/drain.c tool/drain.h tool/drain_beat.c tool/drain_beat.h tool/own.h \
	tool/record_drain.c tool/record_early.c

# xaudit check; libdw unwinds stacks and names what lies there.
xaudit_SOURCES += tool/check.c tool/check.h tool/check_growth.c tool/check_json.c tool/check_judge.c tool/check_kept.c \
	tool/check_late.c tool/check_libc.c tool/check_report.c tool/check_scan.c tool/check_scan.h tool/check_stack.c \
	tool/check_stop.c tool/check_suppress.c tool/check_trace.c

# What it does not report; installed, and in a build folder beside the command.
pkgdata_DATA = default.supp
EXTRA_DIST += tool/default.supp
CLEANFILES += default.supp
default.supp: $(srcdir)/tool/default.supp
	$(AM_V_GEN)rm -f $@ && cp $(srcdir)/tool/default.supp $@ && chmod u+w $@

xaudit_CFLAGS += $(DW_CFLAGS)
xaudit_LDADD += $(DW_LIBS)

xaudit_SOURCES += tool/trace_counts.c tool/trace_counts.h

# xaudit ctl PID snapshot and top.
xaudit_SOURCES += tool/ctl_folder.h tool/ctl_snapshot.c tool/ctl_top.c tool/top_read.c tool/top_read.h

# The rest of xaudit ctl.
xaudit_SOURCES += tool/ctl.c tool/ctl.h tool/ctl_call.c tool/ctl_change.c tool/ctl_help.h tool/ctl_live.c \
	tool/ctl_open.c tool/ctl_patch.c tool/ctl_process.c tool/ctl_status.c tool/ctl_status.h tool/ctl_stop.c \
	tool/ctl_targets.c tool/ctl_targets.h tool/ctl_trace.c

# The data of custom events.
xaudit_SOURCES += tool/event_format.c tool/event_format.h tool/event_text.c tool/event_text.h tool/report_events.c \
	tool/report_events.h
