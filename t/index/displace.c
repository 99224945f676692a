/* SPDX-License-Identifier: MIT */
/*
 * Displaced instructions do what they do in place. Each case is a handful of bytes of code, run in place and as a
 * displaced copy, from the same state of registers, flags, vector registers, memory and stack; then both are compared,
 * and how they were left: behind the displaced bytes, by a branch, or by a fault, with its address.
 *
 * Cases are all that can be built of opcodes with an operand relative to rip, all direct branches and calls, and random
 * bytes. All of it lies in the middle of 32 GiB that nobody can access, so what random code addresses is ours or
 * faults.
 */
#define _GNU_SOURCE
#include "x86_64/displace.h"

#include <cpuid.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "t/lib/random.h"
#include "t/lib/tap.h"
#include "tool/index/decode.h"
#include "tool/index/template.h"

#define RESERVED  (32ul << 30)
#define CODE_SIZE 4096u
#define DATA_SIZE 8192u
#define FUNCTION  0x400u /* in the page of code */
#define TAKEN	  0x440u /* within reach of eight bits */
#define EXIT	  0x800u /* another such place, for pointers: far from the code, which they may read */
#define FAR	  (1536ul << 20)

struct machine {
	uint64_t reg[16];
	uint64_t flags;
	uint64_t way; /* 1: behind, 2: taken; else the signal, plus 100 */
	uint64_t fault, rip, zero[4];
	uint8_t fx[512]
		__attribute__((aligned(64))); /* what xsave and xrstor take: x87 and SSE, all else as it begins */
	uint64_t header[8];
};

void displace_run(const struct machine *in, struct machine *out, const void *code);
void displace_through(void);
void displace_taken(void);
void displace_finish(void);
extern uint64_t displace_rsp; /* of the test, while code runs */

/* Addresses to run at, and the same pages to write to. */
static uint8_t *function_page, *near_page, *far_page, *exit_page;
static uint8_t *function_write, *near_write, *far_write;
static uint8_t *data, *stack;
static struct machine *now;

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t draw(void)
{
	return random_number(&state);
}

static void handler(int number, siginfo_t *info, void *arg)
{
	static const int order[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8,
		REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	ucontext_t *context = arg;
	greg_t *reg = context->uc_mcontext.gregs;
	static const char lost[] = "Bail out! the way back to the test faults\n";

	if (reg[REG_RIP] == (greg_t)(uintptr_t)displace_finish) {
		ssize_t written = write(STDOUT_FILENO, lost, sizeof(lost) - 1);
		_exit(written > 0 ? 255 : 254);
	}
	for (int i = 0; i < 16; i++)
		now->reg[i] = (uint64_t)reg[order[i]];
	now->flags = (uint64_t)reg[REG_EFL] & ~0x10000ul; /* RF is the processor's business */
	now->way = 100 + (uint64_t)number;
	now->fault = number == SIGSEGV || number == SIGBUS ? (uint64_t)info->si_addr : 0;
	now->rip = (uint64_t)reg[REG_RIP];
	memcpy(now->fx, context->uc_mcontext.fpregs, sizeof(now->fx));
	reg[REG_RIP] = (greg_t)(uintptr_t)displace_finish;
	/* To one that no address can be, which the code may have left, some processors don't return from the kernel. */
	reg[REG_RSP] = (greg_t)displace_rsp;
	reg[REG_EFL] = 2;
}

#define EXIT_SIZE 14

/* jmp *0(%rip) and the address: reaches all, changes nothing. */
static void put_exit(uint8_t *at, void (*to)(void))
{
	uint64_t address = (uint64_t)(uintptr_t)to;

	memcpy(at, "\xff\x25\0\0\0\0", 6);
	memcpy(at + 6, &address, 8);
}

static void draw_state(struct machine *in)
{
	*in = (struct machine){ .flags = (draw() & 0x8d5) | (draw() % 8 ? 0 : 0x400) | 2, .header = { 3 } };
	for (int i = 0; i < 16; i++) {
		uint64_t kind = draw() % 8;
		in->reg[i] = kind < 4	? (uint64_t)data + 8 * (draw() % (DATA_SIZE / 8))
			     : kind < 5 ? (uint64_t)(exit_page + EXIT)
			     : kind < 7 ? draw() % 16
					: draw();
	}
	in->reg[4] = (uint64_t)stack + 2048 + 8 * (draw() % 8);
	for (size_t i = 0; i < sizeof(in->fx) - 96; i += 8) {
		uint64_t word = draw();
		memcpy(in->fx + i, &word, 8);
	}
	/* x87 and SSE control: all exceptions masked, as a program begins; sometimes not. */
	uint16_t control = draw() % 16 ? 0x37f : 0x340, status = 0;
	uint32_t mxcsr = draw() % 16 ? 0x1f80 : 0x1e80;
	memset(in->fx, 0, 32);
	memcpy(in->fx, &control, 2);
	memcpy(in->fx + 2, &status, 2);
	memcpy(in->fx + 24, &mxcsr, 4);
}

static uint64_t pattern[DATA_SIZE / 8 + 512];

static void fill_memory(uint64_t seed)
{
	state = seed;
	for (size_t i = 0; i < sizeof(pattern) / sizeof(*pattern); i++)
		pattern[i] = draw() % 4 ? draw() : (uint64_t)(exit_page + EXIT);
}

static void set_memory(void)
{
	memcpy(data, pattern, DATA_SIZE);
	memcpy(stack, (uint8_t *)pattern + DATA_SIZE, 4096);
}

/* Would running it change the test itself, or give another result each time? */
static int is_left_out(const struct insn *insn)
{
	unsigned group = insn->reg & 7;

	if (insn->segment)
		return 1;
	if (insn->map == 0)
		return insn->opcode == 0x8e || insn->opcode == 0x9d ||
		       (insn->opcode == 0xd9 && insn->memory && group == 6) ||
		       (insn->opcode == 0xdd && insn->memory && group == 6);
	if (insn->map != 1)
		return 0;
	switch (insn->opcode) {
	case 0x31:
	case 0x33:
	case 0xa1:
	case 0xa2:
	case 0xa9:
	case 0xb2:
	case 0xb4:
	case 0xb5:
		return 1;
	case 0x01:
	case 0xc7:
		return !insn->memory || (insn->opcode == 0xc7 && group != 1);
	case 0xae:
		return !insn->memory || (group != 2 && group != 3);
	default:
		return 0;
	}
}

/* May it be displaced, as tool/index/entry.h has it: does no branch lead into the displaced bytes? */
static int may_displace(const uint8_t *bytes, const struct template *template, unsigned need, int *runs)
{
	unsigned covered = template->length > need ? template->length : need;
	struct insn insn;

	*runs = 1;
	for (unsigned at = 0; at < template->length; at += insn.length) {
		if (!insn_decode(bytes + at, 20, FUNCTION + at, &insn))
			return 0;
		*runs &= !is_left_out(&insn);
		if (!insn_has_target(&insn))
			continue;
		if (insn.target >= FUNCTION && insn.target < FUNCTION + covered)
			return 0;
		/* The address in a way out, taken for code, may be anything. */
		*runs &= insn.target - (FUNCTION + template->length) - 1 >= EXIT_SIZE - 1 &&
			 insn.target - TAKEN - 1 >= EXIT_SIZE - 1;
	}
	return 1;
}

static struct {
	unsigned cases, refused, wrong, in_place, ways[3];
} seen;

static void wrong(const uint8_t *bytes, const struct template *template, const char *what)
{
	char text[64] = "";

	if (seen.wrong++ >= 10)
		return;
	for (unsigned i = 0; i < template->length; i++)
		snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
	diag("%s: %s", text, what);
}

/* call: where the call in place is, of a copy that has one; else code. */
static void run(const uint8_t *code, size_t size, const uint8_t *call, const struct machine *in, struct machine *out)
{
	set_memory();
	*out = (struct machine){ 0 };
	now = out;
	displace_run(in, out, code);
	/* Inside is inside, in place or not. An int3 that traps is the byte before. */
	out->rip -= out->way == 100 + SIGTRAP;
	if (out->rip - (uint64_t)code < size || out->rip == (uint64_t)call)
		out->rip = 1;
	/* The address of the last x87 instruction. */
	memset(out->fx + 8, 0, 8);
}

/* Runs one case, a call made in place or by the copy. Returns 0 when it is refused. */
static int try_one(const uint8_t *bytes, unsigned need, bool in_place)
{
	static uint8_t after[DATA_SIZE + 4096];
	static struct machine in, placed, moved;
	struct {
		struct index_template head;
		struct index_fixup fixup[INDEX_FIXUPS_MAX];
		uint8_t bytes[INDEX_TEMPLATE_MAX];
	} whole;
	struct template template;
	int runs, far = draw() % 2;
	uint8_t *page = far ? far_page : near_page, *write = far ? far_write : near_write, copy[INDEX_TEMPLATE_MAX];
	uint8_t call[DISPLACE_CALL_MAX];

	if (template_make(&template, bytes, 20, FUNCTION, FUNCTION, need, 0, in_place) != INDEX_REASON_USABLE ||
		!may_displace(bytes, &template, need, &runs)) {
		seen.refused++;
		return 0;
	}
	if (!runs || (in_place && !template.call))
		return 0;
	memset(&whole, 0, sizeof(whole));
	whole.head = (struct index_template){ .size = template.size, .fixups = template.fixups, .call = template.call };
	memcpy(whole.fixup, template.fixup, template.fixups * sizeof(*whole.fixup));
	memcpy((uint8_t *)(whole.fixup + template.fixups), template.bytes, template.size);
	size_t at = 0x100 + draw() % 16;
	size_t size = displace_template_size(&whole, sizeof(whole))
			      ? displace_copy(&whole.head, (uint64_t)function_page, FUNCTION, (uint64_t)page + at, copy,
					sizeof(copy))
			      : 0;
	/* What random operands reach may be too far from the copy: that is refused at load. */
	if (!size) {
		seen.refused++;
		return 0;
	}
	memset(function_write, 0xcc, CODE_SIZE);
	memcpy(function_write + FUNCTION, bytes, template.length);
	put_exit(function_write + FUNCTION + template.length, displace_through);
	put_exit(function_write + TAKEN, displace_taken);
	draw_state(&in);
	run(function_page + FUNCTION, template.length, function_page + FUNCTION, &in, &placed);
	memcpy(after, data, DATA_SIZE);
	memcpy(after + DATA_SIZE, stack, 4096);
	/* The copy must not go back into what was displaced, but for the call that is written there. */
	memset(function_write + FUNCTION, 0xcc, template.length);
	size_t calls = displace_call(template.call, call), at_call = FUNCTION + template.length - calls;
	memcpy(function_write + at_call, call, calls);
	seen.in_place += calls != 0;
	memset(write, 0xcc, CODE_SIZE);
	memcpy(write + at, copy, size);
	run(page + at, size, calls ? function_page + at_call : page + at, &in, &moved);
	seen.cases++;
	seen.ways[placed.way < 3 ? placed.way : 0]++;
	/* A call that faults: the copy has pushed, or tried to, before it reads its operand. The other registers are
	 * left. */
	if (template.calls && placed.rip == 1 && moved.rip == 1 && placed.way > 100 && moved.way > 100) {
		moved.reg[4] = placed.reg[4];
		moved.fault = placed.fault;
		moved.way = placed.way;
		memcpy(data, after, DATA_SIZE);
		memcpy(stack, after + DATA_SIZE, 4096);
	}
	/* Flags of a division that fails are nowhere defined. */
	if (placed.way == 100 + SIGFPE && moved.way == placed.way)
		moved.flags = placed.flags;
	/* Below the return address the copy of a call has pushed, too, or tried to where the stack ends there. */
	if (template.calls && moved.rip == 1 && moved.way > 100 && placed.reg[4] % 4096 < 8)
		return 1;
	uint64_t below = placed.reg[4] - 8;
	if (template.calls && below - (uint64_t)stack <= 4096 - 8)
		memcpy((void *)below, after + DATA_SIZE + (below - (uint64_t)stack), 8);
	else if (template.calls && below - (uint64_t)data <= DATA_SIZE - 8)
		memcpy((void *)below, after + (below - (uint64_t)data), 8);
	if (placed.way != moved.way || placed.fault != moved.fault || placed.rip != moved.rip)
		wrong(bytes, &template, "it was left another way");
	else if (memcmp(placed.reg, moved.reg, sizeof(placed.reg)) || placed.flags != moved.flags)
		wrong(bytes, &template, "registers or flags differ");
	else if (memcmp(placed.fx, moved.fx, 416))
		wrong(bytes, &template, "vector registers differ");
	else if (memcmp(after, data, DATA_SIZE) || memcmp(after + DATA_SIZE, stack, 4096))
		wrong(bytes, &template, "memory differs");
	return 1;
}

static int try(const uint8_t *bytes, unsigned need)
{
	return try_one(bytes, need, false) + try_one(bytes, need, true) > 0;
}

/* A case of its own of these bytes, filled up with NOPs. */
static int case_of(const uint8_t *bytes, size_t n, unsigned need)
{
	uint8_t whole[32];

	memset(whole, 0x90, sizeof(whole));
	memcpy(whole, bytes, n);
	return try(whole, need);
}

static void report(const char *what, unsigned at_least)
{
	ok(seen.cases >= at_least,
		"%s: %u cases ran, of which %u went on behind, %u branched, %u with a call in place; %u refused", what,
		seen.cases, seen.ways[1], seen.ways[2], seen.in_place, seen.refused);
	is_int(seen.wrong, 0, "all with the same result");
	memset(&seen, 0, sizeof(seen));
}

/* An instruction with an operand relative to rip: prefix and opcode are given; immediates are random. */
static void one_relative(const uint8_t *head, size_t n, unsigned reg)
{
	uint8_t bytes[24];
	struct insn insn;

	memcpy(bytes, head, n);
	bytes[n] = (uint8_t)(reg << 3 | 5);
	for (size_t i = n + 1; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)draw();
	if (!insn_decode(bytes, sizeof(bytes), FUNCTION, &insn) || !insn.memory || insn.base != INSN_RIP)
		return;
	int32_t distance = (int32_t)(data + 64 * (1 + draw() % 32) - (function_page + FUNCTION + insn.length));
	memcpy(bytes + insn.displacement_at, &distance, 4);
	case_of(bytes, insn.length, 5);
}

static void relative(void)
{
	static const struct {
		const char *bytes;
		size_t n;
	} prefix[] = { { "", 0 }, { "\x66", 1 }, { "\xf2", 1 }, { "\xf3", 1 }, { "\x48", 1 }, { "\x66\x48", 2 },
		{ "\x4c", 1 }, { "\x44", 1 }, { "\xf3\x48", 2 }, { "\xf2\x4c", 2 }, { "\xf0", 1 }, { "\xf0\x48", 2 },
		{ "\x3e", 1 }, { "\x67", 1 }, { "\x40", 1 } },
	  map[] = { { "", 0 }, { "\x0f", 1 }, { "\x0f\x38", 2 }, { "\x0f\x3a", 2 } };
	uint8_t head[8];

	for (size_t p = 0; p < sizeof(prefix) / sizeof(*prefix); p++)
		for (size_t m = 0; m < sizeof(map) / sizeof(*map); m++)
			for (unsigned op = 0; op < 256; op++)
				for (unsigned reg = 0; reg < 8; reg++) {
					size_t n = prefix[p].n;
					memcpy(head, prefix[p].bytes, n);
					memcpy(head + n, map[m].bytes, map[m].n);
					n += map[m].n;
					head[n++] = (uint8_t)op;
					one_relative(head, n, reg);
				}
	report("operands relative to rip", 20000);
	/* VEX of two and of three bytes, EVEX: map, W, vvvv, L, pp; registers as they come. */
	for (unsigned op = 0; op < 256; op++)
		for (unsigned form = 0; form < 64; form++) {
			uint8_t vvvv = (uint8_t)(draw() % 16 << 3), pp = form & 3, l = (uint8_t)(form & 4);
			uint8_t maps = (uint8_t)(1 + (form >> 3) % 3), w = (uint8_t)((form & 32) << 2);
			memcpy(head, (uint8_t[]){ 0xc5, (uint8_t)(0x80 | vvvv | l | pp), (uint8_t)op }, 3);
			one_relative(head, 3, draw() % 8);
			memcpy(head,
				(uint8_t[]){ 0xc4, (uint8_t)(0x60 | (draw() & 0x80) | maps),
					(uint8_t)(w | vvvv | l | pp), (uint8_t)op },
				4);
			one_relative(head, 4, draw() % 8);
			memcpy(head,
				(uint8_t[]){ 0x62, (uint8_t)(0x70 | (draw() & 0x80) | maps),
					(uint8_t)(w | vvvv | 4 | pp), (uint8_t)(8 | l << 3), (uint8_t)op },
				5);
			one_relative(head, 5, draw() % 8);
		}
	report("with VEX and EVEX", 2000);
}

static void branches(void)
{
	static const char *const before[] = { "", "\x2e", "\x3e", "\xf2", "\x40", "\x48", "\x66\x48", "\x66", "\x67",
		"\x3e\x48" };
	uint8_t bytes[24];

	for (size_t p = 0; p < sizeof(before) / sizeof(*before); p++)
		for (unsigned op = 0; op < 0x28; op++)
			for (unsigned round = 0; round < 64; round++) {
				size_t n = strlen(before[p]);
				int wide = 0;
				memcpy(bytes, before[p], n);
				if (op < 16) { /* jcc */
					bytes[n++] = (uint8_t)(0x70 + op);
				} else if (op < 32) {
					bytes[n++] = 0x0f;
					bytes[n++] = (uint8_t)(0x80 + op - 16);
					wide = 1;
				} else {
					static const uint8_t others[] = { 0xe0, 0xe1, 0xe2, 0xe3, 0xeb, 0xe9, 0xe8,
						0xe8 };
					bytes[n++] = others[op - 32];
					wide = op >= 32 + 5;
				}
				int32_t distance = (int32_t)(TAKEN - (FUNCTION + n + (wide ? 4 : 1)));
				memcpy(bytes + n, &distance, wide ? 4 : 1);
				case_of(bytes, n + (wide ? 4 : 1), 5);
				case_of(bytes, n + (wide ? 4 : 1), 2);
			}
	report("direct branches and calls", 20000);
	/* jmp and call by register and memory, ret: in FF /2 and /4 all ways to address. */
	for (unsigned round = 0; round < 40; round++)
		for (unsigned modrm = 0; modrm < 256; modrm++) {
			size_t n = 0;
			if ((modrm >> 3 & 7) != 2 && (modrm >> 3 & 7) != 4)
				continue;
			if (draw() % 4 == 0)
				bytes[n++] = 0x3e;
			if (draw() % 2)
				bytes[n++] = (uint8_t)(0x40 | draw() % 16);
			bytes[n++] = 0xff;
			bytes[n++] = (uint8_t)modrm;
			for (size_t i = n; i < sizeof(bytes); i++)
				bytes[i] = (uint8_t)draw();
			/* A displacement that leads somewhere, as often as not. */
			int32_t distance = (int32_t)(draw() % 64 * 8);
			if (modrm >> 6 == 2)
				memcpy(bytes + n + ((modrm & 7) == 4), &distance, 4);
			distance += (int32_t)(data - (function_page + FUNCTION + n + 4));
			if (modrm >> 6 == 0 && (modrm & 7) == 5)
				memcpy(bytes + n, &distance, 4);
			try(bytes, 5);
			try(bytes, 2);
		}
	report("indirect ones", 2000);
}

/* Calls behind what functions begin with: as many bytes behind the jump as there can be. */
static void calls(void)
{
	static const struct {
		const char *bytes;
		size_t n;
	} before[] = { { "", 0 }, { "\x53", 1 }, { "\x41\x54", 2 }, { "\x31\xf6", 2 }, { "\x48\x89\xfb", 3 },
		{ "\x48\x83\xec\x08", 4 }, { "\x55\x48\x89\xe5", 4 } };
	uint8_t bytes[24];

	for (size_t b = 0; b < sizeof(before) / sizeof(*before); b++)
		for (unsigned round = 0; round < 512; round++) {
			size_t n = before[b].n;
			memcpy(bytes, before[b].bytes, n);
			if (round % 4 == 0) {
				bytes[n++] = 0xe8;
				int32_t distance = (int32_t)(TAKEN - (FUNCTION + n + 4));
				memcpy(bytes + n, &distance, 4);
				n += 4;
			} else {
				/* call of a register or by memory, by way of all registers. */
				unsigned modrm = draw() % 256;
				if (draw() % 2)
					bytes[n++] = (uint8_t)(0x40 | draw() % 16);
				bytes[n++] = 0xff;
				bytes[n++] = (uint8_t)((modrm & ~0x38u) | 2 << 3);
				for (size_t i = n; i < sizeof(bytes); i++)
					bytes[i] = (uint8_t)draw();
				int32_t distance = (int32_t)(draw() % 64 * 8);
				distance += modrm >> 6 == 0 && (modrm & 7) == 5
						    ? (int32_t)(data - (function_page + FUNCTION + n + 4))
						    : 0;
				memcpy(bytes + n + ((modrm & 7) == 4), &distance, 4);
			}
			try(bytes, 5);
			try(bytes, 2);
		}
	report("calls behind other instructions", 2000);
}

/* Random bytes, sprinkled with the beginnings of what matters. */
__attribute__((unused)) static void random_bytes(unsigned rounds)
{
	static const uint8_t likely[] = { 0x48, 0x4c, 0x41, 0x0f, 0x66, 0xf3, 0xf2, 0xe8, 0xe9, 0xeb, 0xe3, 0xe2, 0x74,
		0x75, 0x7e, 0x8b, 0x8d, 0x89, 0x05, 0x0d, 0x15, 0x3d, 0x84, 0x85, 0xff, 0x35, 0x25, 0x50, 0x55, 0x53,
		0x83, 0xec, 0xc3, 0xc7, 0x80, 0xc5, 0xf8, 0x10, 0x31, 0xc0, 0x3e, 0x67 };

	for (unsigned round = 0; round < rounds; round++) {
		uint8_t bytes[32];
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = draw() % 2 ? likely[draw() % sizeof(likely)] : (uint8_t)draw();
		if (round % 256 == 0)
			fill_memory(draw());
		try(bytes, round % 2 ? 5 : 2);
	}
}

static uint8_t *map(uint8_t *at, int fd, off_t offset, size_t size, int prot)
{
	uint8_t *p = mmap(at, size, prot,
		fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
		: at   ? MAP_SHARED | MAP_FIXED
		       : MAP_SHARED,
		fd, offset);

	if (p == MAP_FAILED)
		skip_all("this system makes no memory of a file executable");
	return p;
}

static void prepare(void)
{
	static uint8_t signal_stack[65536];
	cpu_set_t cpus;
	uint32_t a, b, c = 0, d;
	int cpu = sched_getcpu(), fd = memfd_create("displaced", 0);
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t alternative = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) /* OSXSAVE */
		skip_all("no xsave here");
	uint8_t *room = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED || fd < 0 || ftruncate(fd, 4 * CODE_SIZE))
		skip_all("no room of 32 GiB of addresses");
	room += RESERVED / 2;
	function_page = map(room, fd, 0, CODE_SIZE, PROT_READ | PROT_EXEC);
	near_page = map(room + 65536, fd, CODE_SIZE, CODE_SIZE, PROT_READ | PROT_EXEC);
	far_page = map(room - FAR, fd, 2 * CODE_SIZE, CODE_SIZE, PROT_READ | PROT_EXEC);
	exit_page = map(room + 4 * 65536, fd, 3 * CODE_SIZE, CODE_SIZE, PROT_READ | PROT_EXEC);
	function_write = map(NULL, fd, 0, 4 * CODE_SIZE, PROT_READ | PROT_WRITE);
	memset(function_write + 3 * CODE_SIZE, 0xcc, CODE_SIZE);
	put_exit(function_write + 3 * CODE_SIZE + EXIT, displace_taken);
	near_write = function_write + CODE_SIZE;
	far_write = near_write + CODE_SIZE;
	data = map(room + 2 * 65536, -1, 0, DATA_SIZE, PROT_READ | PROT_WRITE);
	stack = map(room + 3 * 65536, -1, 0, 4096, PROT_READ | PROT_WRITE);
	/* Some instructions tell which processor they run on. */
	CPU_ZERO(&cpus);
	CPU_SET(cpu < 0 ? 0 : cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	sigfillset(&action.sa_mask);
	sigaltstack(&alternative, NULL);
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	fill_memory(1);
}

int main(void)
{
	const char *soak = getenv("XAUDIT_SOAK");

	prepare();
	relative();
	branches();
	calls();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)soak;
	skip(2, "a sanitizer has memory where 32 bits reach");
#else
	random_bytes(soak && *soak == '1' ? 20000000 : 100000);
	report("random bytes", 20000);
#endif
	return done_testing();
}
