/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/index/index.h"
#include "audit/site/symbol.h"
#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/base/thread.h"
#include "tool/index/content.h"
#include "tool/index/frames.h"
#include "tool/index/image_names.h"
#include "tool/index/own_file.h"

#define MOST_TICKS 1200 /* of a millisecond and what the kernel adds: a second, and a little more */

static int by_address(const void *a, const void *b)
{
	const struct image_code *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void add_code(struct image *image, uint64_t address, uint64_t size, const uint8_t *bytes, bool plt)
{
	if (!bytes || !size || address + size < address)
		return;
	if (!(image->codes & (image->codes - 1)))
		image->code = memory_resize(image->code, image->codes ? 2 * image->codes : 1, sizeof(*image->code));
	image->code[image->codes++] = (struct image_code){ address, size, bytes, plt };
}

static void read_code(struct image *image)
{
	struct site_file *file = &image->file;
	Elf64_Shdr section;
	size_t kept = 0;

	for (size_t s = 1; site_section(file, s, &section); s++)
		if (section.sh_flags & SHF_EXECINSTR && section.sh_flags & SHF_ALLOC)
			add_code(image, section.sh_addr, section.sh_size, site_section_bytes(file, &section),
				site_section_named(file, &section, ".plt", 1) ||
					site_section_named(file, &section, ".iplt", 1));
	for (size_t s = 0; s < file->segments; s++) {
		const Elf64_Phdr *segment = &file->segment[s];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		if (!image->high || segment->p_vaddr < image->low)
			image->low = segment->p_vaddr;
		if (segment->p_vaddr + segment->p_filesz > image->high)
			image->high = segment->p_vaddr + segment->p_filesz;
		if (!file->sections)
			add_code(image, segment->p_vaddr, segment->p_filesz,
				site_file_bytes(file, segment->p_offset, segment->p_filesz), false);
	}
	if (image->codes)
		qsort(image->code, image->codes, sizeof(*image->code), by_address);
	/* What is mapped is what segments say; sections that say something else, or overlap, are damaged. */
	for (size_t i = 0; i < image->codes; i++) {
		const struct image_code *code = &image->code[i];
		size_t size;
		const uint8_t *p = site_file_code(file, code->address, &size);
		if (p == code->bytes && size >= code->size &&
			(!kept || image->code[kept - 1].address + image->code[kept - 1].size <= code->address))
			image->code[kept++] = *code;
	}
	image->codes = kept;
}

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static int read_numbers(struct index_identity *identity, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	identity->device = st.st_dev;
	identity->inode = st.st_ino;
	identity->size = (uint64_t)st.st_size;
	identity->modified = nanoseconds(&st.st_mtim);
	identity->changed = nanoseconds(&st.st_ctim);
	return 0;
}

/*
 * The kernel takes times from this clock, which goes on at each tick. Where the time of change is that of now, another
 * change may have the same one. A time to come is no clock of ours.
 */
static void settle(int fd)
{
	struct index_identity identity;
	struct timespec now, tick = { .tv_nsec = 1000000 };

	for (int i = 0; i < MOST_TICKS && !read_numbers(&identity, fd); i++) {
		uint64_t whole = identity.changed % 1000000000u ? 1 : 1000000000u;
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		if (nanoseconds(&now) / whole > identity.changed / whole ||
			nanoseconds(&now) + 1000000000u < identity.changed)
			return;
		nanosleep(&tick, NULL);
	}
}

bool image_is_still(int fd, const struct index_identity *identity)
{
	struct index_identity now = *identity;

	return !read_numbers(&now, fd) && index_same_file(&now, identity);
}

static void read_build_id(struct image *image)
{
	struct index_identity *identity = &image->identity;
	struct site_file *file = &image->file;
	struct site_note note;

	for (size_t s = 0; s < file->segments && !identity->build_id_len; s++)
		for (int more = site_notes(file, &file->segment[s], &note); more && site_next_note(&note);)
			if (note.head.n_type == NT_GNU_BUILD_ID && note.head.n_namesz == 4 &&
				!memcmp(note.name, "GNU", 4) && note.head.n_descsz &&
				note.head.n_descsz <= INDEX_BUILD_ID_MAX) {
				identity->build_id_len = note.head.n_descsz;
				memcpy(identity->build_id, note.description, note.head.n_descsz);
				break;
			}
}

/* Opens the file, or a copy of it, whose descriptor is returned; or -errno. */
static int open_file(struct image *image, int fd)
{
	int r = read_numbers(&image->identity, fd), own = r ? r : own_copy(fd);

	if (own < 0)
		return own;
	r = site_file_open(&image->file, own);
	if (!r) {
		read_build_id(image);
		return own;
	}
	close(own);
	return r;
}

/* NULL: it has none. */
static const char *read_soname(struct site_file *file)
{
	for (size_t s = 0; s < file->segments; s++) {
		const Elf64_Phdr *segment = &file->segment[s];
		const uint8_t *p = segment->p_type == PT_DYNAMIC
					   ? site_file_bytes(file, segment->p_offset, segment->p_filesz)
					   : NULL;
		for (uint64_t i = 0; p && i + sizeof(Elf64_Dyn) <= segment->p_filesz; i += sizeof(Elf64_Dyn)) {
			Elf64_Dyn entry;
			size_t size;
			site_read(&entry, p + i);
			if (entry.d_tag == DT_NULL)
				break;
			if (entry.d_tag != DT_SONAME || entry.d_un.d_val >= file->dynamic.strtab_size)
				continue;
			const uint8_t *name = site_file_at(file, file->dynamic.strtab + entry.d_un.d_val, &size);
			return name && memchr(name, 0, size) ? (const char *)name : NULL;
		}
	}
	return NULL;
}

/* The dynamic linker says so by its name. */
static bool is_loader(struct image *image)
{
	const char *name = read_soname(&image->file);

	return name && (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld64.so", 7));
}

static bool has_symbols(const struct site_file *file)
{
	Elf64_Shdr section;

	for (size_t i = 1; site_section(file, i, &section); i++)
		if (section.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

static int identify(int fd, struct image_name *name, bool content)
{
	struct image image = { 0 };
	int own = open_file(&image, fd);

	*name = (struct image_name){ 0 };
	if (own < 0)
		return own;
	const char *soname = read_soname(&image.file);
	*name = (struct image_name){ .identity = image.identity,
		.soname = soname ? memory_text(soname, strlen(soname)) : NULL,
		.symbols = has_symbols(&image.file) };
	if (content)
		content_read(&image.file, name->content);
	site_file_close(&image.file);
	close(own);
	return 0;
}

int image_identify(int fd, struct image_name *name)
{
	return identify(fd, name, false);
}

int image_identify_content(int fd, struct image_name *name)
{
	settle(fd);
	return identify(fd, name, true);
}

const struct image_code *image_section(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->codes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct image_code *code = &image->code[middle];
		if (address < code->address)
			high = middle;
		else if (address - code->address >= code->size)
			low = middle + 1;
		else
			return code;
	}
	return NULL;
}

const uint8_t *image_code_at(const struct image *image, uint64_t address, size_t *size)
{
	const struct image_code *code = image_section(image, address);

	if (!code)
		return NULL;
	*size = code->size - (address - code->address);
	return code->bytes + (address - code->address);
}

size_t image_before(const struct image *image, uint64_t address)
{
	size_t low = SEARCH(i, 0, image->functions, image->function[i].address <= address);

	return low ? low - 1 : image->functions;
}

struct image_function *image_at(const struct image *image, uint64_t address)
{
	size_t i = image_before(image, address);

	return i < image->functions && image->function[i].address == address ? &image->function[i] : NULL;
}

static void read_slots(const struct image *image, uint64_t address, uint64_t length, image_slot *slot, void *arg)
{
	struct site_symtab table = site_dynsym(&image->file);
	size_t size;
	const uint8_t *p = address ? site_file_at(&image->file, address, &size) : NULL;

	for (size = p && size > length ? length : size; p && size >= sizeof(Elf64_Rela);
		p += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		Elf64_Sym symbol;
		site_read(&rela, p);
		uint32_t type = ELF64_R_TYPE(rela.r_info);
		if ((type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT && type != R_X86_64_64) ||
			ELF64_R_SYM(rela.r_info) >= table.count)
			continue;
		site_read(&symbol, table.symbol + ELF64_R_SYM(rela.r_info) * sizeof(symbol));
		const char *name = (const char *)table.text + symbol.st_name;
		bool whole = symbol.st_name < table.text_size && memchr(name, 0, table.text_size - symbol.st_name);
		slot(arg, &rela, &symbol, whole ? name : NULL);
	}
}

void image_slots(const struct image *image, image_slot *slot, void *arg)
{
	read_slots(image, image->file.dynamic.rela, image->file.dynamic.rela_size, slot, arg);
	read_slots(image, image->file.dynamic.jmprel, image->file.dynamic.jmprel_size, slot, arg);
}

/* By address; of one address the best name first, of equal ones the shorter. Nameless ones come last. */
static int by_rank(const void *a, const void *b)
{
	const struct image_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	if (!x->name || !y->name)
		return !x->name - !y->name;
	size_t length = strlen(x->name), other = strlen(y->name);
	return length != other ? (length > other) - (length < other) : strcmp(x->name, y->name);
}

/* Is this the name of a part that a compiler moved away? */
static bool is_cold(const char *name)
{
	const char *dot = name ? strstr(name, ".cold") : NULL;

	return dot && (!dot[5] || dot[5] == '.');
}

/* Takes the name over. */
static void add_alias(struct image *image, size_t function, const char *name)
{
	if (!(image->aliases & (image->aliases - 1)))
		image->alias =
			memory_resize(image->alias, image->aliases ? 2 * image->aliases : 1, sizeof(*image->alias));
	image->alias[image->aliases++] = (struct image_alias){ name, (uint32_t)function };
}

static void merge(struct image *image)
{
	size_t kept = 0;

	if (image->functions)
		qsort(image->function, image->functions, sizeof(*image->function), by_rank);
	for (size_t i = 0; i < image->functions; i++) {
		struct image_function *function = &image->function[i];
		const struct image_code *code = image_section(image, function->address);
		if (!code || code->plt) {
			free((char *)(uintptr_t)function->name);
			continue;
		}
		struct image_function *last = kept ? &image->function[kept - 1] : NULL;
		if (last && last->address == function->address) {
			last->exported |= function->exported;
			last->never |= function->never;
			last->resolver |= function->resolver;
			if (!last->size)
				last->size = function->size;
			/* A symbol without a name may have the best rank. */
			if (!last->name)
				last->piece = is_cold(last->name = function->name);
			else if (function->name && strcmp(function->name, last->name))
				add_alias(image, kept - 1, function->name);
			else
				free((char *)(uintptr_t)function->name);
			continue;
		}
		image->function[kept] = *function;
		image->function[kept].piece = is_cold(function->name);
		kept++;
	}
	image->functions = kept;
	for (size_t i = 0; i < kept; i++) {
		struct image_function *function = &image->function[i];
		const struct image_code *code = image_section(image, function->address);
		uint64_t end = code->address + code->size;
		if (i + 1 < kept && image->function[i + 1].address < end)
			end = image->function[i + 1].address;
		if (function->size && function->size < end - function->address)
			end = function->address + function->size;
		function->end = end;
		uint64_t first = function->address - code->address;
		function->skip = code->size - first >= SLED_ENDBR64_SIZE &&
						 sled_is_endbr64(code->bytes + first, SLED_ENDBR64_SIZE)
					 ? SLED_ENDBR64_SIZE
					 : 0;
		function->frame = frames_of(image->frames, function->address);
		/* Beyond 32 bits it is none. */
		if (function->size > UINT32_MAX)
			function->size = 0;
	}
}

static void *hash(void *argument)
{
	struct image *image = argument;

	content_read(&image->file, image->content);
	return NULL;
}

void image_hash(struct image *image, bool beside)
{
	if (image->hashed)
		return;
	image->hashed = true;
	image->hashes = beside && !tool_thread(&image->hasher, hash, image);
	if (!image->hashes)
		hash(image);
}

void image_hash_end(struct image *image)
{
	if (image->hashes)
		pthread_join(image->hasher, NULL);
	image->hashes = false;
}

int image_open(struct image *image, int fd, const char *path, const struct image_name *known)
{
	int own;

	*image = (struct image){ 0 };
	/* What is copied now may be something else. */
	if (!own_is(fd))
		known = NULL;
	if (!known)
		settle(fd);
	own = open_file(image, fd);
	if (own < 0)
		return own;
	read_code(image);
	/* Near jumps reach 2 GiB, so no code is larger, unless its tables are damaged. */
	if (image->high - image->low > UINT32_MAX) {
		close(own);
		image_close(image);
		return -ENOEXEC;
	}
	if (known) {
		image->identity = known->identity;
		memcpy(image->content, known->content, sizeof(image->content));
		image->hashed = true;
	}
	image->fixed = image->file.header->e_type == ET_EXEC;
	image->loader = is_loader(image);
	image->symbols = has_symbols(&image->file);
	image->frames = frames_read(&image->file);
	image_names(image, own, path);
	for (size_t i = 0; i < image->frames->count; i++)
		image_add(image, image->frames->frame[i].start, image->frames->frame[i].size, NULL, -1);
	merge(image);
	close(own);
	return 0;
}

void image_close(struct image *image)
{
	image_hash_end(image);
	for (size_t i = 0; i < image->functions; i++)
		free((char *)(uintptr_t)image->function[i].name);
	for (size_t i = 0; i < image->aliases; i++)
		free((char *)(uintptr_t)image->alias[i].name);
	free(image->function);
	free(image->alias);
	free(image->label);
	free(image->bound);
	free(image->code);
	frames_free(image->frames);
	site_file_close(&image->file);
	*image = (struct image){ 0 };
}
