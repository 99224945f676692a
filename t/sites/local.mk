# SPDX-License-Identifier: MIT
#
# Sites: which the rules choose, how they are found in a file, and how they are switched.
dist_check_SCRIPTS += t/sites/config.t t/sites/cow.t t/sites/cxx_names.t t/sites/cyg.t t/sites/entry.t \
	t/sites/entry_record.t t/sites/files.t t/sites/new_kind.t t/sites/no_plt.t \
	t/sites/no_plt_programs.t t/sites/pg.t t/sites/wx.t
EXTRA_DIST += t/sites/app.c t/sites/conditional.c t/sites/cow.c t/sites/cxx_host.c t/sites/cxx_names.cc t/sites/cyg.cc \
	t/sites/cyg_edge.c t/sites/cyg_log.c t/sites/cyg_part.c t/sites/entry.c t/sites/entry_carry.S \
	t/sites/entry_carry.c t/sites/entry_placed.S t/sites/entry_placed.c t/sites/new_kind.c t/sites/no_plt.c \
	t/sites/no_plt_callers.py t/sites/no_plt_others.c t/sites/no_plt_part.c t/sites/no_plt_put.c t/sites/pages.c \
	t/sites/stay.c t/sites/swap.c t/sites/swap_library.c
check_PROGRAMS += t/sites/cxx.u t/sites/glob.u t/sites/live.u t/sites/live_entry.u t/sites/live_soak.u t/sites/patch.u \
	t/sites/patch_live.u t/sites/rules.u t/sites/rules_fallback.u t/sites/rules_lines.u t/sites/site.u \
	t/sites/site_damage.u t/sites/sled.u t/sites/stub.u

t_sites_cxx_u_SOURCES = t/sites/cxx.c
t_sites_cxx_u_LDADD = audit/rules/librules.la

t_sites_glob_u_SOURCES = t/sites/glob.c
t_sites_glob_u_LDADD = audit/rules/librules.la

t_sites_live_u_SOURCES = t/sites/live.c t/lib/live_load.h
t_sites_live_u_LDADD = audit/live/liblive.la audit/index/libindex.la t/lib/libcore.la audit/model/libmodel.la \
	audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la

t_sites_live_entry_u_SOURCES = t/sites/live_entry.c t/lib/live_load.h
t_sites_live_entry_u_LDADD = audit/live/liblive.la audit/index/libindex.la t/lib/libcore.la audit/model/libmodel.la \
	audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la

t_sites_live_soak_u_SOURCES = t/sites/live_soak.c t/lib/live_load.h
t_sites_live_soak_u_LDADD = audit/live/liblive.la audit/index/libindex.la t/lib/libcore.la audit/model/libmodel.la \
	audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la -lrt

t_sites_patch_u_SOURCES = t/sites/patch.c
t_sites_patch_u_LDADD = t/lib/libcore.la

t_sites_patch_live_u_SOURCES = t/sites/patch_live.c
t_sites_patch_live_u_LDADD = t/lib/libcore.la x86_64/libsled.la

t_sites_rules_u_SOURCES = t/sites/rules.c t/lib/rules_said.h
t_sites_rules_u_LDADD = audit/rules/librules.la

t_sites_rules_fallback_u_SOURCES = t/sites/rules_fallback.c t/lib/rules_said.h
t_sites_rules_fallback_u_LDADD = audit/rules/librules.la

t_sites_rules_lines_u_SOURCES = t/sites/rules_lines.c t/lib/rules_said.h
t_sites_rules_lines_u_LDADD = audit/rules/librules.la

t_sites_site_u_SOURCES = t/sites/site.c t/lib/site_fixture.h
t_sites_site_u_LDADD = audit/site/libsites.la audit/rules/librules.la

t_sites_site_damage_u_SOURCES = t/sites/site_damage.c t/lib/site_fixture.h
t_sites_site_damage_u_LDADD = audit/site/libsites.la audit/rules/librules.la

t_sites_sled_u_SOURCES = t/sites/sled.c
t_sites_sled_u_LDADD = audit/rules/librules.la

t_sites_stub_u_SOURCES = t/sites/stub.c
t_sites_stub_u_LDADD = t/lib/libcore.la
