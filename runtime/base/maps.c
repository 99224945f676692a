/* SPDX-License-Identifier: MIT */
#include "runtime/base/maps.h"

#include <stdbool.h>

#include "x86_64/sys.h"

static const char *parse_number(const char *p, unsigned base, uint64_t *n)
{
	for (*n = 0;; p++) {
		unsigned digit;
		if (*p >= '0' && *p <= '9')
			digit = (unsigned)(*p - '0');
		else if (base == 16 && *p >= 'a' && *p <= 'f')
			digit = (unsigned)(*p - 'a' + 10);
		else
			return p;
		*n = *n * base + digit;
	}
}

static const char *skip_word(const char *p)
{
	while (*p && *p != ' ')
		p++;
	while (*p == ' ')
		p++;
	return p;
}

/* "low-high rights offset major:minor inode   name". Returns whether it has a part in low...high-1. */
static int parse_line(const char *line, uint64_t low, uint64_t high, struct mapping *m)
{
	uint64_t major, minor;
	const char *p = parse_number(line, 16, &m->low);

	p = parse_number(p + (*p == '-'), 16, &m->high);
	if (high <= m->low || low >= m->high)
		return 0;
	p += *p == ' ';
	sys_copy(m->rights, p, sizeof(m->rights));
	p = parse_number(skip_word(p), 16, &m->offset);
	p = parse_number(skip_word(p), 16, &major);
	p = parse_number(p + (*p == ':'), 16, &minor);
	m->device = major << 32 | minor;
	p = skip_word(p);
	p = parse_number(p, 10, &m->inode);
	p = skip_word(p);
	m->is_heap = sys_same(p, "[heap]", 6);
	m->is_stack = sys_same(p, "[stack]", 7);
	m->name = p;
	return 1;
}

long maps_list(uint64_t low, uint64_t high, struct mapping *mapping, size_t room)
{
	static char buffer[4096] SYS_LARGE;
	static char line[4096 + 160] SYS_LARGE; /* a path, and every field before it */
	size_t length = 0, found = 0;
	long n, fd = sys_open("/proc/self/maps", O_RDONLY, 0);

	if (fd < 0)
		return -1;
	while (found < room && (n = sys_read((int)fd, buffer, sizeof(buffer))) > 0) {
		for (long i = 0; i < n && found < room; i++) {
			if (buffer[i] != '\n') {
				if (length < sizeof(line) - 8)
					line[length++] = buffer[i];
				continue;
			}
			sys_fill(line + length, 0, 8);
			length = 0;
			if (!parse_line(line, low, high, &mapping[found]))
				continue;
			found++;
			/* They ascend: no wanted mapping comes after this one. */
			if (mapping[found - 1].high >= high)
				room = found;
		}
	}
	sys_close((int)fd);
	return (long)found;
}

bool maps_is_writable(uint64_t address)
{
	struct mapping m;
	int found = maps_find(address, &m);

	return found == 1 ? m.rights[1] == 'w' : found;
}

int maps_find(uint64_t address, struct mapping *mapping)
{
	return (int)maps_list(address, address + 1, mapping, 1);
}
