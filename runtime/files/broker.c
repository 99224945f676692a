/* SPDX-License-Identifier: MIT */
/* The module's side: one connection for each question. */
#define _GNU_SOURCE /* struct ucred */
#include "runtime/files/broker.h"

#include <errno.h>	/* EACCES */
#include <stdbool.h>
#include <sys/socket.h> /* struct msghdr */
#include <sys/un.h>	/* struct sockaddr_un */

#include "runtime/files/backoff.h"
#include "x86_64/sys.h"

#define GET_SECCOMP 21 /* PR_GET_SECCOMP */

/* From broker_init() on constant. */
static struct {
	int known;
	char name[BROKER_NAME + 1];
	uint8_t secret[BROKER_SECRET];
	uint64_t uid;
	struct output_place place, errors;
} record;

static struct backoff backoff; /* by CLOCK_MONOTONIC */

/* ---- the environment ---- */

/* Reads a number after blanks; *p moves to its end. -1 if there is no number. */
static int64_t number(const char **p)
{
	uint64_t n = 0;
	int digits = 0;

	while (**p == ' ')
		++*p;
	for (; **p >= '0' && **p <= '9'; ++*p, digits++)
		n = n * 10 + (uint64_t)(**p - '0');
	return digits && digits < 20 ? (int64_t)n : -1;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void broker_init(const char *text)
{
	size_t n = 0;

	record.known = 0;
	if (!text || number(&text) != BROKER_VERSION || *text++ != ' ')
		return;
	while (*text && *text != ' ' && n < BROKER_NAME)
		record.name[n++] = *text++;
	record.name[n] = '\0';
	if (!n || *text++ != ' ')
		return;
	for (n = 0; n < BROKER_SECRET; n++, text += 2) {
		if (digit(text[0]) < 0 || digit(text[1]) < 0)
			return;
		record.secret[n] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
	}
	int64_t uid = number(&text), device = number(&text), inode = number(&text);
	int64_t errors_device = number(&text), errors_inode = number(&text);
	if (uid < 0 || device < 0 || inode < 0 || errors_device < 0 || errors_inode < 0 || *text)
		return;
	record.uid = (uint64_t)uid;
	record.place = (struct output_place){ (uint64_t)device, (uint64_t)inode };
	record.errors = (struct output_place){ (uint64_t)errors_device, (uint64_t)errors_inode };
	record.known = 1;
}

int broker_place(struct output_place *place)
{
	*place = record.place;
	return record.known;
}

int broker_stderr(struct output_place *place)
{
	*place = record.errors;
	return record.known;
}

bool broker_may_help(long error)
{
	switch (-error) {
	case EACCES:
	case ELOOP:
	case ENOENT:
	case ENOTDIR:
	case EPERM:
	case EROFS:
	case ESTALE:
	case -OUTPUT_FOREIGN:
		return true;
	default:
		return false;
	}
}

/* ---- asking ---- */

static int64_t now(void)
{
	struct timespec time = { 0 };

	sys_call(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&time, 0, 0, 0, 0);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A stop and its end interrupt even where no handler runs; but not without end. */
#define TRIES 8

static long connect_to(int fd)
{
	const struct timeval second = { .tv_sec = 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = sys_length(record.name), size = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	struct ucred peer;
	uint32_t peer_size = sizeof(peer);
	long r = -EINTR;

	sys_copy(address.sun_path + 1, record.name, n);
	sys_call(__NR_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&second, sizeof(second), 0);
	r = sys_call(__NR_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&second, sizeof(second), 0);
	if (r)
		return r;
	r = -EINTR;
	for (int i = 0; i < TRIES && r == -EINTR; i++)
		r = sys_call(__NR_connect, fd, (long)&address, (long)size, 0, 0, 0);
	if (r)
		return r;
	r = sys_call(__NR_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&peer_size, 0);
	if (r)
		return r;
	/* Another user has the name by now, or the user is seen from another user namespace. */
	return peer.uid == record.uid ? 0 : -ECONNREFUSED;
}

/* Returns the descriptor that came with the answer, or -errno. */
static long receive(int fd, struct broker_answer *answer)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control) };
	long r = -EINTR, given = -1;

	for (int i = 0; i < TRIES && r == -EINTR; i++)
		r = sys_call(__NR_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	if (r < 0)
		return r;
	/* What does not fit into the room the kernel closes. */
	if (message.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_level == SOL_SOCKET &&
		control.head.cmsg_type == SCM_RIGHTS && control.head.cmsg_len == CMSG_LEN(sizeof(int)))
		given = *(const int *)(const void *)CMSG_DATA(&control.head);
	long error = 0;
	if (r == 0)
		error = -ECONNRESET; /* it does not want us */
	else if (r != sizeof(*answer) || answer->magic != BROKER_MAGIC || answer->version != BROKER_VERSION)
		error = -EPROTO;
	else if (answer->error)
		error = answer->error < 0 && answer->error > -4096 ? answer->error : -EPROTO;
	else if (given < 0)
		error = -EMFILE; /* no number was free here */
	if (error && given >= 0)
		sys_close((int)given);
	return error ? error : given;
}

static long ask_on(int fd, const struct broker_request *request, struct broker_answer *answer)
{
	long r = connect_to(fd);

	if (r)
		return r;
	r = -EINTR;
	for (int i = 0; i < TRIES && r == -EINTR; i++)
		r = sys_call(__NR_sendto, fd, (long)request, sizeof(*request), MSG_NOSIGNAL, 0, 0);
	if (r < 0)
		return r;
	return receive(fd, answer);
}

static long ask(struct broker_request *request, struct broker_answer *answer)
{
	if (!record.known || !backoff_is_over(&backoff, now()))
		return -EALREADY;
	if (sys_call(__NR_prctl, GET_SECCOMP, 0, 0, 0, 0, 0))
		return -EOPNOTSUPP;
	request->magic = BROKER_MAGIC;
	request->version = BROKER_VERSION;
	sys_copy(request->secret, record.secret, sizeof(request->secret));
	long fd = sys_call(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0), r = fd;
	struct output_place place;
	if (fd >= 0)
		r = output_place((int)fd, &place);
	if (fd >= 0 && !r) {
		r = ask_on((int)fd, request, answer);
		output_close((int)fd, &place);
	}
	/* If no process listens, none will any more, by that name. */
	if (r < 0)
		backoff_failed(&backoff, now(), r == -ECONNREFUSED);
	else
		backoff_succeeded(&backoff);
	return r;
}

/* A name in a field of fixed size; what is longer is refused by the other side, which finds no end. */
static void put(char *field, const char *name, size_t size)
{
	for (size_t i = 0; i < size && (i == 0 || name[i - 1]); i++)
		field[i] = name[i];
}

long broker_new(char name[BROKER_FOLDER], struct output_place *place)
{
	struct broker_request request;
	struct broker_answer answer;

	sys_fill(&request, 0, sizeof(request));
	request.what = BROKER_NEW;
	long fd = ask(&request, &answer);
	if (fd < 0)
		return fd;
	answer.folder[BROKER_FOLDER - 1] = '\0';
	sys_copy(name, answer.folder, BROKER_FOLDER);
	*place = answer.place;
	return fd;
}

long broker_open(const char *folder, const struct output_place *place, const char *file)
{
	struct broker_request request;
	struct broker_answer answer;

	sys_fill(&request, 0, sizeof(request));
	request.what = BROKER_OPEN;
	request.place = *place;
	put(request.folder, folder, sizeof(request.folder));
	put(request.file, file, sizeof(request.file));
	return ask(&request, &answer);
}
