/* SPDX-License-Identifier: MIT */
/*
 * A library to preload, for t/index/index_apply.t: displaces every function that the indexes in $APPLY_CACHE allow, in
 * all objects whose path contains one of the words of $APPLY_OBJECTS (separated by colons), before the program runs. At
 * each entry then stands a jump to the displaced copy, and what else was displaced is filled with int3, but for a call
 * that belongs to the copy. Appends a line per object to $APPLY_REPORT: path, functions, how many are displaced, how
 * many had other bytes in memory.
 *
 * While it writes, libc may be half written: nothing of it is called then.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "audit/index/folder.h"
#include "audit/index/index.h"
#include "x86_64/displace.h"
#include "x86_64/sys.h"

static struct object {
	char path[256];
	uint64_t load, low, high; /* of its code */
	struct index_identity identity;
	struct index index;
	size_t displaced, other;
} object[64];
static size_t objects;

static int wanted(const char *path)
{
	const char *word = getenv("APPLY_OBJECTS");

	while (word && *word) {
		size_t n = strcspn(word, ":");
		char one[128];
		snprintf(one, sizeof(one), "%.*s", (int)n, word);
		if (n && strstr(path, one))
			return 1;
		word += n + (word[n] == ':');
	}
	return 0;
}

static void read_identity(struct object *to, const uint8_t *note, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		memcpy(&head, note, sizeof(head));
		size_t whole = sizeof(head) + ((head.n_namesz + 3) & ~3u) + ((head.n_descsz + 3) & ~3u);
		if (whole > size)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && head.n_descsz <= INDEX_BUILD_ID_MAX) {
			to->identity.build_id_len = head.n_descsz;
			memcpy(to->identity.build_id, note + sizeof(head) + 4, head.n_descsz);
			return;
		}
		note += whole;
		size -= whole;
	}
}

static int see(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	struct object *to = &object[objects];

	(void)size;
	(void)arg;
	if (objects == sizeof(object) / sizeof(*object) || !wanted(path))
		return 0;
	*to = (struct object){ .load = info->dlpi_addr, .low = UINT64_MAX };
	snprintf(to->path, sizeof(to->path), "%s", path);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_NOTE && !to->identity.build_id_len)
			read_identity(to, (const uint8_t *)from, segment->p_filesz);
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		if (from < to->low)
			to->low = from & ~4095ul;
		if (from + segment->p_memsz > to->high)
			to->high = (from + segment->p_memsz + 4095) & ~4095ul;
	}
	const char *cache = getenv("APPLY_CACHE");
	char name[INDEX_NAME_MAX];
	struct stat st;
	if (stat(path, &st))
		return 0;
	to->identity.device = st.st_dev;
	to->identity.inode = st.st_ino;
	to->identity.size = (uint64_t)st.st_size;
	to->identity.modified = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	to->identity.changed = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	if (cache && !index_open(&to->index, cache, &to->identity, name))
		objects++;
	return 0;
}

/* Memory near the object. */
static uint8_t *near(const struct object *of, size_t size)
{
	for (uint64_t back = size + 65536; back < 1ul << 30; back += 1ul << 20) {
		void *at = (void *)((of->low - back) & ~4095ul);
		void *p = sys_mmap(at, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p == at)
			return p;
	}
	return NULL;
}

static void put_jump(uint8_t *at, const uint8_t *to)
{
	*at = 0xe9;
	sys_put32(at + 1, (uint32_t)(to - (at + 5)));
}

static void displace(struct object *of)
{
	size_t room = of->index.functions * INDEX_TEMPLATE_MAX, used = 0;
	uint8_t *copies = near(of, room);

	if (!copies || sys_mprotect((void *)of->low, of->high - of->low, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	for (size_t i = 0; i < of->index.functions; i++) {
		const struct index_function *function = index_function(&of->index, i);
		const struct index_template *template = function ? index_template(&of->index, function) : NULL;
		uint64_t site, from;
		if (!template || !index_site(&of->index, function, &site, &from))
			continue;
		uint8_t *at = (uint8_t *)(of->load + site), *first = (uint8_t *)(of->load + from);
		if (!sys_same(first, function->original, function->originals)) {
			of->other++;
			continue;
		}
		/* No copy is where the jump would end in the call's first byte. */
		if (template->meets)
			template = index_template_other(&of->index, function);
		uint8_t call[DISPLACE_CALL_MAX];
		size_t calls = template ? displace_call(template->call, call) : 0;
		size_t n = !template ? 0 : displace_copy(
			template, of->load, function->address, (uint64_t)(copies + used), copies + used, room - used);
		if (!n)
			continue;
		unsigned jump = function->form == INDEX_FORM_JUMP ? INDEX_JUMP : INDEX_SHORT_JUMP;
		for (unsigned b = jump; b < function->length; b++)
			at[b] = 0xcc;
		sys_copy(at + function->length - calls, call, calls);
		if (function->form == INDEX_FORM_JUMP) {
			put_jump(at, copies + used);
		} else {
			put_jump(first, copies + used);
			at[0] = 0xeb;
			at[1] = (uint8_t)(first - (at + 2));
		}
		used += n;
		of->displaced++;
	}
	sys_mprotect((void *)of->low, of->high - of->low, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void apply(void)
{
	const char *report = getenv("APPLY_REPORT");

	dl_iterate_phdr(see, NULL);
	for (size_t i = 0; i < objects; i++)
		displace(&object[i]);
	FILE *file = report ? fopen(report, "a") : NULL;
	for (size_t i = 0; file && i < objects; i++)
		fprintf(file, "%s %zu %zu %zu\n", object[i].path, object[i].index.functions, object[i].displaced,
			object[i].other);
	if (file)
		fclose(file);
}
