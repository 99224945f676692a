/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h> /* mkdir */
#include <unistd.h>   /* unlinkat */

#include "runtime/snapshot_copy.h"
#include "tool/ctl_folder.h"
#include "tool/memory.h"
#include "tool/tool.h"
#include "tool/trace_folder.h"

#define FOLDERS_MAX 100000

static const char help[] =
	"Usage: xaudit ctl PID snapshot [-o DIR]\n"
	"Copies the newest events of a process, which runs on meanwhile, to a trace folder of their own.\n"
	"\n"
	"Options:\n"
	"  -o, --output=DIR  the folder (default: xaudit.snapshot.PID, or the first of .2, .3 ... behind it that is free)\n"
	"  --help            this text\n";

/* Makes the folder. Returns its name, or NULL after one line on stderr. */
static char *make_output(const char *wanted, const char *number)
{
	char *name = wanted ? memory_text(wanted, strlen(wanted)) : memory_format("xaudit.snapshot.%s", number);

	for (unsigned n = 2; mkdir(name, 0777); n++) {
		if (wanted || errno != EEXIST || n > FOLDERS_MAX) {
			tool_error("ctl", "the folder %s can't be made: %s; -o names another one", name, strerror(errno));
			free(name);
			return NULL;
		}
		free(name);
		name = memory_format("xaudit.snapshot.%s.%u", number, n);
	}
	return name;
}

/* Takes back what a copy that failed has left. */
static void remove_output(const char *output, const char *process)
{
	DIR *dir = opendir(process);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(process);
	rmdir(output);
}

static void tell(const char *output, const struct snapshot_copied *copied)
{
	printf("%s: %" PRIu64 " thread%s, %" PRIu64 " chunk%s, ", output, copied->threads, copied->threads == 1 ? "" : "s", copied->chunks,
		copied->chunks == 1 ? "" : "s");
	if (copied->bytes >= 1u << 20)
		printf("%.1f MiB", (double)copied->bytes / (1u << 20));
	else
		printf("%" PRIu64 " kB", (copied->bytes + 1023) / 1024);
	if (copied->gone)
		printf("; %" PRIu64 " older chunks were overwritten meanwhile", copied->gone);
	putchar('\n');
}

int ctl_snapshot(uint32_t pid, const char *folder, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *wanted = NULL;
	int option;

	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, "+:o:h", long_options, NULL)) != -1) {
		switch (option) {
		case 'o':
			wanted = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return TOOL_OK;
		default:
			tool_error("ctl", "%s '%s'; `xaudit ctl PID snapshot --help` lists what there is",
				option == ':' ? "a value is missing behind the option" : "there is no option", argv[optind - 1]);
			return TOOL_USAGE;
		}
	}
	if (optind < argc) {
		tool_error("ctl", "snapshot takes no '%s'; -o names the folder", argv[optind]);
		return TOOL_USAGE;
	}
	/* DIR/p<pid>/ is the same folder. */
	char *from = memory_text(folder, strlen(folder));
	for (size_t n = strlen(from); n > 1 && from[n - 1] == '/'; n--)
		from[n - 1] = '\0';
	const char *base = path_base(from);
	if (base[0] != 'p' || strspn(base + 1, "0123456789.") != strlen(base + 1) || !base[1]) {
		tool_error("ctl", "%s is not the folder of a process, such as xaudit.data/p1234", folder);
		free(from);
		return TOOL_FAILED;
	}
	char *number = pid ? memory_format("%" PRIu32, pid) : memory_text(base + 1, strcspn(base + 1, "."));
	char *output = make_output(wanted, number);
	int status = TOOL_FAILED;

	if (output) {
		char *process = memory_format("%s/%s", output, base);
		struct snapshot_copied copied;
		long r = snapshot_copy(from, process, &copied);

		if (r) {
			remove_output(output, process);
			tool_error("ctl", "the trace in %s can't be copied to %s: %s", from, output,
				r == -EBADMSG ? "its meta file is damaged" : strerror((int)-r));
		} else {
			tell(output, &copied);
			status = TOOL_OK;
		}
		free(process);
	}
	free(output);
	free(number);
	free(from);
	return status;
}
