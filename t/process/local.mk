# SPDX-License-Identifier: MIT
#
# Processes and threads: forks, families, users and rights, filters, and what other tasks do to them.
dist_check_SCRIPTS += t/process/confined.t t/process/dropped.t t/process/executed.t t/process/family.t \
	t/process/filters.t t/process/follow.t t/process/killed_task.t t/process/leave.t t/process/rights.t \
	t/process/scribbler.t t/process/sharer.t t/process/tasks.t t/process/threads.t t/process/title.t \
	t/process/users.t t/process/worker.t
EXTRA_DIST += t/process/ask.c t/process/asks_strict.c t/process/confined.c t/process/confined_ctl.c \
	t/process/confined_fork.c t/process/confined_load.c t/process/confined_plugin.c t/process/confined_wait.c \
	t/process/executes.c t/process/family.c t/process/fork_open.c t/process/killed_task.c \
	t/process/killed_task_library.c t/process/leaver.c t/process/limited.c t/process/opens_confined.c \
	t/process/own_prctl.c t/process/scribbler.c t/process/sharer.c t/process/tasks.c t/process/tasks.h \
	t/process/tasks_library.c t/process/trapped.c t/process/users.c t/process/waves.c t/process/worker.c
check_PROGRAMS += t/process/backoff.u t/process/epoch.u t/process/epoch_torture.u t/process/lock.u \
	t/process/recorder_fork.u t/process/recorder_vfork.u

t_process_backoff_u_SOURCES = t/process/backoff.c
t_process_backoff_u_LDADD = t/lib/libcore.la

t_process_epoch_u_SOURCES = t/process/epoch.c
t_process_epoch_u_LDADD = runtime/libruntime.la runtime/libbase.la

t_process_epoch_torture_u_SOURCES = t/process/epoch_torture.c
t_process_epoch_torture_u_LDADD = runtime/libruntime.la runtime/libbase.la

t_process_lock_u_SOURCES = t/process/lock.c
t_process_lock_u_LDADD = t/lib/libcore.la

t_process_recorder_fork_u_SOURCES = t/process/recorder_fork.c
t_process_recorder_fork_u_LDADD = t/lib/libcore.la

t_process_recorder_vfork_u_SOURCES = t/process/recorder_vfork.c
t_process_recorder_vfork_u_LDADD = t/lib/libcore.la
