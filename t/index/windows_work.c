/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "t/index/windows_work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES 500

/* A function of the library, as the one of the same name is declared. */
#define OF(handle, name) ((__typeof__(&name))dlsym(handle, #name))

static uint64_t add(uint64_t sum, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n--)
		sum = (sum ^ *p++) * 0x100000001b3;
	return sum;
}

/* Text that can be compressed, somewhat. */
static void fill(uint8_t *to, size_t n)
{
	uint32_t x = 12345;

	for (size_t i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		to[i] = x >> 30 ? (uint8_t)"the same words "[i % 15] : (uint8_t)(x >> 20);
	}
}

/* ---- libz ---- */

struct z_stream { /* of zlib.h */
	const uint8_t *next_in;
	unsigned avail_in;
	unsigned long total_in;
	uint8_t *next_out;
	unsigned avail_out;
	unsigned long total_out;
	const char *msg;
	void *state;
	void *(*zalloc)(void *, unsigned, unsigned);
	void (*zfree)(void *, void *);
	void *opaque;
	int data_type;
	unsigned long adler, reserved;
};

static uint8_t arena[1 << 20];
static size_t used;

static void *zalloc(void *opaque, unsigned items, unsigned size)
{
	void *p = arena + used;

	(void)opaque;
	used += (items * size + 63) & ~63u;
	return used <= sizeof(arena) ? p : NULL;
}

static void zfree(void *opaque, void *p)
{
	(void)opaque;
	(void)p;
}

/* With little memory: each byte of what is cleared by `rep` would be a step. */
static uint64_t run_libz(void *handle)
{
	unsigned long (*crc32)(unsigned long, const uint8_t *, unsigned) = dlsym(handle, "crc32");
	unsigned long (*adler32)(unsigned long, const uint8_t *, unsigned) = dlsym(handle, "adler32");
	int (*deflate_init)(struct z_stream *, int, int, int, int, int, const char *, int) =
		dlsym(handle, "deflateInit2_");
	int (*inflate_init)(struct z_stream *, int, const char *, int) = dlsym(handle, "inflateInit2_");
	int (*deflate)(struct z_stream *, int) = dlsym(handle, "deflate");
	int (*inflate)(struct z_stream *, int) = dlsym(handle, "inflate");
	int (*deflate_end)(struct z_stream *) = dlsym(handle, "deflateEnd");
	int (*inflate_end)(struct z_stream *) = dlsym(handle, "inflateEnd");
	static uint8_t in[BYTES], packed[2 * BYTES], out[BYTES];
	uint64_t sum = 0;

	fill(in, sizeof(in));
	for (int level = 1; level <= 6; level += 5) {
		const int strategy = level > 1 ? 4 : 0;
		struct z_stream z = { .zalloc = zalloc, .zfree = zfree, .next_in = in, .avail_in = BYTES,
			.next_out = packed, .avail_out = sizeof(packed) };
		used = 0;
		sum = 31 * sum + (unsigned)deflate_init(&z, level, 8, 26, 1, strategy, "1.2.11", sizeof(z));
		sum = 31 * sum + (unsigned)deflate(&z, 4);
		sum = add(sum, packed, z.total_out);
		unsigned size = (unsigned)z.total_out;
		deflate_end(&z);
		z = (struct z_stream){ .zalloc = zalloc, .zfree = zfree, .next_in = packed, .avail_in = size,
			.next_out = out, .avail_out = BYTES };
		used = 0;
		sum = 31 * sum + (unsigned)inflate_init(&z, 47, "1.2.11", sizeof(z));
		sum = 31 * sum + (unsigned)inflate(&z, 4);
		sum = add(sum, out, sizeof(out));
		inflate_end(&z);
	}
	for (unsigned n = 0; n < 100; n += 9)
		sum = add(sum, (unsigned long[]){ crc32(0, in + n % 16, n), adler32(1, in + n % 16, 9 * n) }, 16);
	return sum;
}

/* ---- libc ---- */

static int by_value(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static uint64_t run_text(void *libc, uint64_t sum)
{
	static const char *const number[] = { "0", "-17", "0x1fz", "0777", "99999999999999999999", " +12 ", "zz" };
	static const char *const real[] = { "0", "3.14159", "-1e300", "1e-310", "0x1.8p3", "inf",
		"12345678901234567890.5" };
	char text[512];

	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		for (int base = 0; base <= 36; base += 12) {
			char *end;
			long value = OF(libc, strtol)(number[i], &end, base);
			sum = add(sum, &value, sizeof(value));
			sum += (uint64_t)(end - number[i]);
			unsigned long long wide = OF(libc, strtoull)(number[i], NULL, base);
			sum = add(sum, &wide, sizeof(wide));
		}
	for (size_t i = 0; i < sizeof(real) / sizeof(*real); i++) {
		double value = OF(libc, strtod)(real[i], NULL);
		int n = OF(libc, snprintf)(text, sizeof(text), "%g|%.17e|%20.3f|%a|%-12.1Lf|", value, value, value,
			value, (long double)value);
		sum = add(sum, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text));
	}
	for (int i = -3; i < 40; i += 7) {
		int a = 0, b = 0, width = i > 0 ? i : 1;
		int n = OF(libc, snprintf)(text, sizeof(text), "%d %08x %-5o|%+lld|%5s|%.2s|%c|%p|%%|%zu|%hhd|%*d", i,
			(unsigned)i, (unsigned)i, (long long)i * 1234567890123, "ab", "abcdef", 'x',
			(void *)(uintptr_t)(i + 4), sizeof(i), i, width, 5);
		sum = add(sum, text, (size_t)n);
		sum += (uint64_t)OF(libc, sscanf)(text, "%d %x", &a, (unsigned *)&b) + (unsigned)(a ^ b);
	}
	return sum;
}

static uint64_t run_memory(void *libc, uint64_t sum)
{
	static char a[2048], b[2048];
	int numbers[200];

	fill((uint8_t *)a, sizeof(a));
	for (size_t n = 0; n < 700; n = 2 * n + 1)
		for (size_t at = 0; at < 40; at += 29) {
			OF(libc, memset)(b, (int)n, n + 64);
			OF(libc, memcpy)(b + at, a + 7, n);
			OF(libc, memmove)(b + at + 5, b + at, n);
			b[at + n] = '\0';
			sum = add(sum, b, n + 64);
			sum += OF(libc, strlen)(b + at) + (uint64_t)(OF(libc, memcmp)(a, b, n) > 0);
			sum += (uint64_t)(OF(libc, memchr)(a + at, 'w', n) != NULL);
			sum += (uint64_t)(OF(libc, strncmp)(a + 15, b + at, n) < 0);
		}
	a[600] = '\0';
	for (const char *word = "the same words the"; *word; word++) {
		char *found = OF(libc, strstr)(a, word);
		sum += (uint64_t)(found ? found - a : -1) + OF(libc, strcspn)(a, word) + OF(libc, strspn)(word, a);
		found = OF(libc, strrchr)(a, *word);
		sum += (uint64_t)(found ? found - a : -1);
	}
	for (int i = 0; i < 200; i++)
		numbers[i] = i * 7919 % 1009;
	OF(libc, qsort)(numbers, 200, sizeof(*numbers), by_value);
	return add(sum, numbers, sizeof(numbers));
}

static uint64_t run_time(void *libc, uint64_t sum)
{
	for (time_t t = -100000000; t < 2000000000; t += 700000007) {
		struct tm tm = { 0 };
		char text[200];
		OF(libc, gmtime_r)(&t, &tm);
		size_t n = OF(libc, strftime)(text, sizeof(text),
			"%a %A %b %B %c %d %H %I %j %m %M %p %S %U %w %x %X %Y", &tm);
		sum = add(sum, text, n);
	}
	return sum;
}

static uint64_t run_libc(void *handle)
{
	return run_time(handle, run_memory(handle, run_text(handle, 0)));
}

/* ---- libcrypto ---- */

typedef uint8_t *digest(const uint8_t *, size_t, uint8_t *);

static uint64_t run_ciphers(void *handle, const uint8_t *in, uint64_t sum)
{
	int (*set)(const uint8_t *, int, void *) = dlsym(handle, "AES_set_encrypt_key");
	int (*unset)(const uint8_t *, int, void *) = dlsym(handle, "AES_set_decrypt_key");
	void (*cbc)(const uint8_t *, uint8_t *, size_t, void *, uint8_t *, int) = dlsym(handle, "AES_cbc_encrypt");
	void (*rc4_key)(void *, int, const uint8_t *) = dlsym(handle, "RC4_set_key");
	void (*rc4)(void *, size_t, const uint8_t *, uint8_t *) = dlsym(handle, "RC4");
	static uint8_t key[2048] __attribute__((aligned(64))), out[1024] __attribute__((aligned(64)));

	for (int bits = 128; bits <= 256; bits += 128) {
		uint8_t vector[16] = { 1 };
		set(in, bits, key);
		cbc(in, out, 700, key, vector, 1);
		sum = add(sum, out, 704);
		unset(in, bits, key);
		cbc(in, out, 704, key, vector, 0);
		sum = add(sum, out, 704);
	}
	rc4_key(key, 16, in);
	rc4(key, 500, in, out);
	return add(sum, out, 500);
}

static uint64_t run_numbers(void *handle, uint64_t sum)
{
	void *(*new)(void) = dlsym(handle, "BN_new"), *(*context)(void) = dlsym(handle, "BN_CTX_new");
	int (*read)(void **, const char *) = dlsym(handle, "BN_hex2bn");
	int (*power)(void *, const void *, const void *, const void *, void *) = dlsym(handle, "BN_mod_exp");
	int (*divide)(void *, void *, const void *, const void *, void *) = dlsym(handle, "BN_div");
	int (*write)(const void *, uint8_t *) = dlsym(handle, "BN_bn2bin");
	void (*drop)(void *) = dlsym(handle, "BN_free"), (*drop_context)(void *) = dlsym(handle, "BN_CTX_free");
	void *n[5], *ctx = context();
	uint8_t bytes[256] = { 0 };

	for (int i = 0; i < 5; i++)
		n[i] = new();
	read(&n[0], "123456789abcdef0fedcba9876543210123456789abcdef0fedcba9876543211");
	read(&n[1], "10001");
	read(&n[2], "f23456789abcdef0fedcba9876543210123456789abcdef0fedcba987654321102468acf");
	sum += (uint64_t)power(n[3], n[0], n[1], n[2], ctx);
	sum = add(sum, bytes, (size_t)write(n[3], bytes));
	sum += (uint64_t)divide(n[4], n[3], n[2], n[1], ctx);
	sum = add(sum, bytes, (size_t)write(n[4], bytes));
	for (int i = 0; i < 5; i++)
		drop(n[i]);
	drop_context(ctx);
	return sum;
}

static uint64_t run_libcrypto(void *handle)
{
	static const char *const names[] = { "MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512" };
	static uint8_t in[BYTES];
	uint64_t sum = 0;

	fill(in, sizeof(in));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		digest *digest_of = (digest *)dlsym(handle, names[i]);
		uint8_t md[64] = { 0 };
		for (size_t n = 0; n < 300; n = 2 * n + 111)
			sum = add(sum, digest_of(in, n, md), 16);
	}
	return run_numbers(handle, run_ciphers(handle, in, sum));
}

uint64_t work_odd(void *handle)
{
	uint64_t (*odd)(void) = dlsym(handle, "windows_odd");

	return odd();
}

const struct work works[] = {
	{ "libz.so.1", false, run_libz },
	{ "libc.so.6", true, run_libc },
	{ "libcrypto.so.3", false, run_libcrypto },
	{ 0 },
};
