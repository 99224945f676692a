/* SPDX-License-Identifier: MIT */
/* The keys of the configuration: their words, what they take, and what becomes of it. */
#include "audit/rules/keys.h"

#include <signal.h> /* SIGUSR2 */

#include "runtime/filter.h" /* FILTER_TIME_MAX */
#include "x86_64/sys.h"    /* sys_same */

#define TIME_MAX  FILTER_TIME_MAX
#define DEPTH_MAX 1000000

_Static_assert(TIME_MAX == 100 * 1000000, "rules_keys.h says 100ms");

#define X(NAME, word, what, allowed) { word, what, allowed },
const struct rules_key rules_keys[RULES_KEYS] = { RULES_KEYS_OF_TRACE(X) RULES_KEYS_OF_SECTION(X) };
#undef X

static int same(const char *a, const char *b)
{
	size_t n = sys_length(a);

	return n == sys_length(b) && sys_same(a, b, n);
}

enum rules_key_number rules_key_find(int of_trace, const char *word)
{
	int key = of_trace ? 0 : RULES_KEY_KINDS, end = of_trace ? RULES_KEY_KINDS : RULES_KEYS;

	for (; key < end; key++)
		if (same(word, rules_keys[key].word))
			return (enum rules_key_number)key;
	return RULES_KEYS;
}

int rules_key_is_list(enum rules_key_number key)
{
	return key == RULES_KEY_BELOW || key == RULES_KEY_STACK_COPYING || key == RULES_KEY_SNAPSHOT ||
	       key >= RULES_KEY_KINDS;
}

/* Which of the words it is, or -1. */
static int choose(const char *value, const char *const *word, int count)
{
	for (int i = 0; i < count; i++)
		if (same(value, word[i]))
			return i;
	return -1;
}

/* Like choose(), into *to. Returns 0 or -1. */
#define CHOOSE(to, value, word)                                                                                        \
	({                                                                                                             \
		int chosen_ = choose(value, word, (int)(sizeof(word) / sizeof(*(word))));                              \
		if (chosen_ >= 0)                                                                                      \
			(to) = chosen_;                                                                                \
		chosen_ < 0 ? -1 : 0;                                                                                  \
	})

/* Digits at *text, up to most; steps over them. Returns 0, or -1 when there are none or they are more. */
static int number(const char **text, uint64_t most, uint64_t *value)
{
	const char *p = *text;

	*value = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (digit > most || *value > (most - digit) / 10)
			return -1;
		*value = *value * 10 + digit;
	}
	if (p == *text)
		return -1;
	*text = p;
	return 0;
}

static int set_size(uint64_t *size, const char *value, uint64_t least, uint64_t most)
{
	uint64_t bytes = rules_bytes(value);

	if (bytes < least || bytes > most)
		return -1;
	*size = bytes;
	return 0;
}

static int set_throttle(unsigned *percent, const char *value)
{
	uint64_t n;

	if (same(value, "off")) {
		*percent = 0;
		return 0;
	}
	if (number(&value, 99, &n) < 0 || n == 0 || !same(value, "%"))
		return -1;
	*percent = (unsigned)n;
	return 0;
}

static int set_depth(uint32_t *depth, const char *value)
{
	uint64_t n;

	if (same(value, "off")) {
		*depth = 0;
		return 0;
	}
	if (number(&value, DEPTH_MAX, &n) < 0 || n == 0 || *value)
		return -1;
	*depth = (uint32_t)n;
	return 0;
}

/* A number with a fraction or none, and a unit, to whole ns: what is finer than that is refused. */
static int set_time(uint64_t *ns, const char *value)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} unit[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	uint64_t whole, fraction = 0, scale = 1;

	if (same(value, "off")) {
		*ns = 0;
		return 0;
	}
	if (number(&value, TIME_MAX, &whole) < 0)
		return -1;
	if (*value == '.') {
		const char *first = ++value;

		if (number(&value, 999999999, &fraction) < 0 || value - first > 9)
			return -1;
		for (; first < value; first++)
			scale *= 10;
	}
	for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++) {
		if (!same(value, unit[i].word))
			continue;
		if (whole > TIME_MAX / unit[i].ns || fraction * unit[i].ns % scale)
			return -1;
		uint64_t time = whole * unit[i].ns + fraction * unit[i].ns / scale;
		if (time == 0 || time > TIME_MAX)
			return -1;
		*ns = time;
		return 0;
	}
	return -1;
}

/*
 * Signals that a user may send to ask for a snapshot. None that says a thing to the kernel or about the program itself:
 * those that crash, stop or continue it, tell of children, or come with a file's limits.
 */
static const struct {
	const char *name;
	int number;
} signals[] = {
#define X(name) { #name, SIG##name },
	RULES_SIGNALS(X)
#undef X
};

static int add_snapshot(struct rules *rules, const char *word)
{
	if (same(word, "exit")) {
		rules->snapshot_exit = 1;
		return 0;
	}
	if (same(word, "crash")) {
		rules->snapshot_crash = 1;
		return 0;
	}
	if (sys_length(word) < 7 || !sys_same(word, "signal:", 7))
		return -1;
	word += 7;
	if (sys_length(word) > 3 && sys_same(word, "SIG", 3))
		word += 3;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (same(word, signals[i].name)) {
			if (rules->snapshot_signal && rules->snapshot_signal != signals[i].number)
				return -1;
			rules->snapshot_signal = signals[i].number;
			return 0;
		}
	return -1;
}

const char *rules_signal(int number)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].number == number)
			return signals[i].name;
	return NULL;
}

void rules_key_clear(struct rules *rules, enum rules_key_number key)
{
	if (key == RULES_KEY_BELOW)
		rules->below = NULL;
	if (key == RULES_KEY_STACK_COPYING)
		rules->stack_copying = NULL;
	if (key == RULES_KEY_SNAPSHOT)
		rules->snapshot_signal = rules->snapshot_exit = rules->snapshot_crash = 0;
}

int rules_key_set(struct rules *rules, enum rules_key_number key, const char *value)
{
	static const char *const yes_no[] = { "no", "yes" }, *const no_yes[] = { "yes", "no" };
	uint64_t size;

	switch (key) {
	case RULES_KEY_OUTPUT:
		rules->output = value;
		return 0;
	case RULES_KEY_BUFFER:
		size = rules_size(value);
		if (!size)
			return -1;
		rules->buffer = size;
		return 0;
	case RULES_KEY_CLOCK:
		return CHOOSE(rules->clock, value, rules_clock_words);
	case RULES_KEY_FOLLOW:
		return CHOOSE(rules->follow, value, yes_no);
	case RULES_KEY_MODE:
		return CHOOSE(rules->mode, value, rules_mode_words);
	case RULES_KEY_RING:
		if (set_size(&size, value, RULES_RING_MIN, RULES_RING_MAX) < 0 || (size & (size - 1)))
			return -1;
		rules->ring = size;
		return 0;
	case RULES_KEY_SIZE_LIMIT:
		if (same(value, "off")) {
			rules->size_limit = 0;
			return 0;
		}
		return set_size(&rules->size_limit, value, RULES_SIZE_LIMIT_MIN, INT64_MAX);
	case RULES_KEY_OVERFLOW:
		return CHOOSE(rules->overflow, value, rules_overflow_words);
	case RULES_KEY_ENABLED:
		return CHOOSE(rules->disabled, value, no_yes);
	case RULES_KEY_PREPARE:
		return CHOOSE(rules->prepare, value, rules_prepare_words);
	case RULES_KEY_THROTTLE:
		return set_throttle(&rules->throttle, value);
	case RULES_KEY_DEPTH:
		return set_depth(&rules->depth, value);
	case RULES_KEY_TIME:
		return set_time(&rules->time, value);
	case RULES_KEY_SNAPSHOT:
		return add_snapshot(rules, value);
	case RULES_KEY_CONTROL: {
		static const char *const word[] = { "owner", "any" };
		return CHOOSE(rules->control_any, value, word);
	}
	case RULES_KEY_MERGE:
		return CHOOSE(rules->merge, value, yes_no);
	default:
		return -1; /* takes patterns or kinds */
	}
}

const char *rules_wrong(const char *word, const char *value)
{
	enum rules_key_number key = rules_key_find(1, word);
	struct rules scratch = { 0 };
	const char *allowed = key == RULES_KEYS ? "" : rules_keys[key].allowed;

	if (key == RULES_KEY_SNAPSHOT) {
		char one[32];
		int words = 0;

		for (size_t n; *value; value += n + (value[n] != '\0')) {
			for (n = 0; value[n] && value[n] != ' ' && value[n] != '\t' && value[n] != ','; n++)
				;
			if (!n)
				continue;
			if (n >= sizeof(one))
				return allowed;
			sys_copy(one, value, n);
			one[n] = '\0';
			if (add_snapshot(&scratch, one) < 0)
				return allowed;
			words++;
		}
		return words ? NULL : allowed;
	}
	return key == RULES_KEYS || rules_key_set(&scratch, key, value) < 0 ? allowed : NULL;
}

const char *const rules_mode_words[3] = {
	[TRACE_MODE_STREAM] = "stream", [TRACE_MODE_RING] = "ring", [TRACE_MODE_COUNT] = "count"
};
const char *const rules_clock_words[4] = {
	[RULES_CLOCK_AUTO] = "auto", [RULES_CLOCK_TSC] = "tsc", [RULES_CLOCK_MONOTONIC] = "monotonic",
	[RULES_CLOCK_COARSE] = "coarse"
};
const char *const rules_overflow_words[2] = {
	[TRACE_OVERFLOW_WAIT] = "wait", [TRACE_OVERFLOW_DROP] = "drop"
};
const char *const rules_prepare_words[3] = {
	[RULES_PREPARE_SELECTED] = "selected", [RULES_PREPARE_ALL] = "all", [RULES_PREPARE_NONE] = "none"
};
