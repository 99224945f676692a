/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "tool/index/runtimes.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/image.h"

#define OCAML "caml_frametable"

/*
 * They compile while a program runs, and collect garbage. What their code calls is the last frame that they see: they
 * take its return address out of the stack, for the table of what lies in registers and in the frame there. An
 * unwinder's way, by CFI, they don't go.
 */
static const char *const walkers[] = {
	"JNI_CreateJavaVM",			   /* HotSpot */
	"_ZN2v87Isolate3NewERKNS0_12CreateParamsE", /* V8: node, Chromium */
	OCAML, /* compiled to machine code */
	"mono_jit_init",
};

/*
 * .NET's: a fault in one of some functions, which have no names in a stripped file (write barriers), is the exception
 * of a null reference; anywhere else it ends the program. So is one in code that it compiled before (NativeAOT).
 */
#define NET	    "coreclr_initialize"
#define NET_SECTION "__managedcode"

/* HotSpot's, which may read where nothing is: it knows the instruction. */
static const char *const fetches[] = { "SafeFetch32_impl", "SafeFetchN_impl" };

/* Runtimes of wasm, and what these compiled: a fault there is the module's, which is told by where it was. */
static const char *const wasm[] = {
	"wasm_engine_new",	  /* the API of wasmtime, wasmer and others */
	"wasm_runtime_full_init", /* WAMR */
	"WasmEdge_VMCreate",
	"wasm.code",		  /* WasmEdge's module */
};
#define WASMER "WASMER_METADATA" /* a module, with a name behind it */

/*
 * OCaml's units are between such symbols: camlMain__code_begin, or, with the sign that later versions have,
 * camlMain.code_begin. Where a stack overflows in between there is an exception: told by the instruction pointer, and
 * our trampoline would be what meets the end of the stack. Stacks of OCaml 5 have no room for one.
 */
#define UNIT  "caml"
#define BEGIN "code_begin"
#define END   "code_end"

/* V8's own functions, position-independent, are copied to where its heap is, so that calls are short. */
#define BLOB	  "v8_Default_embedded_blob_code_"
#define BLOB_SIZE "v8_Default_embedded_blob_code_size_"

/*
 * Go's: goroutines' stacks begin with 2 KiB, and move; whoever grows them walks them. In libraries the linker makes
 * .data.rel.ro of the first two.
 */
static const char *const go[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid" };

/*
 * glibc's, from 2.41 on: the one way into all system calls in which a thread may be cancelled. Between a test whether
 * it is and the system call's end a signal ends the thread, which is told by the instruction pointer; anywhere else it
 * would go on, and wait for good. No symbol of a stripped file tells of it: these are all instructions behind the test.
 */
static const uint8_t cancelled[] = { 0x49, 0x89, 0xfb, 0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7, 0x48, 0x89, 0xce, 0x4c, 0x89,
	0xc2, 0x4d, 0x89, 0xca, 0x4c, 0x8b, 0x44, 0x24, 0x08, 0x4c, 0x8b, 0x4c, 0x24, 0x10, 0x4c, 0x89, 0x5c, 0x24,
	0x08, 0x0f, 0x05 };
#define CANCELLED_TEST 11 /* bytes before */
#define CANCELS	       "pthread_cancel"

static bool ends_with(const char *name, size_t length, const char *end, size_t n)
{
	return length > n && !memcmp(name + length - n, end, n) && strchr("_.$", name[length - n - 1]);
}

static void add_bound(struct image *image, uint64_t address, int step)
{
	if (!(image->bounds & (image->bounds - 1)))
		image->bound =
			memory_resize(image->bound, image->bounds ? 2 * image->bounds : 1, sizeof(*image->bound));
	image->bound[image->bounds++] = (struct image_bound){ address, step };
}

static void ocaml(struct image *image, const char *name, uint64_t address)
{
	size_t length = strlen(name);
	bool begins = ends_with(name, length, BEGIN, sizeof(BEGIN) - 1);

	if (strncmp(name, UNIT, sizeof(UNIT) - 1) || (!begins && !ends_with(name, length, END, sizeof(END) - 1)))
		return;
	add_bound(image, address, begins ? 1 : -1);
	image->units = true;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

#define AMONG(name, names) is_among(name, names, sizeof(names) / sizeof(*(names)))

void image_runtime_symbol(struct image *image, const char *name, uint64_t address)
{
	size_t size;

	image->walks |= AMONG(name, walkers);
	image->cancels |= !strcmp(name, CANCELS);
	image->judges |= !strcmp(name, NET);
	image->compiled |= AMONG(name, wasm) || !strncmp(name, WASMER, sizeof(WASMER) - 1);
	image->ocaml |= !strcmp(name, OCAML);
	if (AMONG(name, fetches)) {
		add_bound(image, address, 1);
		add_bound(image, address + 1, -1);
	}
	ocaml(image, name, address);
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

static int by_address(const void *a, const void *b)
{
	const struct image_bound *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void find_cancelled(struct image *image)
{
	for (size_t c = 0; image->cancels && c < image->codes; c++) {
		const struct image_code *code = &image->code[c];
		const uint8_t *p = memmem(code->bytes, code->size, cancelled, sizeof(cancelled));
		if (!p || p - code->bytes < CANCELLED_TEST)
			continue;
		uint64_t address = code->address + (uint64_t)(p - code->bytes);
		add_bound(image, address - CANCELLED_TEST, 1);
		add_bound(image, address + sizeof(cancelled), -1);
	}
}

bool image_is_compiled(const struct image *image, uint64_t address)
{
	size_t behind = SEARCH(i, 0, image->bounds, image->bound[i].address <= address);

	return image->compiled || (behind && image->bound[behind - 1].depth > 0);
}

void image_runtime(struct image *image)
{
	Elf64_Shdr section;

	if (!image->copied)
		image->copied_end = 0;
	image->copied_end += image->copied;
	find_cancelled(image);
	if (image->bounds)
		qsort(image->bound, image->bounds, sizeof(*image->bound), by_address);
	for (size_t i = 1; i < image->bounds; i++)
		image->bound[i].depth += image->bound[i - 1].depth;
	image->compiled |= image->ocaml && !image->units;
	for (size_t s = 1; site_section(&image->file, s, &section); s++) {
		bool net = site_section_named(&image->file, &section, NET_SECTION, 0) != 0;
		image->walks |= net;
		image->judges |= net;
		for (size_t i = 0; i < sizeof(go) / sizeof(*go); i++)
			image->foreign |= site_section_named(&image->file, &section, go[i], 0) != 0;
		/* GraalVM's native image */
		image->walks |= site_section_named(&image->file, &section, ".svm_heap", 0) != 0;
	}
}
