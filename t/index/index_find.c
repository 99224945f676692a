/* SPDX-License-Identifier: MIT */
/*
 * Finds functions in an index, for t/index/index.t: index_find INDEX PATTERN... prints, for each pattern, a line per
 * name that the index has for it: link-time address, name, and the function's best name.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "audit/index/index.h"
#include "audit/index/walk.h"

int main(int argc, char **argv)
{
	struct index index;
	struct stat st;

	if (argc < 3)
		return 2;
	int fd = open(argv[1], O_RDONLY);
	void *p = fd < 0 || fstat(fd, &st) ? MAP_FAILED
					   : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int r = p == MAP_FAILED ? -1 : index_attach(&index, p, (size_t)st.st_size, NULL);
	if (r) {
		fprintf(stderr, "%s: no index\n", argv[1]);
		return 1;
	}
	for (int i = 2; i < argc && r >= 0; i++) {
		struct index_walk walk;
		const char *name;
		size_t number;
		index_match(&index, argv[i], &walk);
		while ((r = index_next(&index, &walk, &number, &name)) > 0) {
			const struct index_function *function = index_function(&index, number);
			const char *best = function ? index_name(&index, function) : NULL;
			printf("%" PRIx64 " %s %s\n", function ? function->address : 0, name ? name : "?",
				best ? best : "?");
		}
	}
	return r < 0;
}
