/* SPDX-License-Identifier: MIT */
/*
 * Damaged files. Some files are damaged in a certain way, with a known result; then real libraries are cut short and
 * their bits flipped at random: there site_scan() may return anything, but it must not crash, and the sites that it
 * calls usable must be so in the file that it saw.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "audit/site/list.h"
#include "audit/site/site.h"
#include "runtime/api/table.h" /* struct guard_note */
#include "t/lib/site_fixture.h"

#define MEANT_KINDS (1u << TRACE_KIND_XRAY | 1u << TRACE_KIND_PATCHABLE | 1u << TRACE_KIND_GUARD)

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image load(const char *path)
{
	struct image image = {0};
	struct stat stat;
	int fd = path ? open(path, O_RDONLY) : -1;

	if (fd < 0 || fstat(fd, &stat))
		return image;
	image.bytes = malloc((size_t)stat.st_size);
	image.size = (size_t)stat.st_size;
	if (!image.bytes || read(fd, image.bytes, image.size) != (ssize_t)image.size)
		bail("can't read %s", path);
	close(fd);
	return image;
}

static struct image copy(const struct image *from)
{
	struct image image = {malloc(from->size), from->size};

	if (!image.bytes)
		bail("no memory");
	memcpy(image.bytes, from->bytes, from->size);
	return image;
}

static int file_of(const struct image *image)
{
	int fd = memfd_create("image", 0);

	if (fd < 0 || write(fd, image->bytes, image->size) != (ssize_t)image->size)
		bail("can't make a file in memory");
	return fd;
}

static int scan(const struct image *image, struct site_set *set)
{
	int fd = file_of(image), r = site_scan(set, fd, MEANT_KINDS);

	close(fd);
	return r;
}

static Elf64_Ehdr *header(const struct image *image)
{
	return (Elf64_Ehdr *)image->bytes;
}

static Elf64_Shdr *section(const struct image *image, const char *name)
{
	Elf64_Shdr *first = (Elf64_Shdr *)(image->bytes + header(image)->e_shoff);
	const char *names = (const char *)image->bytes + first[header(image)->e_shstrndx].sh_offset;

	for (int i = 1; i < header(image)->e_shnum; i++)
		if (!strcmp(names + first[i].sh_name, name))
			return &first[i];
	bail("the fixture has no section %s", name);
}

/*
 * Bytes of the file at a link-time address; NULL: none in an executable segment. size: from there to the segment's end.
 */
static const uint8_t *code(const struct image *image, uint64_t address, size_t *size)
{
	const Elf64_Ehdr *head = header(image);

	for (int i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr segment;
		uint64_t at = head->e_phoff + (uint64_t)i * sizeof(segment);
		if (at > image->size || image->size - at < sizeof(segment))
			return NULL;
		memcpy(&segment, image->bytes + at, sizeof(segment));
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || address < segment.p_vaddr ||
			address - segment.p_vaddr >= segment.p_filesz ||
			segment.p_offset + (address - segment.p_vaddr) >= image->size ||
			segment.p_offset + (address - segment.p_vaddr) < segment.p_offset)
			continue;
		*size = segment.p_filesz - (address - segment.p_vaddr);
		at = segment.p_offset + (address - segment.p_vaddr);
		if (*size > image->size - at)
			*size = image->size - at;
		return image->bytes + at;
	}
	return NULL;
}

/* Counts statements of the set that are not true of the file. */
static int broken(const struct image *image, const struct site_set *set)
{
	int wrong = 0;
	uint32_t sites = 0;

	for (uint32_t i = 0; i < set->functions; i++) {
		const struct site_function *f = &set->function[i];
		wrong += f->reason >= TRACE_REASON_COUNT || f->first != sites || !f->reason != !!f->count;
		wrong += f->name && !*f->name;
		for (uint32_t s = sites; s < sites + f->count && s < set->sites; s++) {
			const struct site *site = &set->site[s];
			size_t size;
			const uint8_t *p = code(image, site->address, &size);
			wrong += site->function != i;
			if (!p || size < site->length)
				wrong++;
			else if (site->type < SLED_PATCHABLE)
				wrong += sled_check_xray(site->type, site->address, p, size < 64 ? size : 64) !=
					 TRACE_REASON_TRACED;
			else
				wrong += sled_nops(p, site->length) != site->length;
			if (site->type != SLED_GUARD)
				continue;
			const struct site_range *guards = &set->of[TRACE_KIND_GUARD];
			int32_t distance = guards->target[s - guards->site];
			wrong += i < guards->function ||
				 !code(image, site->address + (uint64_t)(int64_t)distance, &size);
			wrong += distance >= 0 && distance < SLED_JUMP_SIZE;
		}
		sites += f->count;
	}
	return wrong + (sites != set->sites);
}

static uint32_t usable(const struct site_set *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->functions; i++)
		n += !set->function[i].reason;
	return n;
}

static uint32_t refused(const struct site_set *set, enum trace_reason reason)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->functions; i++)
		n += set->function[i].reason == reason;
	return n;
}

static void check(
	const struct image *image, uint32_t expected, enum trace_reason reason, uint32_t others, const char *what)
{
	struct site_set set = {0};

	is_int(scan(image, &set), 0, "%s: the file can be scanned", what);
	is_int(usable(&set), expected, "%s: %u functions can be used", what, expected);
	is_int(refused(&set, reason), others, "%s: %u are refused for it", what, others);
	is_int(broken(image, &set), 0, "%s: what can be used is so", what);
	site_free(&set);
}

static void check_kind(const struct image *image, enum trace_kind kind, enum trace_reason reason, const char *what)
{
	struct site_set set = {0};

	is_int(scan(image, &set), 0, "%s: the file can be scanned", what);
	is_int(set.functions, 0, "%s: no function is found", what);
	is_int(set.kind_reason[kind], reason, "%s: the kind says why", what);
	site_free(&set);
}

static void test_xray(const struct image *good)
{
	struct image image = copy(good);
	uint8_t *map = image.bytes + section(&image, "xray_instr_map")->sh_offset;
	int64_t field;

	check(&image, 5, TRACE_REASON_DAMAGED, 0, "an undamaged map");

	map[18] = 1;
	check_kind(&image, TRACE_KIND_XRAY, TRACE_REASON_MAP_VERSION, "a map of version 1");
	map[18] = 2;

	map[16] = 6;
	check(&image, 4, TRACE_REASON_SLED_BYTES, 1, "a sled of unknown kind");
	map[16] = 0;

	/* The sled of the first entry. */
	memcpy(&field, map, sizeof(field));
	size_t size;
	uint64_t address = section(&image, "xray_instr_map")->sh_addr + (uint64_t)field;
	uint8_t *sled = (uint8_t *)(uintptr_t)code(&image, address, &size);
	sled[0] ^= 1;
	check(&image, 4, TRACE_REASON_SLED_BYTES, 1, "a sled with a wrong byte");
	sled[0] ^= 1;

	int64_t second, again = field - 32;
	memcpy(&second, map + 32, sizeof(second));
	memcpy(map + 32, &again, sizeof(again));
	map[32 + 16] = 0;
	check(&image, 4, TRACE_REASON_DAMAGED, 1, "a sled that is listed twice");
	memcpy(map + 32, &second, sizeof(second));
	map[32 + 16] = 1;

	again = field + 1000000000;
	memcpy(map, &again, sizeof(again));
	check(&image, 4, TRACE_REASON_DAMAGED, 1, "a sled outside the code");
	memcpy(map, &field, sizeof(field));
	check(&image, 5, TRACE_REASON_DAMAGED, 0, "the map as it was");

	section(&image, "xray_instr_map")->sh_size -= 1;
	check_kind(&image, TRACE_KIND_XRAY, TRACE_REASON_DAMAGED, "a map of a size that is no multiple of an entry");
	section(&image, "xray_instr_map")->sh_size = 0;
	check_kind(&image, TRACE_KIND_XRAY, TRACE_REASON_NO_SITES, "an empty map");
	free(image.bytes);
}

static void test_patchable(const struct image *good)
{
	struct image image = copy(good);
	Elf64_Shdr *map = section(&image, "__patchable_function_entries");
	uint64_t offset = map->sh_offset, first, second, data = section(&image, ".data")->sh_addr;

	check(&image, 6, TRACE_REASON_DAMAGED, 0, "an undamaged table");
	memcpy(&first, image.bytes + offset, sizeof(first));
	memcpy(image.bytes + offset, &data, sizeof(data));
	check(&image, 5, TRACE_REASON_DAMAGED, 1, "an entry that points to data");
	memset(image.bytes + offset, 0, sizeof(first));
	check(&image, 5, TRACE_REASON_DAMAGED, 0, "an entry that is zero");
	memcpy(&second, image.bytes + offset + 8, sizeof(second));
	memcpy(image.bytes + offset, &second, sizeof(second));
	check(&image, 5, TRACE_REASON_DAMAGED, 0, "an entry that is there twice");
	second += 5;
	memcpy(image.bytes + offset, &second, sizeof(second));
	check(&image, 5, TRACE_REASON_SLED_BYTES, 1, "an entry that points behind the NOPs");
	memcpy(image.bytes + offset, &first, sizeof(first));

	map->sh_offset = image.size - 8;
	check_kind(&image, TRACE_KIND_PATCHABLE, TRACE_REASON_DAMAGED, "a table beyond the end of the file");
	map->sh_offset = UINT64_MAX - 8;
	check_kind(&image, TRACE_KIND_PATCHABLE, TRACE_REASON_DAMAGED, "a table at the end of the world");
	map->sh_offset = offset;
	map->sh_type = SHT_NOBITS;
	check_kind(&image, TRACE_KIND_PATCHABLE, TRACE_REASON_DAMAGED, "a table without contents");
	map->sh_type = SHT_PROGBITS;

	uint64_t headers = header(&image)->e_shoff;
	header(&image)->e_shoff = image.size + 64;
	check_kind(&image, TRACE_KIND_PATCHABLE, TRACE_REASON_DAMAGED, "section headers beyond the end of the file");
	header(&image)->e_shoff = headers;
	header(&image)->e_shstrndx = 0;
	check_kind(&image, TRACE_KIND_PATCHABLE, TRACE_REASON_NO_SITES, "sections without names");
	free(image.bytes);
}

/* Like sstrip. Functions are still listed: the dynamic segment and the unwind table suffice. */
static void test_no_sections(const struct image *good, const char *what)
{
	struct image image = copy(good);
	struct site_set set = {0};
	struct site_symbols symbols;
	size_t exported = 0;

	header(&image)->e_shoff = 0;
	header(&image)->e_shnum = 0;
	header(&image)->e_shstrndx = 0;
	check_kind(&image, TRACE_KIND_XRAY, TRACE_REASON_NO_SECTIONS, what);
	check_kind(&image, TRACE_KIND_PATCHABLE, TRACE_REASON_NO_SECTIONS, what);
	int fd = file_of(&image);
	is_int(site_symbols(&set, fd, &symbols), 0, "%s: its functions can be listed", what);
	close(fd);
	for (size_t i = 0; i < symbols.count; i++)
		exported += symbols.symbol[i].exported;
	is_int((long long)exported, 4, "%s: 4 functions are exported", what);
	ok(symbols.count >= 5, "%s: the local one is found too", what);
	is_int((long long)symbols.calls, 1, "%s: 1 is called through the PLT", what);
	site_free(&set);
	free(image.bytes);
}

/* ---- guards ---- */

/* The description, in the file, of the note about guards. */
static uint8_t *guard_note(const struct image *image)
{
	const Elf64_Shdr *notes = section(image, ".note.xaudit");

	for (uint64_t at = 0; at < notes->sh_size;) {
		Elf64_Nhdr head;
		memcpy(&head, image->bytes + notes->sh_offset + at, sizeof(head));
		if (head.n_type == GUARD_NOTE)
			return image->bytes + notes->sh_offset + at + sizeof(head) + 8;
		at += sizeof(head) + ((head.n_namesz + 3) & ~3u) + ((head.n_descsz + 3) & ~3u);
	}
	bail("the fixture has no note of guards");
}

/* Adds to a field of entry n of the table: 0 site, 1 target. */
static void move(struct image *image, int n, int field, int64_t by)
{
	uint8_t *p = image->bytes + section(image, "xaudit_guards")->sh_offset + n * (int)sizeof(struct guard_entry) +
		     8 * field;
	int64_t value;

	memcpy(&value, p, sizeof(value));
	value += by;
	memcpy(p, &value, sizeof(value));
}

static int64_t field(const struct image *image, int n, int which)
{
	int64_t value;

	memcpy(&value,
		image->bytes + section(image, "xaudit_guards")->sh_offset + n * (int)sizeof(struct guard_entry) +
			8 * which,
		sizeof(value));
	return value + n * (int)sizeof(struct guard_entry) + 8 * which;
}

static void test_guard_entries(const struct image *good)
{
	static const struct {
		const char *what;
		int field;
		int64_t by;
		enum trace_reason reason;
	} damages[] = {
		{"a guard between two instructions", 0, 1, TRACE_REASON_SLED_BYTES},
		{"a guard far outside of the file", 0, 1ll << 40, TRACE_REASON_DAMAGED},
		{"a guard at the end of the world", 0, INT64_MAX, TRACE_REASON_DAMAGED},
		{"guarded code far outside of the file", 1, -(1ll << 40), TRACE_REASON_DAMAGED},
		{"guarded code further than a jump goes", 1, 1ll << 32, TRACE_REASON_DAMAGED},
	};
	struct image image = copy(good);

	check(&image, 2, TRACE_REASON_DAMAGED, 0, "undamaged guards");
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		move(&image, 0, damages[i].field, damages[i].by);
		check(&image, 1, damages[i].reason, 1, damages[i].what);
		move(&image, 0, damages[i].field, -damages[i].by);
	}
	int64_t target = field(&image, 0, 1), site = field(&image, 0, 0);
	move(&image, 0, 1, site + 2 - target);
	check(&image, 1, TRACE_REASON_DAMAGED, 1, "guarded code within the guard");
	move(&image, 0, 1, target - (site + 2));

	/* Replaces the second entry, which is another function's first one, by a copy of the first entry. */
	int64_t by[2] = {site - field(&image, 1, 0), target - field(&image, 1, 1)};
	move(&image, 1, 0, by[0]);
	move(&image, 1, 1, by[1]);
	check(&image, 2, TRACE_REASON_DAMAGED, 0, "a guard that is listed twice");
	move(&image, 1, 1, -1);
	check(&image, 1, TRACE_REASON_DAMAGED, 1, "a guard of two codes");
	move(&image, 1, 0, -by[0]);
	move(&image, 1, 1, 1 - by[1]);
	check(&image, 2, TRACE_REASON_DAMAGED, 0, "guards as they were");
	header(&image)->e_shoff = 0;
	header(&image)->e_shnum = 0;
	header(&image)->e_shstrndx = 0;
	check(&image, 2, TRACE_REASON_DAMAGED, 0, "guards without section headers");
	free(image.bytes);
}

static void test_guard_notes(const struct image *good)
{
	struct image image = copy(good);
	struct guard_note note, was;
	uint8_t *p = guard_note(&image);

	memcpy(&was, p, sizeof(was));
#define DAMAGED(what, reason, change)                              \
	do {                                                       \
		note = was;                                        \
		change;                                            \
		memcpy(p, &note, sizeof(note));                    \
		check_kind(&image, TRACE_KIND_GUARD, reason, what); \
	} while (0)
	DAMAGED("a table of another version", TRACE_REASON_DAMAGED, note.version = 2);
	DAMAGED("a table of other entries", TRACE_REASON_DAMAGED, note.entry_size = 8);
	DAMAGED("a table of half an entry", TRACE_REASON_DAMAGED, note.end -= 40);
	DAMAGED("a table that ends before it begins", TRACE_REASON_DAMAGED, note.end -= 4096);
	DAMAGED("a table that goes on behind the file", TRACE_REASON_DAMAGED, note.end += 1ll << 40);
	DAMAGED("a table at the end of the world", TRACE_REASON_DAMAGED, note.start = note.end = INT64_MAX - 15);
	DAMAGED("an empty table", TRACE_REASON_NO_SITES, note.start = note.end + 8);
#undef DAMAGED
	memcpy(p, &was, sizeof(was));
	uint32_t type = 3;
	memcpy(p - 12, &type, sizeof(type));
	check_kind(&image, TRACE_KIND_GUARD, TRACE_REASON_NO_SITES, "a note of another type");
	free(image.bytes);
}

/* ---- at random ---- */

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t rnd(uint64_t limit)
{
	/* xorshift64*: equal on every machine, so that a failure can be repeated. */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1d % limit;
}

/* Scans one damaged file. */
static int try(const struct image *image, unsigned *scanned)
{
	struct site_set set = {0};
	struct site_symbols symbols;
	int wrong = 0, fd = file_of(image), r = site_scan(&set, fd, MEANT_KINDS);

	if (!r) {
		++*scanned;
		wrong += broken(image, &set);
	} else {
		wrong += r != -ENOEXEC;
	}
	r = site_symbols(&set, fd, &symbols);
	wrong += r && r != -ENOEXEC;
	for (size_t i = 1; !r && i < symbols.count; i++)
		wrong += symbols.symbol[i].address <= symbols.symbol[i - 1].address;
	close(fd);
	site_free(&set);
	return wrong;
}

/* Where bits are flipped: anywhere, or in the most important tables. */
static size_t place(const struct image *good)
{
	static const char *const names[] = {
		".dynamic", ".dynsym", ".eh_frame_hdr", ".rela.dyn", ".text", ".note.gnu.build-id"};
	const Elf64_Ehdr *head = header(good);

	switch (rnd(4)) {
	case 0:
		return rnd(sizeof(Elf64_Ehdr) + head->e_phnum * sizeof(Elf64_Phdr));
	case 1:
		return head->e_shoff + rnd(head->e_shnum * sizeof(Elf64_Shdr));
	case 2: {
		const Elf64_Shdr *s = section(good, names[rnd(sizeof(names) / sizeof(*names))]);
		return s->sh_offset + rnd(s->sh_size);
	}
	default:
		return rnd(good->size);
	}
}

static void test_random(const struct image *good, const char *map, const char *what)
{
	unsigned scanned = 0, rounds = 300;
	const Elf64_Shdr *table = section(good, map);
	int wrong = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct image image = copy(good);
		image.size = rnd(good->size);
		wrong += try(&image, &scanned);
		free(image.bytes);
	}
	is_int(wrong, 0, "%s: cut short %u times, what is found is in the file", what, rounds);
	ok(scanned > 0, "%s: some of these could be scanned", what);

	scanned = 0;
	for (unsigned i = 0; i < rounds; i++) {
		struct image image = copy(good);
		for (uint64_t n = 1 + rnd(8); n; n--)
			image.bytes[place(good)] ^= 1 << rnd(8);
		if (rnd(2))
			image.bytes[table->sh_offset + rnd(table->sh_size)] ^= 1 << rnd(8);
		wrong += try(&image, &scanned);
		free(image.bytes);
	}
	is_int(wrong, 0, "%s: with bits flipped %u times, what is found is in the file", what, rounds);
	ok(scanned > rounds / 4, "%s: many of these could be scanned", what);
}

#define PATCH "-shared -fPIC -Wl,-z,norelro -fpatchable-function-entry="

int main(void)
{
	struct image image;

	fixture_start();
	image = load(fixture_make("fixed", "gcc -DWITH_MAIN -no-pie -fpatchable-function-entry=5"));
	if (!image.bytes)
		bail("can't build a program");
	test_patchable(&image);
	test_random(&image, "__patchable_function_entries", "a program with patchable functions");
	free(image.bytes);

	image = load(
		fixture_make("patchable", "gcc -nostdlib -s " PATCH "16,14 -fcf-protection=full -Wl,--hash-style=gnu"));
	if (!image.bytes)
		bail("can't build a library");
	test_no_sections(&image, "no section headers, DT_GNU_HASH");
	test_random(&image, "__patchable_function_entries", "a stripped library with patchable functions");
	free(image.bytes);
	image = load(fixture_make("sysv", "gcc -nostdlib " PATCH "5 -Wl,--hash-style=sysv"));
	if (!image.bytes)
		bail("can't build a library");
	test_no_sections(&image, "no section headers, DT_HASH");
	free(image.bytes);

	image = load(fixture_make("guard", "gcc -DWITH_GUARD -I\"$top_srcdir\" -shared -fPIC"));
	if (!image.bytes)
		bail("can't build a library with guards");
	test_guard_entries(&image);
	test_guard_notes(&image);
	test_random(&image, "xaudit_guards", "a library with guards");
	test_random(&image, ".note.xaudit", "the note of a library with guards");
	free(image.bytes);

	image = load(fixture_make("xray", "clang -shared -fPIC -fxray-instrument -fxray-instruction-threshold=1"));
	if (image.bytes) {
		test_xray(&image);
		test_random(&image, "xray_instr_map", "a library with XRay sleds");
		free(image.bytes);
	} else {
		skip(1, "no clang with XRay");
	}
	return done_testing();
}
