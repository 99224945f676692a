/* SPDX-License-Identifier: MIT */
/*
 * Plans, as the module takes them: `plan_calls.u PLAN` checks all of one, and prints what it has; `plan_calls.u PLAN
 * CALLS.so` has that library make calls, and prints the values that the code finds in them. The library has
 *
 *	void calls(void (*callee)(void), void (*expect)(const char *name, uint64_t word, double real))
 *
 * which calls `callee` as if it were one function or another, after it has told whose plan counts and what comes back;
 * word CALLS_FIRST: the call's first word. So how arguments are passed is what a compiler makes of their types.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/plan.h"
#include "runtime/base/identity.h"
#include "runtime/values/evaluate.h"
#include "x86_64/contract.h"

#define CALLS_FIRST 0x7473726966

static uint8_t *made;
static const struct plan_head *head;

/* ---- the plan ---- */

static const struct trace_layout *layout_of(const struct plan_part *part)
{
	return part->layout ? (const struct trace_layout *)(made + part->layout) : NULL;
}

static const char *name_of(const struct trace_layout *layout, uint32_t offset)
{
	return (const char *)&layout->value[layout->count] + offset;
}

/* Is it all within the plan, and does the code put what the layout says? */
static bool is_sound(const struct plan_part *part)
{
	const struct trace_layout *layout = layout_of(part);
	struct values_facts facts = { 0 };

	if (part->code + (uint64_t)part->size > head->size || part->layout + (uint64_t)part->bytes > head->size)
		return false;
	if (part->size && !values_check(made + part->code, part->size, &facts))
		return false;
	if (!layout)
		return !facts.values;
	if (part->layout % 8 || layout->head.size != part->bytes || layout->count != facts.values ||
		layout->head.type != TRACE_REC_LAYOUT || name_of(layout, 0)[0] ||
		sizeof(*layout) + layout->count * sizeof(*layout->value) + layout->names_size > part->bytes)
		return false;
	for (uint32_t i = 0; i < layout->count; i++)
		if (layout->value[i].name >= layout->names_size || layout->value[i].words >= layout->names_size ||
			!layout->value[i].name)
			return false;
	return !name_of(layout, layout->names_size)[-1];
}

/* Do the lists lie in the plan, and are they as format/probe.h says? */
static bool check_probes(void)
{
	const struct plan_probe *probe = (const void *)(made + head->probe);
	const struct plan_window *window = (const void *)(made + head->window);
	uint32_t next = 0;

	if (head->probe + head->probes * sizeof(*probe) > head->size ||
		head->window + head->windows * sizeof(*window) > head->size || head->probe % 8 || head->window % 8)
		return false;
	for (uint32_t i = 0; i < head->probes; i++) {
		const struct plan_probe *p = &probe[i];
		bool has = p->window != PROBE_NONE;
		if ((has && (p->window >= head->windows || p->refusal || i - window[p->window].first >=
				    window[p->window].probes)) || (!has && !p->refusal) ||
			(i && p[-1].window > p->window) ||
			(p->function != PROBE_NONE && (p->function >= head->count ||
				head->function[p->function].flags != PLAN_PROBE ||
				head->function[p->function].offset != p->address)))
			return false;
	}
	for (uint32_t i = 0; i < head->windows; i++) {
		if (window[i].other != PROBE_NONE && (window[i].other <= i || window[i].other >= head->windows))
			return false;
		if (!window[i].probes || window[i].first > next ||
			window[i].code + (uint64_t)window[i].code_size > head->size ||
			window[i].fixups + window[i].fixup_count * sizeof(struct probe_fixup) > head->size)
			return false;
		if (window[i].first == next)
			next += window[i].probes;
	}
	return next <= head->probes;
}

static bool check(void)
{
	if (memcmp(head->magic, PLAN_MAGIC, 8) || head->version != PLAN_VERSION)
		return false;
	for (uint32_t i = 0; i < head->count; i++) {
		const struct plan_function *f = &head->function[i];
		if (!is_sound(&f->entry) || !is_sound(&f->end) || (i && f[-1].offset > f->offset) ||
			f->name < sizeof(*head) || f->name >= head->size)
			return false;
	}
	return check_probes();
}

static void print_layout(const char *what, const struct plan_part *part)
{
	static const char *const types[] = { "?", "signed", "unsigned", "hex", "pointer", "float", "double", "text",
		"bytes", "errno", "none" };
	static const char roles[] = "oare";
	const struct trace_layout *layout = layout_of(part);

	if (part->size)
		printf(" %s:", what);
	for (uint32_t i = 0; layout && i < layout->count; i++) {
		const struct trace_value *value = &layout->value[i];
		printf(" %s=%s%u,%c%u", name_of(layout, value->name), types[value->type], value->size,
			roles[value->role], value->place);
		for (int bit = 0; bit < 5; bit++)
			if (value->marks & 1 << bit)
				printf(",%s", (const char *[]){ "fd", "octal", "flags", "out", "more" }[bit]);
		if (value->words)
			printf(",(%s)", name_of(layout, value->words));
	}
	if (layout && layout->has_fails)
		printf(" fails=%" PRId64, layout->fails);
}

static void print(const struct plan_function *f)
{
	printf("%s", made + f->name);
	print_layout("entry", &f->entry);
	print_layout("end", &f->end);
	if (f->every)
		printf(" every %u", f->every);
	if (f->longer)
		printf(" longer %" PRIu64, f->longer);
	putchar('\n');
}

/* "probe NAME at PLACE ADDRESS", whether it can be had, or why not, and what it has besides. */
static void print_probe(const struct plan_probe *p)
{
	const struct plan_window *window = (const void *)(made + head->window);
	const struct plan_action *action = (const void *)(made + head->action);
	static const char *const whats[] = { "?", "mark", "snapshot", "start", "stop" };

	printf("probe %s at %s 0x%" PRIx64, made + p->name, made + p->at, p->address);
	if (p->window == PROBE_NONE)
		printf(" refused %u", p->refusal);
	else
		fputs(window[p->window].way > 0 && window[p->window].way < PROBE_WAYS ? " placed" : " nowhere", stdout);
	if (p->semaphore)
		printf(" semaphore 0x%" PRIx64, p->semaphore);
	if (p->function != PROBE_NONE) {
		print_layout("has", &head->function[p->function].entry);
		if (!layout_of(&head->function[p->function].entry))
			printf(" bare");
		if (head->function[p->function].every)
			printf(" every %u", head->function[p->function].every);
	}
	if (p->action != PROBE_NONE) {
		const struct plan_action *a = &action[p->action];
		printf(" then %s flags %u every %" PRIu64 " at-most %" PRIu64, whats[a->what], a->flags, a->every,
			a->at_most);
	}
	putchar('\n');
}

/* ---- calls ---- */

static const struct plan_function *expected;
static uint64_t result_word;
static double result_real;
static struct values_call call;

static void put_number(const struct trace_value *value, uint64_t word)
{
	float single;
	double real;

	switch (value->type) {
	case VALUES_TYPE_FLOAT:
		memcpy(&single, &word, sizeof(single));
		printf("%g", (double)single);
		break;
	case VALUES_TYPE_DOUBLE:
		memcpy(&real, &word, sizeof(real));
		printf("%g", real);
		break;
	case VALUES_TYPE_SIGNED:
		printf("%" PRId64, (int64_t)(word << (64 - 8 * value->size)) >> (64 - 8 * value->size));
		break;
	case VALUES_TYPE_UNSIGNED:
		printf("%" PRIu64, word);
		break;
	default:
		printf("0x%" PRIx64, word);
	}
}

static void show(const char *between, const struct plan_part *part)
{
	const struct trace_layout *layout = layout_of(part);
	uint8_t out[VALUES_RECORDED + 8];

	if (!part->size)
		return;
	if (!values_evaluate(made + part->code, &call, out)) {
		printf("%sout", between);
		return;
	}
	const uint8_t *states = *out == VALUES_FLAWED ? out + 1 : NULL, *at = out + 1;
	at += states && layout ? layout->count : 0;
	for (uint32_t i = 0; layout && i < layout->count; i++) {
		const struct trace_value *value = &layout->value[i];
		uint64_t word = 0;
		if (value->type == VALUES_TYPE_NONE) {
			printf("%s%s=none", i ? "," : between, name_of(layout, value->name));
			continue;
		}
		size_t size = value->size ? value->size : at[0] | (size_t)at[1] << 8;
		printf("%s%s=", i ? "," : between, name_of(layout, value->name));
		memcpy(&word, at, value->size);
		if (states && states[i] > VALUES_CUT)
			printf("!%u", states[i]);
		else if (!value->size)
			printf("\"%.*s\"", (int)size, at + 2);
		else
			put_number(value, word);
		at += value->size ? value->size : 2 + size;
	}
}

/* In x86_64/contract.h's order; then the lower halves of the vector registers. */
struct captured {
	struct tramp_registers registers;
	uint64_t floats[8];
};

__attribute__((used, sysv_abi)) static void captured(struct captured *c)
{
	uint64_t first = c->registers.rdi;

	call = (struct values_call){ .registers = &c->registers, .floats = c->floats,
		.arguments = c->registers.rsp + 8 };
	if (expected)
		show("(", &expected->entry);
	c->registers = (struct tramp_registers){ .rax = result_word == CALLS_FIRST ? first : result_word,
		.rsp = c->registers.rsp };
	memcpy(c->floats, &result_real, 8);
	if (expected)
		show(") = ", &expected->end);
	if (expected)
		putchar('\n');
}

void callee(void);
__asm__(".text\n"
	".globl callee\n"
	".type callee, @function\n"
	"callee:\n"
	"	lea -200(%rsp), %rsp\n" /* 16 words and 8 floats are 192 bytes: aligned again */
	"	mov %rax, 0(%rsp)\n"
	"	mov %rbx, 8(%rsp)\n"
	"	mov %rcx, 16(%rsp)\n"
	"	mov %rdx, 24(%rsp)\n"
	"	mov %rsi, 32(%rsp)\n"
	"	mov %rdi, 40(%rsp)\n"
	"	mov %rbp, 48(%rsp)\n"
	"	lea 200(%rsp), %rax\n"
	"	mov %rax, 56(%rsp)\n"
	"	mov %r8, 64(%rsp)\n"
	"	mov %r9, 72(%rsp)\n"
	"	mov %r10, 80(%rsp)\n"
	"	mov %r11, 88(%rsp)\n"
	"	mov %r12, 96(%rsp)\n"
	"	mov %r13, 104(%rsp)\n"
	"	mov %r14, 112(%rsp)\n"
	"	mov %r15, 120(%rsp)\n"
	"	movsd %xmm0, 128(%rsp)\n"
	"	movsd %xmm1, 136(%rsp)\n"
	"	movsd %xmm2, 144(%rsp)\n"
	"	movsd %xmm3, 152(%rsp)\n"
	"	movsd %xmm4, 160(%rsp)\n"
	"	movsd %xmm5, 168(%rsp)\n"
	"	movsd %xmm6, 176(%rsp)\n"
	"	movsd %xmm7, 184(%rsp)\n"
	"	mov %rsp, %rdi\n"
	"	call captured\n"
	"	mov 0(%rsp), %rax\n"
	"	movsd 128(%rsp), %xmm0\n"
	"	lea 200(%rsp), %rsp\n"
	"	ret\n"
	".size callee, .-callee\n");

static void expect(const char *name, uint64_t word, double real)
{
	expected = NULL;
	result_word = word;
	result_real = real;
	for (uint32_t i = 0; i < head->count; i++)
		if (!strcmp((const char *)made + head->function[i].name, name))
			expected = &head->function[i];
	printf("%s%s", name, expected ? "" : " has no plan\n");
	fflush(stdout);
}

static int with_plan(const char *path, const char *calls)
{
	FILE *file = fopen(path, "r");

	made = aligned_alloc(16, 64u << 20);
	if (!file || !made || fread(made, 1, 64u << 20, file) < sizeof(*head))
		return 2;
	fclose(file);
	head = (const struct plan_head *)made;
	if (!check()) {
		puts("the plan is not sound");
		return 1;
	}
	for (uint32_t i = 0; !calls && i < head->count; i++)
		if (!(head->function[i].flags & PLAN_PROBE))
			print(&head->function[i]);
	for (uint32_t i = 0; !calls && i < head->probes; i++)
		print_probe((const struct plan_probe *)(const void *)(made + head->probe) + i);
	if (!calls)
		return 0;
	void *library = dlopen(calls, RTLD_NOW);
	void (*run)(void (*)(void), void (*)(const char *, uint64_t, double));
	*(void **)&run = library ? dlsym(library, "calls") : NULL;
	if (!run) {
		puts(dlerror());
		return 2;
	}
	run(callee, expect);
	return 0;
}

int main(int argc, char **argv)
{
	identity_init(NULL);
	if (argc > 1)
		return with_plan(argv[1], argc > 2 ? argv[2] : NULL);
	/* What t/values/plan.t relies on: a layout lies in a plan as it lies in a trace. */
	is_int(sizeof(struct plan_function) % 8, 0, "functions of a plan are aligned, and so is what follows them");
	is_int(sizeof(struct trace_layout), 40, "a layout begins with five words");
	return done_testing();
}
