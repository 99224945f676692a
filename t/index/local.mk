# SPDX-License-Identifier: MIT
#
# xaudit index, and functions that run displaced.
dist_check_SCRIPTS += t/index/fault_place.t t/index/index.t t/index/index_alone.t t/index/index_apply.t \
	t/index/index_cache.t t/index/index_calls.t t/index/index_decoder.t t/index/index_find.t \
	t/index/index_jobs.t t/index/index_runtimes.t t/index/return_reached.t \
	t/index/unwind.t
EXTRA_DIST += t/index/fault_place.S t/index/fault_place.c t/index/index_apply.c t/index/index_find.c \
	t/index/index_fixed.S t/index/index_made.c t/index/return_reached.S t/index/unwind_forms.S \
	t/index/unwind_libdw.c
check_PROGRAMS += t/index/displace.u t/index/index_content.u t/index/index_folders.u t/index/index_helper.u \
	t/index/index_open.u t/index/index_reader.u t/index/template.u

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
