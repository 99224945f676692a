/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/peer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/proc.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* When the process of that number started; 0: there is none, or it is of another namespace. */
static uint64_t began(pid_t pid)
{
	char text[1024];

	return pid > 0 && proc_read(text, sizeof(text), "/proc/%d/stat", (int)pid) > 0 ? proc_began(text) : 0;
}

/* ---- before Linux 6.5 ---- */

/* The inode of the socket at the other end; 0: the kernel does not say. */
static uint64_t other_end(int connection)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} question = { { sizeof(question), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0 },
		{ .sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = { UINT32_MAX, UINT32_MAX } } };
	_Alignas(struct nlmsghdr) char text[1024];
	struct nlmsghdr *answer = (struct nlmsghdr *)(void *)text;
	uint64_t inode = 0;
	struct stat st;
	int diag = fstat(connection, &st) ? -1 : socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	question.request.udiag_ino = (uint32_t)st.st_ino;
	bool asked = diag >= 0 && send(diag, &question, sizeof(question), 0) > 0;
	ssize_t n = asked ? recv(diag, text, sizeof(text), 0) : -1;
	if (diag >= 0)
		close(diag);
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct unix_diag_msg)) || !NLMSG_OK(answer, n) ||
		answer->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	const size_t head = NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	char *at = (char *)NLMSG_DATA(answer) + head;
	for (size_t left = NLMSG_PAYLOAD(answer, head); left >= sizeof(struct nlattr);) {
		const struct nlattr *part = (const struct nlattr *)(void *)at;
		if (part->nla_len < sizeof(*part) || part->nla_len > left)
			break;
		if (part->nla_type == UNIX_DIAG_PEER && part->nla_len >= sizeof(*part) + sizeof(uint32_t))
			inode = *(const uint32_t *)(const void *)(part + 1);
		size_t step = NLA_ALIGN(part->nla_len);
		if (step > left)
			break;
		at += step;
		left -= step;
	}
	return inode;
}

/* Is that socket among the process's descriptors? */
static bool holds(pid_t pid, uint64_t inode)
{
	char path[64], wanted[48], found[48];
	bool has = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof(wanted), "socket:[%" PRIu64 "]", inode);
	DIR *dir = inode ? opendir(path) : NULL;
	for (struct dirent *e; dir && !has && (e = readdir(dir));) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, found, sizeof(found) - 1);
		found[n < 0 ? 0 : n] = '\0';
		has = !strcmp(found, wanted);
	}
	if (dir)
		closedir(dir);
	return has;
}

/* ---- both ---- */

int peer_of(struct peer *peer, int connection, bool descriptors)
{
	struct ucred who;
	socklen_t size = sizeof(who), length = sizeof(peer->process);

	*peer = (struct peer){ .process = -1 };
	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return -errno;
	peer->pid = who.pid;
	peer->uid = who.uid;
	if (!descriptors || getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &peer->process, &length) < 0) {
		peer->process = -1;
		if (descriptors && errno != ENOPROTOOPT)
			return -ESRCH; /* it has been waited for */
	}
	peer->start = began(who.pid);
	/* After the look at the number: the process that has it then had it before. */
	if (peer->start && (peer->process >= 0 ? peer_lives(peer) : holds(who.pid, other_end(connection))))
		return 0;
	peer_close(peer);
	return -ESRCH;
}

bool peer_lives(const struct peer *peer)
{
	struct pollfd file = { .fd = peer->process, .events = POLLIN };

	return peer->process >= 0 ? poll(&file, 1, 0) == 0 : began(peer->pid) == peer->start;
}

void peer_close(struct peer *peer)
{
	if (peer->process >= 0)
		close(peer->process);
	peer->process = -1;
}
