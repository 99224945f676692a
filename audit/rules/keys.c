/* SPDX-License-Identifier: MIT */
/* The keys of the configuration: their words, and how their values are read and stored. */
#include "audit/rules/keys.h"

#include <signal.h> /* SIGUSR2 */
#include <stdbool.h>

#include "runtime/record/filter.h" /* FILTER_TIME_MAX */
#include "x86_64/sys.h"    /* sys_same */

_Static_assert(FILTER_TIME_MAX == 100000000, "the row of time says so");

#define ROW(NAME, word, value, place, least, most, allowed, where) \
	{ word, allowed, RULES_VALUE_##value, offsetof(struct where, place), least, most },
const struct rules_key rules_keys[RULES_KEYS] = {
#define X(...) ROW(__VA_ARGS__, rules)
	RULES_KEYS_OF_TRACE(X)
#undef X
#define X(...) ROW(__VA_ARGS__, rules_section)
	RULES_KEYS_OF_SECTION(X)
#undef X
};

enum rules_key_number rules_key_find(int of_trace, const char *word, size_t length)
{
	int key = of_trace ? 0 : RULES_KEY_KINDS, end = of_trace ? RULES_KEY_KINDS : RULES_KEYS;

	for (; key < end; key++)
		if (length == sys_length(rules_keys[key].word) &&
			sys_same(word, rules_keys[key].word, length))
			return (enum rules_key_number)key;
	return RULES_KEYS;
}

bool rules_key_is_list(enum rules_key_number key)
{
	switch (rules_keys[key].value) {
	case RULES_VALUE_PATTERNS:
	case RULES_VALUE_LIBRARIES:
	case RULES_VALUE_SNAPSHOTS:
	case RULES_VALUE_KINDS:
		return true;
	default:
		return false;
	}
}

const char *rules_key_bad(enum rules_key_number key)
{
	int is_size = rules_keys[key].value == RULES_VALUE_POWER || rules_keys[key].value == RULES_VALUE_SIZE;

	return is_size ? "bad size " : "bad value ";
}

/* Index of the value in a text such as "stream, ring, count", or -1. */
static int choose(const char *value, const char *words)
{
	size_t length = sys_length(value);

	for (int i = 0; *words; i++) {
		size_t n = 0;

		while (words[n] && words[n] != ',')
			n++;
		if (n == length && sys_same(words, value, n))
			return i;
		words += n + (words[n] ? 2 : 0);
	}
	return -1;
}

/* Reads the number at *text and steps over it. Returns 0, or -1 when there are no digits or it exceeds `most`. */
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

/* Reads a number, with or without a fraction, and a unit, as whole ns: fractions of a ns are refused. */
static int read_time(const char *value, uint64_t most, uint64_t *ns)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} unit[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	uint64_t whole, fraction = 0, scale = 1;

	if (number(&value, most, &whole) < 0)
		return -1;
	if (*value == '.') {
		const char *first = ++value;

		if (number(&value, 999999999, &fraction) < 0 || value - first > 9)
			return -1;
		for (; first < value; first++)
			scale *= 10;
	}
	for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++) {
		if (!sys_same_text(value, unit[i].word))
			continue;
		if (whole > most / unit[i].ns || fraction * unit[i].ns % scale)
			return -1;
		*ns = whole * unit[i].ns + fraction * unit[i].ns / scale;
		return 0;
	}
	return -1;
}

/*
 * Signals that a user may send to ask for a snapshot. Signals with a meaning for the kernel or the program are not
 * among them: those that crash, stop or continue it, tell of children, or come with a file's limits.
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
	if (sys_same_text(word, "exit")) {
		rules->snapshot_exit = 1;
		return 0;
	}
	if (sys_same_text(word, "crash")) {
		rules->snapshot_crash = 1;
		return 0;
	}
	if (sys_length(word) < 7 || !sys_same(word, "signal:", 7))
		return -1;
	word += 7;
	if (sys_length(word) > 3 && sys_same(word, "SIG", 3))
		word += 3;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sys_same_text(word, signals[i].name)) {
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
	if (rules_keys[key].value == RULES_VALUE_SNAPSHOTS)
		rules->snapshot_signal = rules->snapshot_exit = rules->snapshot_crash = 0;
	else if (rules_key_is_list(key))
		*(struct rules_pattern **)((char *)rules + rules_keys[key].at) = NULL;
}

/* Reads a number, a size, or `off` where that is allowed. Returns 0, or -1 when it is none of these. */
static int read_number(const struct rules_key *key, const char *value, uint64_t *n)
{
	int is_size = key->value == RULES_VALUE_POWER || key->value == RULES_VALUE_SIZE, r = 0;

	*n = 0;
	if (key->value != RULES_VALUE_POWER && sys_same_text(value, "off"))
		return 0;
	if (is_size)
		*n = rules_bytes(value);
	else if (key->value == RULES_VALUE_TIME)
		r = read_time(value, key->most, n);
	else
		r = number(&value, key->most, n) < 0 ||
		    !sys_same_text(value, key->value == RULES_VALUE_PERCENT ? "%" : "");
	return r || *n < key->least || *n > key->most ? -1 : 0;
}

int rules_key_set(struct rules *rules, enum rules_key_number which, const char *value)
{
	const struct rules_key *key = &rules_keys[which];
	void *at = (char *)rules + key->at;
	uint64_t n = 0;
	int word = 0;

	switch (key->value) {
	case RULES_VALUE_PATH:
		*(const char **)at = value;
		return 0;
	case RULES_VALUE_WORD:
	case RULES_VALUE_YES:
		word = choose(value, key->allowed);
		if (word >= 0)
			*(int *)at = key->value == RULES_VALUE_YES ? !word : word;
		return word < 0 ? -1 : 0;
	case RULES_VALUE_POWER:
		if (read_number(key, value, &n) < 0 || (n & (n - 1)))
			return -1;
		*(size_t *)at = n;
		return 0;
	case RULES_VALUE_SIZE:
	case RULES_VALUE_TIME:
		if (read_number(key, value, &n) < 0)
			return -1;
		*(uint64_t *)at = n;
		return 0;
	case RULES_VALUE_PERCENT:
	case RULES_VALUE_COUNT:
		if (read_number(key, value, &n) < 0)
			return -1;
		*(uint32_t *)at = (uint32_t)n;
		return 0;
	case RULES_VALUE_SNAPSHOTS:
		return add_snapshot(rules, value);
	default:
		return -1; /* takes patterns or kinds */
	}
}

const char *rules_wrong(const char *word, const char *value)
{
	enum rules_key_number key = rules_key_find(1, word, sys_length(word));
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
