/* SPDX-License-Identifier: MIT */
/* The hash by which files share an index: what of a file counts, and what does not. */
#define _GNU_SOURCE
#include "tool/index/content.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/site/elf_file.h"
#include "t/lib/tap.h"

#define CODE 5000 /* bytes behind the headers */

struct made {
	Elf64_Ehdr header;
	Elf64_Phdr segment[2];
	uint8_t code[CODE];
	uint8_t rest[100]; /* of no segment */
};

static struct made sample(void)
{
	struct made made = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				     .e_type = ET_DYN,
				     .e_machine = EM_X86_64,
				     .e_version = EV_CURRENT,
				     .e_phoff = offsetof(struct made, segment),
				     .e_ehsize = sizeof(Elf64_Ehdr),
				     .e_phentsize = sizeof(Elf64_Phdr),
				     .e_phnum = 2 } };
	const size_t half = offsetof(struct made, code) + CODE / 2;

	made.segment[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = half, .p_memsz = half };
	made.segment[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = half,
		.p_vaddr = 0x10000,
		.p_filesz = CODE / 2,
		.p_memsz = CODE };
	for (int i = 0; i < CODE; i++)
		made.code[i] = (uint8_t)(i * 7);
	return made;
}

static uint8_t content[INDEX_CONTENT], plain[INDEX_CONTENT];

static int is_other(const struct made *made, size_t size)
{
	struct site_file file;
	int fd = memfd_create("content", 0);

	if (fd < 0 || write(fd, made, size) != (ssize_t)size || site_file_open(&file, fd))
		bail("the sample can't be opened");
	content_read(&file, content);
	site_file_close(&file);
	close(fd);
	return memcmp(content, plain, sizeof(plain)) != 0;
}

static void files(void)
{
	struct made made = sample();
	int alike = 0;

	is_other(&made, sizeof(made));
	memcpy(plain, content, sizeof(plain));
	ok(!is_other(&made, sizeof(made)), "the same file has the same");
	for (size_t at = 0; at < CODE; at++) {
		made.code[at] ^= 1;
		alike += !is_other(&made, sizeof(made));
		made.code[at] ^= 1;
	}
	is_int(alike, 0, "each byte of each segment counts");
	made.segment[1].p_vaddr += 4096;
	ok(is_other(&made, sizeof(made)), "so does where it lies in memory");
	made = sample();
	made.segment[1].p_flags |= PF_W;
	ok(is_other(&made, sizeof(made)), "and what may be done there");
	made = sample();
	made.segment[0].p_filesz += 64;
	made.segment[1].p_offset += 64;
	made.segment[1].p_filesz -= 64;
	ok(is_other(&made, sizeof(made)), "and which segment holds it");
	made = sample();
	made.header.e_entry = 1;
	ok(is_other(&made, sizeof(made)), "and where the program begins");
	made = sample();
	made.header.e_shoff = 77;
	made.header.e_shnum = 5;
	made.header.e_shstrndx = 4;
	made.header.e_shentsize = sizeof(Elf64_Shdr);
	made.rest[3] = 9;
	ok(!is_other(&made, sizeof(made)), "sections don't, nor what no segment holds");
	ok(!is_other(&made, offsetof(struct made, rest)), "nor that it is gone");
	ok(is_other(&made, offsetof(struct made, rest) - 1), "a segment that is cut off is another one");
	/* As often as the file is large: it must not cost more than once. */
	made = sample();
	made.segment[0].p_filesz = made.segment[1].p_filesz = sizeof(made);
	made.segment[1].p_offset = 0;
	memcpy(plain, is_other(&made, sizeof(made)) ? content : plain, sizeof(plain));
	made.rest[99] ^= 1;
	ok(is_other(&made, sizeof(made)), "segments that overlap: all of the file counts");
	made = sample();
	made.segment[1].p_offset = UINT64_MAX - 10;
	made.segment[1].p_filesz = 100;
	is_other(&made, sizeof(made));
	ok(1, "one that wraps around, or begins behind the end, does no harm");
}

int main(void)
{
	files();
	return done_testing();
}
