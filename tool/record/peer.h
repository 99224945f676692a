/* SPDX-License-Identifier: MIT */
/*
 * Which process is at the other end of a connection. The kernel notes the number of the process that connected; but
 * that one may have ended, and another one have its number. So the number is believed only while the process that
 * connected is known to live: Linux 6.5 gives a descriptor of that very process (SO_PEERPIDFD); before, the process of
 * that number must hold the connection's other end among its descriptors. One thread.
 */
#ifndef XAUDIT_TOOL_RECORD_PEER_H
#define XAUDIT_TOOL_RECORD_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
	pid_t pid;
	uint64_t start; /* ns, CLOCK_BOOTTIME: with pid it is one process */
	uid_t uid;	/* when it connected */
	int process;	/* its descriptor, to be closed by peer_close(); -1: the kernel gives none */
};

/*
 * Looks who is at the other end of a socket that was just accepted. descriptors: by a descriptor of the process where
 * the kernel has that; for tests. Returns 0, or -errno: -ESRCH, it has ended, or its number means none here.
 */
int peer_of(struct peer *peer, int connection, bool descriptors);

/* Is that process still there? */
bool peer_lives(const struct peer *peer);

void peer_close(struct peer *peer);

#endif
