/* SPDX-License-Identifier: MIT */
#include "runtime/values/evaluate.h"

#include "format/chain.h"
#include "runtime/base/identity.h"
#include "runtime/values/sample.h"
#include "x86_64/confined.h"
#include "x86_64/contract.h"
#include "x86_64/sys.h"

_Static_assert(offsetof(struct tramp_registers, r15) == VALUES_R15 * sizeof(uint64_t), "the same order");

static const struct {
	uint8_t operand, pops, pushes;
} operations[VALUES_OPERATIONS] = {
#define X(number, NAME, operand, popped, pushed) [number] = { operand, popped, pushed },
	VALUES_OPS(X)
#undef X
};

#define SIGN (1ull << 63)
#define NAME 16 /* bytes of a thread's name, with its NUL */

/* ---- checking ---- */

static bool is_size(uint8_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static uint32_t half_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

/* Is the operand one that the operation may have? Adds what it does to *facts. */
static bool check_operand(uint8_t op, const uint8_t *p, struct values_facts *facts)
{
	switch (op) {
	case VALUES_REGISTER:
		return *p < VALUES_REGISTERS;
	case VALUES_FLOAT:
		facts->floats = true;
		return *p < 8;
	case VALUES_KEPT_WORD:
		facts->takes = true;
		facts->kept |= *p < VALUES_KEPT ? 1u << *p : 0;
		return *p < VALUES_KEPT;
	case VALUES_KEEP:
		facts->keeps = true;
		facts->kept |= *p < VALUES_KEPT ? 1u << *p : 0;
		return *p < VALUES_KEPT;
	case VALUES_UNLESS:
		facts->conditions = true;
		return true;
	case VALUES_TASK:
		facts->calls |= *p == VALUES_TASK_CALLS;
		return *p < VALUES_TASKS;
	case VALUES_SHIFT_LEFT:
	case VALUES_SHIFT_RIGHT:
		return *p < 64;
	case VALUES_SIGNED:
	case VALUES_UNSIGNED:
		return is_size(*p) && *p < 8;
	case VALUES_STACK:
		facts->memory = true;
		return true;
	case VALUES_READ:
		facts->memory = true;
		return is_size(*p);
	case VALUES_CHAIN:
		if (!*p || *p > CHAIN_MOST || facts->callers)
			return false;
		facts->callers = *p;
		facts->memory = true;
		/* Behind the values, with the word that ends them. */
		facts->most += 8 * (*p + 1u);
		return true;
	case VALUES_SAMPLE:
		return !facts->sample && sample_check(p, &facts->sample, &facts->interval);
	case VALUES_PUT:
		facts->values++;
		facts->most += *p;
		return is_size(*p);
	case VALUES_PUT_TEXT:
	case VALUES_PUT_BYTES:
		facts->memory = true;
		facts->values++;
		facts->most += 2 + half_at(p);
		return true;
	case VALUES_PUT_NONE:
		facts->values++;
		return true;
	case VALUES_PUT_NAME:
		facts->values++;
		facts->most += 2 + NAME;
		return true;
	default:
		return true;
	}
}

bool values_check(const uint8_t *code, size_t size, struct values_facts *facts)
{
	uint32_t depth = 0;
	bool trusts = false;

	*facts = (struct values_facts){ .most = 1 };
	if (size > VALUES_CODE)
		return false;
	for (size_t at = 0; at < size;) {
		uint8_t op = code[at++];
		if (trusts && op != VALUES_PUT_TEXT && op != VALUES_PUT_BYTES)
			return false;
		trusts = op == VALUES_TRUST;
		facts->trusts |= trusts;
		if (op >= VALUES_OPERATIONS || size - at < operations[op].operand || depth < operations[op].pops)
			return false;
		depth += operations[op].pushes - (uint32_t)operations[op].pops;
		if (depth > VALUES_DEPTH || !check_operand(op, code + at, facts) || facts->values > VALUES_MOST ||
			facts->most > VALUES_RECORDED - VALUES_MOST)
			return false;
		at += operations[op].operand;
		if (op == VALUES_END) {
			facts->most += facts->values;
			return at == size && !depth;
		}
	}
	return false;
}

/* ---- memory ---- */

/* So many bytes from there on may be read as they are. */
static uint64_t own_bytes(const struct values_call *call, uint64_t address)
{
	if (address >= call->stack_low && address < call->stack_high)
		return call->stack_high - address;
	for (uint32_t i = 0; i < call->segments; i++)
		if (address >= call->segment[i].low && address < call->segment[i].high)
			return call->segment[i].high - address;
	for (uint32_t i = 0; i < call->copies && call->segments; i++)
		if (address - call->copy[i].to < call->copy[i].size)
			return call->copy[i].size - (address - call->copy[i].to);
	return 0;
}

typedef uint64_t unaligned __attribute__((aligned(1), may_alias));

/*
 * Copies a text that may be read as it is, up to its NUL, which is copied, too, or so many bytes. Returns how many were
 * copied. As read_memory().
 */
static __attribute__((no_sanitize("address", "thread"))) size_t copy_text(uint8_t *to, uint64_t address, size_t most)
{
	const uint64_t ones = 0x0101010101010101ull;
	size_t done = 0;

	for (; done + 8 <= most; done += 8) {
		uint64_t word = *(const volatile unaligned *)(uintptr_t)(address + done);
		/* The lowest bit is of the first byte that is 0. */
		uint64_t zeros = (word - ones) & ~word & (ones << 7);
		*(unaligned *)(to + done) = word;
		if (zeros)
			return done + (size_t)__builtin_ctzll(zeros) / 8 + 1;
	}
	while (done < most) {
		uint8_t byte = *(const volatile uint8_t *)(uintptr_t)(address + done);
		to[done++] = byte;
		if (!byte)
			break;
	}
	return done;
}

/*
 * The bytes at that address. Own memory may be a frame of a function that a sanitizer has compiled, with zones that are
 * not to be touched by the function itself.
 */
static __attribute__((no_sanitize("address", "thread"))) enum values_state read_memory(
	const struct values_call *call, bool trusts, void *to, uint64_t address, size_t size)
{
	if (trusts || size <= own_bytes(call, address)) {
		/* Volatile: or the compiler calls memcpy. */
		const volatile uint8_t *from = (const uint8_t *)(uintptr_t)address;
		uint8_t *out = to;
		for (size_t i = 0; i < size; i++)
			out[i] = from[i];
		return VALUES_WHOLE;
	}
	if (confined())
		return VALUES_UNREAD;
	return sys_copy_asked(to, address, size) ? VALUES_WHOLE : VALUES_FAULT;
}

/* ---- numbers ---- */

static uint64_t extend(uint64_t value, uint8_t size)
{
	unsigned bits = 64 - 8u * size;

	return (uint64_t)((int64_t)(value << bits) >> bits);
}

static uint64_t lower(uint64_t value, uint8_t size)
{
	return size == 8 ? value : value & ((1ull << 8 * size) - 1);
}

static bool is_nan(uint64_t value)
{
	return (value & ~SIGN) > 0x7ffull << 52;
}

static bool is_less_float(uint64_t a, uint64_t b)
{
	if (is_nan(a) || is_nan(b) || !((a | b) & ~SIGN))
		return false;
	/* As integers they have their order; of negative ones, the reverse. */
	if (a & SIGN || b & SIGN)
		return a & SIGN ? !(b & SIGN) || a > b : false;
	return a < b;
}

static bool is_equal_float(uint64_t a, uint64_t b)
{
	return !is_nan(a) && !is_nan(b) && (a == b || !((a | b) & ~SIGN));
}

uint64_t values_widen(uint32_t f)
{
	uint64_t sign = (uint64_t)(f >> 31) << 63, exponent = f >> 23 & 0xff, fraction = f & 0x7fffff;

	if (exponent == 0xff)
		return sign | 0x7ffull << 52 | fraction << 29;
	if (!exponent) {
		if (!fraction)
			return sign;
		/* Without the leading 1 that others have. */
		for (exponent = 1; !(fraction & 0x800000); exponent--)
			fraction <<= 1;
		fraction &= 0x7fffff;
	}
	return sign | (exponent + 1023 - 127) << 52 | fraction << 29;
}

static uint64_t two(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case VALUES_ADD:
		return a + b;
	case VALUES_SUBTRACT:
		return a - b;
	case VALUES_MULTIPLY:
		return a * b;
	case VALUES_AND:
		return a & b;
	case VALUES_OR:
		return a | b;
	case VALUES_EQUAL:
		return a == b;
	case VALUES_LESS:
		return (int64_t)a < (int64_t)b;
	case VALUES_BELOW:
		return a < b;
	case VALUES_LESS_FLOAT:
		return is_less_float(a, b);
	default:
		return is_equal_float(a, b);
	}
}

static uint64_t one(uint8_t op, uint64_t a, uint8_t operand)
{
	switch (op) {
	case VALUES_SHIFT_LEFT:
		return a << operand;
	case VALUES_SHIFT_RIGHT:
		return a >> operand;
	case VALUES_SIGNED:
		return extend(a, operand);
	case VALUES_UNSIGNED:
		return lower(a, operand);
	case VALUES_WIDEN:
		return values_widen((uint32_t)a);
	default:
		return !a;
	}
}

/* ---- the machine ---- */

struct machine {
	struct values_call *call;
	uint64_t word[VALUES_DEPTH];
	uint8_t state[VALUES_DEPTH]; /* enum values_state of each word */
	uint32_t depth;
	uint8_t *out; /* behind what was written */
	uint8_t states[VALUES_MOST];
	uint32_t values;
	bool flawed, trusts;
};

static void push(struct machine *m, uint64_t word, uint8_t state)
{
	m->word[m->depth] = word;
	m->state[m->depth++] = state;
}

static uint64_t pop(struct machine *m, uint8_t *state)
{
	*state = m->state[--m->depth];
	return m->word[m->depth];
}

static void put_value(struct machine *m, uint8_t state)
{
	m->states[m->values++] = state;
	m->flawed |= state != VALUES_WHOLE;
}

static void put_word(struct machine *m, uint8_t size)
{
	uint8_t state;
	uint64_t word = pop(m, &state);

	word = state == VALUES_WHOLE ? word : 0;
	sys_copy(m->out, &word, size);
	m->out += size;
	put_value(m, state);
}

static void put_size(uint8_t *at, size_t size)
{
	at[0] = (uint8_t)size;
	at[1] = (uint8_t)(size >> 8);
}

/*
 * The text, a piece at a time: none of these crosses the end of a page, behind which there may be nothing, and none has
 * more than is wanted.
 */
static void put_text(struct machine *m, uint32_t most)
{
	uint8_t state, *size_at = m->out, *to = m->out + 2, end = 1;
	uint64_t address = pop(m, &state);
	size_t done = 0;

	if (state == VALUES_WHOLE && !address)
		state = VALUES_NULL;
	uint64_t own = state == VALUES_WHOLE ? own_bytes(m->call, address) : 0;
	if (own) {
		done = copy_text(to, address, own < most ? (size_t)own : most);
		/* Its NUL was copied, too, if it has one there. */
		end = done ? to[done - 1] : 1;
	}
	while (state == VALUES_WHOLE && end && done < most) {
		size_t n = 4096 - (address + done) % 4096;
		n = n < most - done ? n : most - done;
		state = read_memory(m->call, m->trusts, to + done, address + done, n);
		for (size_t last = done + n; state == VALUES_WHOLE && end && done < last;)
			end = to[done++];
	}
	if (state == VALUES_WHOLE && !end)
		done--;
	else if (state == VALUES_WHOLE)
		state = VALUES_CUT; /* whether its NUL is the next byte need not be asked */
	put_size(size_at, done);
	m->out = to + done;
	put_value(m, state);
}

static void put_bytes(struct machine *m, uint32_t most)
{
	uint8_t state, count_state, *size_at = m->out, *to = m->out + 2;
	uint64_t count = pop(m, &count_state), address = pop(m, &state);
	size_t size = count < most ? (size_t)count : most;

	if (state == VALUES_WHOLE)
		state = !address ? VALUES_NULL : count_state;
	if (state == VALUES_WHOLE && size)
		state = read_memory(m->call, m->trusts, to, address, size);
	if (state == VALUES_WHOLE && size < count)
		state = VALUES_CUT;
	if (state != VALUES_WHOLE && state != VALUES_CUT)
		size = 0;
	put_size(size_at, size);
	m->out = to + size;
	put_value(m, state);
}

static void put_name(struct machine *m)
{
	uint8_t *size_at = m->out, state = confined() ? VALUES_UNREAD : VALUES_WHOLE;
	char name[NAME] = "";

	if (state == VALUES_WHOLE && sys_thread_name(name) < 0)
		state = VALUES_FAULT;
	name[NAME - 1] = '\0';
	size_t size = sys_length(name);
	put_size(size_at, size);
	sys_copy(size_at + 2, name, size);
	m->out = size_at + 2 + size;
	put_value(m, state);
}

static void push_memory(struct machine *m, uint64_t address, size_t size)
{
	uint64_t word = 0;
	uint8_t state = !address ? VALUES_NULL : (uint8_t)read_memory(m->call, false, &word, address, size);

	push(m, state == VALUES_WHOLE ? word : 0, state);
}

static void push_task(struct machine *m, uint8_t what)
{
	unsigned cpu = 0;

	switch (what) {
	case VALUES_TASK_TID:
		push(m, identity_tid(), VALUES_WHOLE);
		break;
	case VALUES_TASK_CPU:
		if (confined())
			push(m, 0, VALUES_UNREAD);
		else if (sys_call(__NR_getcpu, (long)&cpu, 0, 0, 0, 0, 0))
			push(m, 0, VALUES_FAULT);
		else
			push(m, cpu, VALUES_WHOLE);
		break;
	case VALUES_TASK_CALLS:
		push(m, m->call->calls, VALUES_WHOLE);
		break;
	default:
		/* The thread's own: it is there as long as the thread. */
		if (m->call->errno_at)
			push(m, (uint64_t)(int64_t)*(const int32_t *)(uintptr_t)m->call->errno_at, VALUES_WHOLE);
		else
			push(m, 0, VALUES_FAULT);
	}
}

/* An operation that pushes a word of the call's. */
static void push_call(struct machine *m, uint8_t op, const uint8_t *operand)
{
	const struct values_call *call = m->call;
	uint64_t word = 0;

	switch (op) {
	case VALUES_BYTE:
		push(m, extend(*operand, 1), VALUES_WHOLE);
		break;
	case VALUES_HALF:
		sys_copy(&word, operand, 4);
		push(m, extend(word, 4), VALUES_WHOLE);
		break;
	case VALUES_WORD:
		sys_copy(&word, operand, 8);
		push(m, word, VALUES_WHOLE);
		break;
	case VALUES_REGISTER:
		push(m, (&call->registers->rax)[*operand], VALUES_WHOLE);
		break;
	case VALUES_STACK:
		push_memory(m, call->arguments + 8ull * *operand, 8);
		break;
	case VALUES_FLOAT:
		push(m, call->floats ? call->floats[*operand] : 0, call->floats ? VALUES_WHOLE : VALUES_FAULT);
		break;
	case VALUES_BASE:
		push(m, call->base, call->has_base ? VALUES_WHOLE : VALUES_FAULT);
		break;
	case VALUES_CHAIN:
		push(m, call->walk ? call->walk(m->call, *operand) : 0, VALUES_WHOLE);
		break;
	case VALUES_SAMPLE:
		push(m, call->sample, VALUES_WHOLE);
		break;
	case VALUES_KEPT_WORD:
		push(m, call->kept[*operand], call->lost >> *operand & 1 ? VALUES_FAULT : VALUES_WHOLE);
		break;
	default:
		push_task(m, *operand);
	}
}

static void keep(struct machine *m, uint8_t place)
{
	uint8_t state;

	m->call->kept[place] = pop(m, &state);
	m->call->lost = (m->call->lost & ~(1u << place)) | (uint32_t)(state != VALUES_WHOLE) << place;
}

static void push_variable(struct machine *m, uint64_t address, uint8_t state)
{
	const struct values_call *call = m->call;

	for (uint32_t i = 0; i < call->copies; i++)
		if (address - call->copy[i].from < call->copy[i].size) {
			push(m, address - call->copy[i].from + call->copy[i].to, state);
			return;
		}
	push(m, call->base + address, state != VALUES_WHOLE || call->has_base ? state : VALUES_FAULT);
}

/* One operation. Returns false: the call is left out. */
static bool step(struct machine *m, uint8_t op, const uint8_t *operand)
{
	uint8_t state, other;
	uint64_t word;

	switch (op) {
	case VALUES_ADD ... VALUES_OR:
	case VALUES_EQUAL ... VALUES_EQUAL_FLOAT:
		word = pop(m, &other);
		word = two(op, pop(m, &state), word);
		push(m, word, state != VALUES_WHOLE ? state : other);
		return true;
	case VALUES_SHIFT_LEFT ... VALUES_UNSIGNED:
	case VALUES_NOT:
	case VALUES_WIDEN:
		word = pop(m, &state);
		push(m, one(op, word, *operand), state);
		return true;
	case VALUES_READ:
		word = pop(m, &state);
		if (state == VALUES_WHOLE)
			push_memory(m, word, *operand);
		else
			push(m, 0, state);
		return true;
	case VALUES_VARIABLE:
		word = pop(m, &state);
		push_variable(m, word, state);
		return true;
	case VALUES_UNLESS:
		word = pop(m, &state);
		return m->call->unconditional || (word && state == VALUES_WHOLE);
	case VALUES_KEEP:
		keep(m, *operand);
		return true;
	case VALUES_PUT:
		put_word(m, *operand);
		return true;
	case VALUES_PUT_TEXT:
		put_text(m, half_at(operand));
		m->trusts = false;
		return true;
	case VALUES_PUT_BYTES:
		put_bytes(m, half_at(operand));
		m->trusts = false;
		return true;
	case VALUES_PUT_NONE:
		put_value(m, VALUES_WHOLE);
		return true;
	case VALUES_PUT_NAME:
		put_name(m);
		return true;
	case VALUES_TRUST:
		m->trusts = true;
		return true;
	default:
		push_call(m, op, operand);
		return true;
	}
}

/* Makes room for the states behind the first byte, and writes them. */
static void add_states(struct machine *m, uint8_t *out)
{
	for (uint8_t *p = m->out; p-- > out + 1;)
		p[m->values] = *p;
	sys_copy(out + 1, m->states, m->values);
	m->out += m->values;
}

size_t values_evaluate(const uint8_t *code, struct values_call *call, uint8_t *out)
{
	struct machine m;

	m.call = call;
	m.depth = m.values = 0;
	m.flawed = m.trusts = false;
	m.out = out + 1;
	for (uint8_t op; (op = *code++) != VALUES_END; code += operations[op].operand)
		if (op == VALUES_REGISTER && code[1] == VALUES_PUT) {
			/* As most do. By way of m.word it waits for what was stored, again and again. */
			sys_copy(m.out, &(&call->registers->rax)[*code], code[2]);
			m.out += code[2];
			put_value(&m, VALUES_WHOLE);
			code += 2;
		} else if (!step(&m, op, code)) {
			return 0;
		}
	*out = m.flawed ? VALUES_FLAWED : VALUES_WRITTEN;
	if (m.flawed)
		add_states(&m, out);
	return (size_t)(m.out - out);
}
