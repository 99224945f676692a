/* SPDX-License-Identifier: MIT */
/*
 * Runtimes of languages that do with code, stacks and return addresses what only a kernel or a debugger is expected to
 * do. What they hold is told by symbols that embedders need, or by sections that strip leaves.
 */
#include <string.h>

#include "tool/index/image.h"

/*
 * They compile while a program runs, and collect garbage. What their code calls is the last frame that they see: they
 * take its return address out of the stack, for the table of what lies in registers and in the frame there. An
 * unwinder's way, by CFI, they don't go.
 */
static const char *const walkers[] = {
	"JNI_CreateJavaVM",			   /* HotSpot */
	"_ZN2v87Isolate3NewERKNS0_12CreateParamsE", /* V8: node, Chromium */
	"caml_frametable",			   /* OCaml, compiled to machine code */
	"mono_jit_init",
};

/* V8's own functions, position-independent, are copied to where its heap is, so that calls are short. */
#define BLOB	  "v8_Default_embedded_blob_code_"
#define BLOB_SIZE "v8_Default_embedded_blob_code_size_"

/*
 * Go's: goroutines' stacks begin with 2 KiB, and move; whoever grows them walks them. In libraries the linker makes
 * .data.rel.ro of the first two.
 */
static const char *const go[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid" };

void image_runtime_symbol(struct image *image, const char *name, uint64_t address)
{
	size_t size;

	for (size_t i = 0; i < sizeof(walkers) / sizeof(*walkers); i++)
		image->walks |= !strcmp(name, walkers[i]);
	/*
	 * What Mono compiled before: its runtime takes the call that it came from for one of its own, and looks at the
	 * stub that this leads to.
	 */
	image->foreign |= !strcmp(name, "mono_aot_file_info");
	if (!strcmp(name, BLOB)) {
		image->copied = address;
	} else if (!strcmp(name, BLOB_SIZE)) {
		const uint8_t *p = site_file_at(&image->file, address, &size);
		uint32_t bytes;
		if (p && size >= sizeof(bytes)) {
			memcpy(&bytes, p, sizeof(bytes));
			image->copied_end = bytes; /* a size, until both are known */
		}
	}
}

void image_runtime(struct image *image)
{
	Elf64_Shdr section;

	if (!image->copied)
		image->copied_end = 0;
	image->copied_end += image->copied;
	for (size_t s = 1; site_section(&image->file, s, &section); s++) {
		for (size_t i = 0; i < sizeof(go) / sizeof(*go); i++)
			image->foreign |= site_section_named(&image->file, &section, go[i], 0) != 0;
		/* GraalVM's native image */
		image->walks |= site_section_named(&image->file, &section, ".svm_heap", 0) != 0;
	}
}
