/* SPDX-License-Identifier: MIT */
#include "tool/locks/functions.h"

#include <string.h>

const struct locks_function locks_functions[] = {
	{ "pthread_mutex_lock", LOCKS_MUTEX, LOCKS_LOCK },
	{ "pthread_mutex_timedlock", LOCKS_MUTEX, LOCKS_LOCK },
	{ "pthread_mutex_clocklock", LOCKS_MUTEX, LOCKS_LOCK },
	{ "pthread_mutex_trylock", LOCKS_MUTEX, LOCKS_TRY },
	{ "pthread_mutex_unlock", LOCKS_MUTEX, LOCKS_UNLOCK },
	{ "pthread_mutex_init", LOCKS_MUTEX, LOCKS_INIT },
	{ "pthread_mutex_destroy", LOCKS_MUTEX, LOCKS_DESTROY },
	{ "pthread_rwlock_wrlock", LOCKS_RWLOCK, LOCKS_LOCK },
	{ "pthread_rwlock_timedwrlock", LOCKS_RWLOCK, LOCKS_LOCK },
	{ "pthread_rwlock_clockwrlock", LOCKS_RWLOCK, LOCKS_LOCK },
	{ "pthread_rwlock_trywrlock", LOCKS_RWLOCK, LOCKS_TRY },
	{ "pthread_rwlock_rdlock", LOCKS_RWLOCK, LOCKS_READ },
	{ "pthread_rwlock_timedrdlock", LOCKS_RWLOCK, LOCKS_READ },
	{ "pthread_rwlock_clockrdlock", LOCKS_RWLOCK, LOCKS_READ },
	{ "pthread_rwlock_tryrdlock", LOCKS_RWLOCK, LOCKS_TRY_READ },
	{ "pthread_rwlock_unlock", LOCKS_RWLOCK, LOCKS_UNLOCK },
	{ "pthread_rwlock_init", LOCKS_RWLOCK, LOCKS_INIT },
	{ "pthread_rwlock_destroy", LOCKS_RWLOCK, LOCKS_DESTROY },
	{ "pthread_spin_lock", LOCKS_SPIN, LOCKS_LOCK },
	{ "pthread_spin_trylock", LOCKS_SPIN, LOCKS_TRY },
	/* glibc has one function for both, which unlocks: who does not hold the lock changes nothing here. */
	{ "pthread_spin_unlock", LOCKS_SPIN, LOCKS_UNLOCK },
	{ "pthread_spin_init", LOCKS_SPIN, LOCKS_UNLOCK },
	{ "pthread_spin_destroy", LOCKS_SPIN, LOCKS_DESTROY },
	{ "pthread_cond_wait", LOCKS_CONDITION, LOCKS_WAIT },
	{ "pthread_cond_timedwait", LOCKS_CONDITION, LOCKS_WAIT },
	{ "pthread_cond_clockwait", LOCKS_CONDITION, LOCKS_WAIT },
	{ "pthread_cond_init", LOCKS_CONDITION, LOCKS_INIT },
	{ "pthread_cond_destroy", LOCKS_CONDITION, LOCKS_DESTROY },
	{ "sem_wait", LOCKS_SEMAPHORE, LOCKS_LOCK },
	{ "sem_timedwait", LOCKS_SEMAPHORE, LOCKS_LOCK },
	{ "sem_clockwait", LOCKS_SEMAPHORE, LOCKS_LOCK },
	{ "sem_trywait", LOCKS_SEMAPHORE, LOCKS_TRY },
	{ "sem_post", LOCKS_SEMAPHORE, LOCKS_POST },
	{ "sem_init", LOCKS_SEMAPHORE, LOCKS_INIT },
	{ "sem_destroy", LOCKS_SEMAPHORE, LOCKS_DESTROY },
	{ 0 },
};

const char *const locks_slow_functions[] = {
	"nanosleep", "clock_nanosleep", "usleep", "sleep", "sched_yield", "pthread_join",
	"read", "pread", "pread64", "readv", "write", "pwrite", "pwrite64", "writev", "sendfile", "sendfile64",
	"open", "open64", "openat", "openat64", "close", "fsync", "fdatasync", "msync", "ftruncate", "ftruncate64",
	"rename", "unlink", "flock", "lockf", "lockf64", "fcntl", "fcntl64", "ioctl",
	"poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait",
	"connect", "accept", "accept4", "recv", "recvfrom", "recvmsg", "send", "sendto", "sendmsg", "getaddrinfo",
	"fork", "posix_spawn", "system", "waitpid", "wait4", "waitid", "dlopen", "dlclose",
	"mmap", "mmap64", "munmap", "mprotect", "madvise", "malloc_trim", "qsort",
	NULL,
};

static const struct locks_function *find(const char *name)
{
	for (const struct locks_function *function = locks_functions; function->name; function++)
		if (!strcmp(function->name, name))
			return function;
	return NULL;
}

const struct locks_function *locks_function(const char *name, const char *aliases)
{
	const struct locks_function *function = find(name);

	/* Its own name may be another one that it has, as __pthread_mutex_lock. */
	for (; !function && *aliases; aliases += strlen(aliases) + 1)
		function = find(aliases);
	return function;
}

const char *locks_context(const struct locks_function *function, bool *stack)
{
	*stack = function->act == LOCKS_LOCK || function->act == LOCKS_READ || function->act == LOCKS_TRY ||
		 function->act == LOCKS_TRY_READ || function->act == LOCKS_WAIT;
	return function->act == LOCKS_WAIT ? "arg1,arg2,ret" : function->act == LOCKS_POST ? "arg1" : "arg1,ret";
}
