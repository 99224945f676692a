/* SPDX-License-Identifier: MIT */
/*
 * A process that asks must show the secret, and is not trusted then either: a server's worker that an attacker took
 * over knows the secret, too. So nothing that it says is believed, only what can be looked at:
 *  - A folder is named after the process number that the kernel tells, not after one that the process tells.
 *  - A file is given only from a folder that this thread made for the same process (number and time of start), or whose
 *    meta holds a head with the process's number that is not older than the process; and the folder must be the one
 *    (device and inode) that the question means. A head says which process it belongs to, and only processes that can
 *    write to meta make one: those of its family, which have all of its files already. So a worker that was taken over
 *    can't reach another family's files by asking, not even with the number of a process that belonged to that family
 *    and is gone; it can have its own family's files, and spoil them, as it can without asking. Of threads' files it
 *    gets those of its own place. A process that left a family before it gave up rights (TRACE_LEFT) gets no file of
 *    that family any more: it could make one shorter that others have mapped.
 *  - Folders and files are ours (owner), plain, and have one name, whatever has been put in their place; names have one
 *    form; no link is followed.
 *  - The number of files is bounded. What a process writes into its own files is not, as for every process that has
 *    descriptors of a trace: RLIMIT_FSIZE or a quota bounds that.
 * Who asks is known when it connects (peer.h), and must live when it is answered: another process may have its number
 * later. A process that connects and says nothing does not hold up others: it is closed after a second, and before that
 * when there are many, the oldest first.
 *
 * The thread shares with the main thread what is in `broker` below; the main thread writes before the thread begins,
 * and reads after it has ended. All its signals are blocked. It frees no memory but what peer.h needs before Linux 6.5,
 * and uses no stdio.
 */
#define _GNU_SOURCE
#include "tool/record/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "format/places.h"
#include "format/trace.h"
#include "runtime/files/broker.h"
#include "tool/base/now.h"
#include "tool/base/own_file.h"
#include "tool/base/proc.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/record/folder.h"
#include "tool/record/peer.h"
#include "tool/record/run.h"

#define CONNECTIONS   64
#define FOLDERS_MAX   100000 /* of all processes */
#define FOLDERS_OF    1000   /* of one process: each program that it executes has one */
#define FILES_MAX     1000000
#define NAMES_MAX     100000 /* p<pid>, p<pid>.1 ... */
#define THREADS_MAX   (1u << 24)
#define PLACES_MAX    (1u << 20) /* where a head is looked for */
#define REFUSED_NAMES 1000
#define PATIENCE      1000000000ull /* ns, until a connection that says nothing is closed */

/* A folder that was made here. */
struct grant {
	struct peer peer;
	struct output_place place;
};

static struct {
	pthread_t thread;
	int folder, listener, end; /* end: readable when the thread shall end */
	uint8_t secret[BROKER_SECRET];
	struct {
		int fd;
		struct peer peer;
		uint64_t since;
	} connection[CONNECTIONS]; /* the oldest first */
	unsigned connections;
	struct grant *grant;
	size_t grants, files;
	/* Processes that knew the secret and got nothing. */
	struct peer refused[REFUSED_NAMES];
	unsigned refusals;
	char first_comm[32];
	int first_error;
	bool running;
} broker;

/* ---- the process that asks ---- */

static bool is_same(const struct peer *a, const struct peer *b)
{
	return a->pid == b->pid && a->start == b->start;
}

static bool was_given(const struct peer *peer, const struct output_place *place)
{
	for (size_t i = broker.grants; i-- > 0;)
		if (is_same(&broker.grant[i].peer, peer) && broker.grant[i].place.device == place->device &&
			broker.grant[i].place.inode == place->inode)
			return true;
	return false;
}

/* Is that a head of the process, and not of one that had the same number before? */
static bool is_head_of(const struct peer *peer, const struct trace_head *head)
{
	const uint64_t second = 1000000000;

	if (memcmp(head->magic, TRACE_MAGIC, sizeof(head->magic)) || head->version != TRACE_VERSION ||
		head->pid != (uint32_t)peer->pid || head->flags & TRACE_LEFT)
		return false;
	uint64_t old = tool_now() - head->first.mono, process = tool_now_on(CLOCK_BOOTTIME) - peer->start;
	/* A clock that stood while the machine slept makes the head younger, not older. */
	return old <= process + second;
}

static bool read_whole(int fd, void *to, size_t size, uint64_t at)
{
	return at < 1ull << 62 && pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/*
 * The place of the process's head in meta; -1: it has none. Nothing else that stands in the file is believed.
 */
static long place_in(const struct peer *peer, int meta)
{
	static uint64_t word[8192];
	struct trace_head first, head;
	struct trace_directory directory;

	if (!read_whole(meta, &first, sizeof(first), 0))
		return -1;
	if (!first.process && is_head_of(peer, &first))
		return 0;
	directory = trace_directory_of(&first);
	if (memcmp(first.magic, TRACE_MAGIC, sizeof(first.magic)) || first.version != TRACE_VERSION ||
		!trace_directory_is_sane(&directory))
		return -1;
	uint32_t end = first.places < first.places_max ? first.places : first.places_max;
	end = end < PLACES_MAX ? end : PLACES_MAX;
	for (uint32_t at = 0, n; at < end; at += n) {
		n = trace_words_together(&directory, at, end - at);
		n = n < sizeof(word) / sizeof(*word) ? n : sizeof(word) / sizeof(*word);
		if (!read_whole(meta, word, n * sizeof(*word), trace_word_at(&directory, at)))
			return -1;
		for (uint32_t i = 0; i < n; i++)
			if (word[i] == TRACE_PLACE(TRACE_PLACE_HEAD, at + i, peer->pid) &&
				read_whole(meta, &head, sizeof(head), (at + i) * first.place_size) &&
				head.process == at + i && is_head_of(peer, &head))
				return at + i;
	}
	return -1;
}

/* The place of the process's head in the family; -1: it is none of its members. */
static long member(const struct peer *peer, const struct output_place *place, int folder)
{
	struct trace_head first;
	long meta = output_open_file(folder, "meta", O_RDONLY | O_NONBLOCK), found = -1;

	/* It has no head there yet, or has left. */
	if (meta >= 0 && was_given(peer, place))
		found = read_whole((int)meta, &first, sizeof(first), 0) && first.flags & TRACE_LEFT ? -1 : 0;
	else if (meta >= 0)
		found = place_in(peer, (int)meta);
	if (meta >= 0)
		close((int)meta);
	return found;
}

/* A file that may be asked for: meta, t<n>, or t<n>.<p>. *place: p; 0 of meta. */
static bool is_file_name(const char *name, uint64_t *place)
{
	char exact[BROKER_FILE], *end;

	*place = 0;
	if (!strcmp(name, "meta"))
		return true;
	if (!record_is_thread_name(name))
		return false;
	uint64_t thread = strtoul(name + 1, &end, 10);
	*place = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	if (*place)
		snprintf(exact, sizeof(exact), "t%" PRIu64 ".%" PRIu64, thread, *place);
	else
		snprintf(exact, sizeof(exact), "t%" PRIu64, thread);
	return thread < THREADS_MAX && *place < TRACE_PLACE_MAX && !strcmp(exact, name);
}

/* ---- files ---- */

static long checked(long fd)
{
	struct stat st;

	return own_file(fd, &st);
}

static long make_folder(const struct peer *peer, struct broker_answer *answer)
{
	long folder = -EEXIST;
	size_t given = 0;

	for (size_t i = 0; i < broker.grants; i++)
		given += is_same(&broker.grant[i].peer, peer);
	if (broker.grants == FOLDERS_MAX || given >= FOLDERS_OF || broker.files >= FILES_MAX)
		return -EDQUOT;
	for (unsigned n = 0; n < NAMES_MAX && folder == -EEXIST; n++) {
		if (n)
			snprintf(answer->folder, sizeof(answer->folder), "p%d.%u", (int)peer->pid, n);
		else
			snprintf(answer->folder, sizeof(answer->folder), "p%d", (int)peer->pid);
		folder = output_make(broker.folder, answer->folder, &answer->place);
	}
	if (folder < 0)
		return folder;
	long fd = checked(output_make_mapped((int)folder, "meta"));
	close((int)folder);
	if (fd < 0) {
		unlinkat(broker.folder, answer->folder, AT_REMOVEDIR);
		return fd;
	}
	broker.grant[broker.grants++] = (struct grant){ *peer, answer->place };
	broker.files++;
	return fd;
}

/* Is the field a text? */
static bool is_ended(const char *field, size_t size)
{
	return memchr(field, '\0', size) != NULL;
}

static long open_file(const struct peer *peer, const struct broker_request *request)
{
	const char *folder = request->folder, *name = request->file;
	struct output_place place;
	uint64_t thread_of;
	struct stat st;

	if (!is_ended(folder, sizeof(request->folder)) || !is_ended(name, sizeof(request->file)) ||
		!record_is_process_name(folder) || !is_file_name(name, &thread_of))
		return -EINVAL;
	long at = output_open(broker.folder, folder, &place), fd, of;
	if (at < 0)
		return at == OUTPUT_FOREIGN ? -EPERM : at;
	if (place.device != request->place.device || place.inode != request->place.inode)
		fd = -ESTALE;
	else if (fstat((int)at, &st) < 0 || st.st_uid != geteuid() || (of = member(peer, &place, (int)at)) < 0 ||
		(*name == 't' && thread_of != (uint64_t)of))
		fd = -EPERM;
	else
		fd = output_open_file((int)at, name, O_RDWR | O_NONBLOCK);
	if (fd == -ENOENT && *name != 'm') {
		fd = broker.files < FILES_MAX ? output_make_file((int)at, name) : -EDQUOT;
		broker.files += fd >= 0;
	}
	close((int)at);
	return checked(fd);
}

/* ---- questions and answers ---- */

static void note_refused(const struct peer *peer, long error)
{
	for (unsigned i = 0; i < broker.refusals && i < REFUSED_NAMES; i++)
		if (is_same(&broker.refused[i], peer))
			return;
	if (!broker.refusals) {
		proc_name(peer->pid, broker.first_comm);
		broker.first_error = (int)-error;
	}
	if (broker.refusals < REFUSED_NAMES)
		broker.refused[broker.refusals++] = *peer;
}

static void send_answer(int fd, const struct broker_answer *answer, int given)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (given >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &given, sizeof(given));
	}
	/* A process that has gone meanwhile needs no answer. */
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

/* Takes the same time for each wrong secret. */
static bool is_secret(const uint8_t *secret)
{
	uint8_t difference = 0;

	for (int i = 0; i < BROKER_SECRET; i++)
		difference |= secret[i] ^ broker.secret[i];
	return !difference;
}

/* One question of a connection, which is closed then. */
static void answer(int fd, const struct peer *peer)
{
	struct broker_request request;
	struct broker_answer answer = { .magic = BROKER_MAGIC, .version = BROKER_VERSION };
	/* Descriptors that come along are closed by the kernel: there is no room for them. */
	ssize_t n = recv(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (n != sizeof(request) || request.magic != BROKER_MAGIC || request.version != BROKER_VERSION ||
		!is_secret(request.secret))
		return;
	long given = !peer_lives(peer)		   ? -ESRCH
		     : request.what == BROKER_NEW  ? make_folder(peer, &answer)
		     : request.what == BROKER_OPEN ? open_file(peer, &request)
						   : -EINVAL;
	if (given < 0) {
		note_refused(peer, given);
		answer.error = (int32_t)given;
	}
	send_answer(fd, &answer, (int)given);
	if (given >= 0)
		close((int)given);
}

static void drop(unsigned i)
{
	close(broker.connection[i].fd);
	peer_close(&broker.connection[i].peer);
	broker.connections--;
	memmove(broker.connection + i, broker.connection + i + 1,
		(broker.connections - i) * sizeof(broker.connection[0]));
}

static void take_connection(void)
{
	struct peer peer;
	int fd = accept4(broker.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		/* No descriptor is free: it waits there, and asking at once again would take the processor. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(NULL, 0, 20);
		return;
	}
	/* Now: when it asks, its number may be another process's. */
	int unknown = peer_of(&peer, fd, true);
	/* If we are not root, no descendant of ours runs as another user. */
	if (unknown || (geteuid() != 0 && peer.uid != geteuid())) {
		peer_close(&peer);
		close(fd);
		return;
	}
	if (broker.connections == CONNECTIONS)
		drop(0);
	broker.connection[broker.connections].fd = fd;
	broker.connection[broker.connections].since = tool_now();
	broker.connection[broker.connections++].peer = peer;
}

static void *serve(void *unused)
{
	struct pollfd file[CONNECTIONS + 2];

	for (;;) {
		unsigned n = broker.connections;

		file[0] = (struct pollfd){ .fd = broker.end, .events = POLLIN };
		file[1] = (struct pollfd){ .fd = broker.listener, .events = POLLIN };
		for (unsigned i = 0; i < n; i++)
			file[2 + i] = (struct pollfd){ .fd = broker.connection[i].fd, .events = POLLIN };
		if (poll(file, n + 2, n ? (int)(PATIENCE / 1000000) : -1) < 0 && errno != EINTR && errno != ENOMEM)
			break;
		/* From the end, since closing one moves only those after it. */
		for (unsigned i = n; i-- > 0;)
			if (file[2 + i].revents) {
				answer(broker.connection[i].fd, &broker.connection[i].peer);
				drop(i);
			}
		while (broker.connections && tool_now() - broker.connection[0].since > PATIENCE)
			drop(0);
		if (file[1].revents)
			take_connection();
		else if (file[0].revents)
			break; /* processes that had come by then were answered */
	}
	while (broker.connections)
		drop(0);
	return unused;
}

/* ---- start and end ---- */

/* A socket with a name that no other socket has. Returns 0 or an errno. */
static int listen_at(char name[BROKER_NAME + 1])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint64_t number;
	size_t n;

	broker.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (broker.listener < 0)
		return errno;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number) ||
		getrandom(broker.secret, sizeof(broker.secret), 0) != sizeof(broker.secret))
		return EIO;
	n = (size_t)snprintf(name, BROKER_NAME + 1, "xaudit-record-%d-%016" PRIx64, (int)getpid(), number);
	memcpy(address.sun_path + 1, name, n);
	n += offsetof(struct sockaddr_un, sun_path) + 1;
	if (bind(broker.listener, (struct sockaddr *)&address, (socklen_t)n) < 0 || listen(broker.listener, 4096) < 0)
		return errno;
	return 0;
}

static int tell_children(const char *name)
{
	char text[256], secret[2 * BROKER_SECRET + 1];
	struct stat st, errors;

	if (fstat(broker.folder, &st) < 0)
		return errno;
	if (fstat(STDERR_FILENO, &errors) < 0)
		errors = (struct stat){ 0 };
	for (int i = 0; i < BROKER_SECRET; i++)
		snprintf(secret + 2 * i, 3, "%02x", broker.secret[i]);
	snprintf(text, sizeof(text), "%u %s %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, BROKER_VERSION,
		name, secret, (unsigned)geteuid(), (uint64_t)st.st_dev, (uint64_t)st.st_ino,
		(uint64_t)errors.st_dev, (uint64_t)errors.st_ino);
	return setenv(BROKER_VARIABLE, text, 1) < 0 ? errno : 0;
}

void record_broker_start(const struct record_folder *folder)
{
	char name[BROKER_NAME + 1];
	int error;

	const char *outer = getenv(BROKER_VARIABLE);
	if (outer && *outer)
		record_error("this runs under another `xaudit record`, which does not see what is traced here");
	unsetenv(BROKER_VARIABLE);
	broker.folder = folder->fd;
	broker.end = eventfd(0, EFD_CLOEXEC);
	broker.listener = -1;
	broker.grant = calloc(FOLDERS_MAX, sizeof(*broker.grant)); /* costs memory as it is used */
	error = broker.end < 0 || !broker.grant ? errno : listen_at(name);
	if (!error)
		error = tell_children(name);
	if (!error)
		error = tool_thread(&broker.thread, serve, NULL);
	broker.running = !error;
	if (!error)
		return;
	record_error("programs that drop their rights may lose events, since they can't ask for files: %s",
		strerror(error));
	unsetenv(BROKER_VARIABLE);
	record_broker_stop();
}

void record_broker_stop(void)
{
	const uint64_t one = 1;

	if (broker.running && write(broker.end, &one, sizeof(one)) == sizeof(one))
		pthread_join(broker.thread, NULL);
	broker.running = false;
	if (broker.listener >= 0)
		close(broker.listener);
	if (broker.end >= 0)
		close(broker.end);
	free(broker.grant);
	broker.listener = broker.end = -1;
	broker.grant = NULL;
}

void record_broker_say(const struct record_folder *folder)
{
	/* If the folder was removed, the user was told, and that is the reason of all refusals. */
	if (!broker.refusals || folder->robbed)
		return;
	record_error("%s%u process%s asked for files of the trace in vain, %s%s (%d): %s",
		broker.refusals == REFUSED_NAMES ? "at least " : "", broker.refusals, broker.refusals == 1 ? "" : "es",
		broker.refusals == 1 ? "" : "first ", *broker.first_comm ? broker.first_comm : "a program",
		(int)broker.refused[0].pid, strerror(broker.first_error));
}
