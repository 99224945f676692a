# SPDX-License-Identifier: MIT
#
# xaudit index, and functions that run displaced.
dist_check_SCRIPTS += t/index/fault_place.t t/index/index.t t/index/index_alone.t t/index/index_apply.t \
	t/index/index_cache.t t/index/index_calls.t t/index/index_decoder.t t/index/index_find.t \
	t/index/index_jobs.t t/index/index_runtimes.t t/index/return_reached.t \
	t/index/unwind.t t/index/windows.t t/index/windows_odd.t
EXTRA_DIST += t/index/fault_place.S t/index/fault_place.c t/index/index_apply.c t/index/index_find.c \
	t/index/index_fixed.S t/index/index_made.c t/index/return_reached.S t/index/unwind_forms.S \
	t/index/unwind_libdw.c t/index/windows_odd.S t/index/windows_odd.c
check_PROGRAMS += t/index/displace.u t/index/index_content.u t/index/index_folders.u t/index/index_helper.u \
	t/index/index_open.u t/index/index_reader.u t/index/template.u t/index/windows_plan.u \
	t/index/windows_run.u

t_index_displace_u_SOURCES = t/index/displace.c t/index/displace_run.S tool/index/copy.c tool/index/copy.h \
	tool/index/decode.c tool/index/decode.h \
	tool/index/template.c tool/index/template.h
t_index_displace_u_CFLAGS = $(AM_CFLAGS) $(ZYDIS_CFLAGS)
t_index_displace_u_LDADD = x86_64/libsled.la $(ZYDIS_LIBS)

t_index_index_content_u_SOURCES = t/index/index_content.c tool/index/content.c tool/index/content.h
t_index_index_content_u_CFLAGS = $(AM_CFLAGS) $(LIBMD_CFLAGS)
t_index_index_content_u_LDADD = audit/site/libsites.la t/lib/libcore.la $(LIBMD_LIBS)

t_index_index_folders_u_SOURCES = t/index/index_folders.c
t_index_index_folders_u_LDADD = audit/index/libindex.la t/lib/libcore.la x86_64/libsled.la

t_index_index_helper_u_SOURCES = t/index/index_helper.c t/lib/descriptors.h t/lib/index_files.h
t_index_index_helper_u_LDADD = audit/index/libindex.la t/lib/libcore.la x86_64/libsled.la

t_index_index_open_u_SOURCES = t/index/index_open.c
t_index_index_open_u_LDADD = audit/index/libindex.la x86_64/libsled.la

t_index_index_reader_u_SOURCES = t/index/index_reader.c
t_index_index_reader_u_LDADD = audit/index/libindex.la audit/match/libmatch.la x86_64/libsled.la

t_index_template_u_SOURCES = t/index/template.c tool/index/copy.c tool/index/copy.h tool/index/decode.c \
	tool/index/decode.h tool/index/template.c tool/index/template.h
t_index_template_u_CFLAGS = $(AM_CFLAGS) $(ZYDIS_CFLAGS)
t_index_template_u_LDADD = $(ZYDIS_LIBS)

windows_sources = tool/base/memory.c tool/index/asks_caller.c tool/index/body.c \
	tool/index/calls.c tool/index/content.c tool/index/copy.c tool/index/cursor.c tool/index/debug.c \
	tool/index/decode.c tool/index/entry.c tool/index/facts.c tool/index/facts_decode.c \
	tool/index/frame_rows.c tool/index/frames.c tool/index/image.c tool/index/image_names.c \
	tool/index/own_file.c tool/index/reach.c tool/index/runtimes.c tool/index/template.c tool/index/words.c \
	tool/probe/rseq.c tool/probe/window_body.c tool/probe/window_code.c tool/probe/window_ways.c \
	tool/probe/windows.c audit/bind/nointercept.c
t_index_windows_run_u_SOURCES = t/index/windows_gate.S t/index/windows_run.c t/index/windows_work.c \
	t/index/windows_work.h $(windows_sources)
t_index_windows_run_u_CFLAGS = $(AM_CFLAGS) $(ZYDIS_CFLAGS) $(LIBMD_CFLAGS) $(DW_CFLAGS)
t_index_windows_run_u_LDADD = audit/index/libindex.la audit/site/libsites.la t/lib/libcore.la x86_64/libsled.la \
	$(ZYDIS_LIBS) $(LIBMD_LIBS) $(DW_LIBS)

t_index_windows_plan_u_SOURCES = t/index/windows_forms.S t/index/windows_plan.c $(windows_sources)
t_index_windows_plan_u_CFLAGS = $(t_index_windows_run_u_CFLAGS)
t_index_windows_plan_u_LDADD = $(t_index_windows_run_u_LDADD)
