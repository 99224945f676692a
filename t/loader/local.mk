# SPDX-License-Identifier: MIT
#
# Programs, libraries and what ld.so does with them.
dist_check_SCRIPTS += t/loader/auditors.t t/loader/bindings.t t/loader/dladdr.t t/loader/everywhere.t \
	t/loader/everywhere_work.t t/loader/inventory.t t/loader/module-exports.t t/loader/objects.t \
	t/loader/own_calloc.t t/loader/probes.t t/loader/probes_denied.t t/loader/probes_entry.t \
	t/loader/probes_limits.t t/loader/programs.t t/loader/reload.t t/loader/rtld.t \
	t/loader/sanitized.t t/loader/semaphores.t t/loader/semaphores_forged.t t/loader/starts.t \
	t/loader/static_tls.t
EXTRA_DIST += t/loader/audited.c t/loader/auditor.c t/loader/bindings.c t/loader/dladdr.c t/loader/elf_edit.c \
	t/loader/everywhere.cc t/loader/everywhere.py \
	t/loader/host.c t/loader/host_stay.c t/loader/inventory.c t/loader/inventory_library.c t/loader/listed.cc \
	t/loader/loader.c t/loader/loader.h t/loader/loader_again.c t/loader/loader_auditor.c t/loader/loader_depth.c \
	t/loader/loader_start.c t/loader/loader_starts.c t/loader/own_calloc.c \
	t/loader/probed.c t/loader/probed_library.c t/loader/probes_heap.c t/loader/probes_many.S \
	t/loader/probes_many.c \
	t/loader/rtld.c t/loader/rtld_part.c t/loader/rtld_thousand.h t/loader/sanitized.c \
	t/loader/semaphores.c t/loader/semaphores_forged.c t/loader/semaphores_library.c t/loader/starts_bare.c
check_PROGRAMS += t/loader/altstack.u t/loader/probe_room.u t/loader/watched.u

t_loader_altstack_u_SOURCES = t/loader/altstack.c audit/start/altstack.c
t_loader_altstack_u_LDADD = x86_64/libx86_64.la

t_loader_probe_room_u_SOURCES = t/loader/probe_room.c audit/live/probe_room.c
t_loader_probe_room_u_LDADD = t/lib/libcore.la

t_loader_watched_u_SOURCES = t/loader/watched.c audit/bind/nointercept.c
t_loader_watched_u_LDADD =
