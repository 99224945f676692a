/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a connection: the process that connected, while it lives, and no other one. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "tool/record/peer.h"

static int listener;
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t length;

static int connected(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return fd >= 0 && !connect(fd, (struct sockaddr *)&address, length) ? fd : -1;
}

/* A message with room for a descriptor. */
struct handing {
	struct iovec part;
	struct msghdr message;
	char byte;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
};

static struct msghdr *make(struct handing *handing)
{
	*handing = (struct handing){ .control.head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	handing->part = (struct iovec){ &handing->byte, 1 };
	handing->message = (struct msghdr){ .msg_iov = &handing->part, .msg_iovlen = 1,
		.msg_control = &handing->control, .msg_controllen = sizeof(handing->control) };
	return &handing->message;
}

/* A child that connects, gives its end to us, too, and stays. Returns the accepted connection. */
static int accept_from(pid_t *child, int *given)
{
	struct handing handing;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		bail("no pair");
	*child = fork();
	if (!*child) {
		struct msghdr *message = make(&handing);
		int own = connected();
		memcpy(CMSG_DATA(&handing.control.head), &own, sizeof(own));
		sendmsg(pair[1], message, 0);
		for (;;)
			pause();
	}
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || recvmsg(pair[0], make(&handing), MSG_CMSG_CLOEXEC) != 1)
		bail("no connection");
	memcpy(given, CMSG_DATA(&handing.control.head), sizeof(*given));
	close(pair[0]);
	close(pair[1]);
	return fd;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void with(bool descriptors, const char *way)
{
	struct peer peer, again;
	pid_t child, other;
	int given, unused;
	int fd = accept_from(&child, &given);

	is_int(peer_of(&peer, fd, descriptors), 0, "%s: a process that lives is known", way);
	ok(peer.pid == child && peer.start && peer.uid == geteuid(), "%s: by number, start and user", way);
	ok(peer_lives(&peer), "%s: and lives", way);
	end(child);
	ok(!peer_lives(&peer), "%s: when it has ended it does not, though its end is open here", way);
	is_int(peer_of(&again, fd, descriptors), -ESRCH, "%s: and is not taken for one that lives", way);
	peer_close(&peer);
	close(fd);
	close(given);
	/* The same number, by chance: a process that never had to do with the connection. */
	fd = accept_from(&child, &given);
	close(fd);
	close(given);
	fd = accept_from(&other, &unused);
	end(other);
	ok(peer_of(&peer, fd, descriptors) == -ESRCH, "%s: while another one lives", way);
	end(child);
	close(fd);
	close(unused);
}

/* Before Linux 6.5 a number alone is not enough: its process must hold the other end. */
static void holder(void)
{
	int fd = connected();
	struct peer peer;
	int here = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	is_int(peer_of(&peer, here, false), 0, "the process that holds the other end");
	peer_close(&peer);
	close(fd);
	is_int(peer_of(&peer, here, false), -ESRCH, "is not known by its number when it has closed that end");
	close(here);
}

int main(void)
{
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     (size_t)snprintf(address.sun_path + 1, 60, "xaudit-peer-%d", (int)getpid()));
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 8))
		bail("no socket");
	alarm(60);
	with(true, "by descriptor");
	with(false, "by descriptors of the process");
	holder();
	return done_testing();
}
