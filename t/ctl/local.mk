# SPDX-License-Identifier: MIT
#
# xaudit ctl.
dist_check_SCRIPTS += t/ctl/ctl_blind.t t/ctl/ctl_contexts.t t/ctl/ctl_entry.t t/ctl/ctl_folder.t \
	t/ctl/ctl_function.t t/ctl/ctl_hostile.t t/ctl/ctl_names.t t/ctl/ctl_probe.t t/ctl/ctl_probe_gdb.t \
	t/ctl/ctl_soak.t t/ctl/ctl_tree.t t/ctl/ctl_waits.t t/ctl/probe_closing.t t/ctl/probe_entry.t \
	t/ctl/probe_held.t t/ctl/probe_java.t t/ctl/probe_kept.t t/ctl/probe_memory.t t/ctl/probe_nginx.t \
	t/ctl/probe_pages.t t/ctl/probe_python.t t/ctl/probe_shared.t t/ctl/probe_stands.t
EXTRA_DIST += t/ctl/ctl_helper.c t/ctl/forged.c t/ctl/from_inside.c t/ctl/probe_load.java t/ctl/probe_load.py \
	t/ctl/probe_shared.S t/ctl/probed.c t/ctl/probed_call.S t/ctl/probed_library.c t/ctl/stands.c t/ctl/waits.c \
	t/ctl/weighed.c t/ctl/weighed_library.c t/ctl/probe_pages.S t/ctl/probe_kept.S t/ctl/probe_kept.c \
	t/ctl/probe_closing.c t/ctl/probe_held.c
check_PROGRAMS += t/ctl/position.u t/ctl/probe_rules.u

t_ctl_position_u_SOURCES = t/ctl/position.c t/ctl/position_places.S tool/base/memory.c tool/ctl/patch.c \
	tool/ctl/position.c tool/ctl/process.c tool/ctl/remote_call.c tool/ctl/timeouts.c tool/ctl/world.c
t_ctl_position_u_LDADD = x86_64/libsled.la

t_ctl_probe_rules_u_SOURCES = t/ctl/probe_rules.c tool/base/memory.c tool/ctl/probe_rules.c tool/probe/words.c
t_ctl_probe_rules_u_LDADD = audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la
