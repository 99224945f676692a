/* SPDX-License-Identifier: MIT */
#include "tool/index/content.h"

#include <string.h>

#include "audit/site/file.h"

/* ---- SHA-256 (FIPS 180-4) ---- */

static const uint32_t first_state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
	0x1f83d9ab, 0x5be0cd19 };

static const uint32_t constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t word[64], v[8];

	for (int i = 0; i < 16; i++)
		word[i] = big_endian(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t x = word[i - 15], y = word[i - 2];
		word[i] = word[i - 16] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + word[i - 7] +
			  (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t one = v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & v[5]) ^ (~e & v[6])) +
			       constant[i] + word[i];
		uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
			       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
		v[7] = v[6];
		v[6] = v[5];
		v[5] = e;
		v[4] = v[3] + one;
		v[3] = v[2];
		v[2] = v[1];
		v[1] = a;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void content_begin(struct content_sum *sum)
{
	*sum = (struct content_sum){ 0 };
	memcpy(sum->state, first_state, sizeof(sum->state));
}

void content_add(struct content_sum *sum, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	size_t kept = sum->size % CONTENT_BLOCK;

	sum->size += size;
	while (size) {
		if (!kept && size >= CONTENT_BLOCK) {
			add_block(sum->state, p);
			p += CONTENT_BLOCK;
			size -= CONTENT_BLOCK;
			continue;
		}
		size_t n = CONTENT_BLOCK - kept < size ? CONTENT_BLOCK - kept : size;
		memcpy(sum->rest + kept, p, n);
		p += n;
		size -= n;
		kept += n;
		if (kept == CONTENT_BLOCK) {
			add_block(sum->state, sum->rest);
			kept = 0;
		}
	}
}

void content_end(struct content_sum *sum, uint8_t to[CONTENT_SUM])
{
	static const uint8_t end[CONTENT_BLOCK] = { 0x80 };
	uint64_t bits = sum->size * 8;
	size_t kept = sum->size % CONTENT_BLOCK;
	uint8_t size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (uint8_t)(bits >> (56 - 8 * i));
	content_add(sum, end, (kept < CONTENT_BLOCK - sizeof(size) ? 1 : 2) * CONTENT_BLOCK - sizeof(size) - kept);
	content_add(sum, size, sizeof(size));
	for (int i = 0; i < CONTENT_SUM; i++)
		to[i] = (uint8_t)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- of a file ---- */

/* What the header says of sections, as zeros. */
static Elf64_Ehdr plain_header(const struct site_file *file)
{
	Elf64_Ehdr header;

	site_read(&header, file->header);
	header.e_shoff = 0;
	header.e_shentsize = header.e_shnum = header.e_shstrndx = 0;
	return header;
}

/* What of the file is loaded by this segment, without the ELF header. Returns its size. */
static uint64_t part_of(const struct site_file *file, const Elf64_Phdr *segment, uint64_t *from)
{
	uint64_t end = segment->p_offset + segment->p_filesz;

	if (segment->p_type != PT_LOAD)
		return 0;
	*from = segment->p_offset < sizeof(Elf64_Ehdr) ? sizeof(Elf64_Ehdr) : segment->p_offset;
	/* A file may be shorter than it says. */
	if (end > file->size || end < segment->p_offset)
		end = file->size;
	return end > *from ? end - *from : 0;
}

void content_read(const struct site_file *file, uint8_t content[INDEX_CONTENT])
{
	const Elf64_Ehdr header = plain_header(file);
	struct content_sum sum;
	uint8_t whole[CONTENT_SUM];
	uint64_t from, size = 0;

	content_begin(&sum);
	content_add(&sum, &header, sizeof(header));
	content_add(&sum, file->segment, file->segments * sizeof(*file->segment));
	for (size_t s = 0; s < file->segments && size <= file->size; s++)
		size += part_of(file, &file->segment[s], &from);
	/* In a damaged file thousands of segments may hold all of it, each. */
	if (size > file->size)
		content_add(&sum, file->base, file->size);
	for (size_t s = 0; s < file->segments && size <= file->size; s++) {
		uint64_t part = part_of(file, &file->segment[s], &from);
		if (part)
			content_add(&sum, site_file_bytes(file, from, part), part);
	}
	content_end(&sum, whole);
	memcpy(content, whole, INDEX_CONTENT);
}
