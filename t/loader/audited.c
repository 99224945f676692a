/* SPDX-License-Identifier: MIT */
/*
 * Calls whose arguments and results fill registers and stack, for t/loader/auditors.t. -DWIDTH=n: of vectors, in bytes.
 * -DLIBRARY: the functions; -DAUDITOR: an audit module that looks at each argument and result, changes some, and spoils
 * what it may; else the program.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>

typedef long vector __attribute__((vector_size(WIDTH)));

long audited_words(long a, long b, long c, long d, long e, long f, long g, long h);
vector audited_vectors(vector a, vector b, vector c, vector d, vector e, vector f, vector g, vector h);
long double audited_extended(long double a, double b);

static inline vector all(long value)
{
	vector v;

	for (unsigned i = 0; i < WIDTH / 8; i++)
		v[i] = value + i;
	return v;
}

#if defined(LIBRARY)
long audited_words(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 10 * (b + 10 * (c + 10 * (d + 10 * (e + 10 * (f + 10 * (g + 10 * h))))));
}

vector audited_vectors(vector a, vector b, vector c, vector d, vector e, vector f, vector g, vector h)
{
	return a + 10 * (b + 10 * (c + 10 * (d + 10 * (e + 10 * (f + 10 * (g + 10 * h))))));
}

long double audited_extended(long double a, double b)
{
	return a / b;
}

#elif defined(AUDITOR)
static unsigned entered, left, wrong;

static void expect(int right)
{
	wrong += !right;
}

static void spoil(void)
{
	const vector ones = all(-1);

	__asm__ volatile("movdqu %0, %%xmm0; movdqu %0, %%xmm1; movdqu %0, %%xmm7; movdqu %0, %%xmm15" : : "m"(ones));
#if WIDTH >= 32
	__asm__ volatile("vmovdqu %0, %%ymm0; vmovdqu %0, %%ymm1; vmovdqu %0, %%ymm7" : : "m"(ones));
#endif
#if WIDTH >= 64
	__asm__ volatile("vmovdqu64 %0, %%zmm0; vmovdqu64 %0, %%zmm1; vmovdqu64 %0, %%zmm7" : : "m"(ones));
#endif
}

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)map;
	(void)namespace;
	(void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

/* Where the wider registers lie beside the narrow ones: the latter count if they were changed. */
static void *vector_of(const La_x86_64_regs *regs, int i)
{
	return WIDTH == 16 ? (void *)&regs->lr_xmm[i] : (void *)&regs->lr_vector[i];
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
	La_x86_64_regs *regs, unsigned *flags, const char *name, long *frame)
{
	const long *stack = (const long *)regs->lr_rsp + 1; /* behind the return address */

	(void)index;
	(void)from;
	(void)to;
	(void)flags;
	if (strncmp(name, "audited_", 8))
		return symbol->st_value;
	entered++;
	*frame = 64;
	if (!strcmp(name, "audited_words")) {
		expect(regs->lr_rdi == 1 && regs->lr_rsi == 2 && regs->lr_rdx == 3 && regs->lr_rcx == 4 &&
			regs->lr_r8 == 5 && regs->lr_r9 == 6 && stack[0] == 7 && stack[1] == 8);
		regs->lr_rdi = 9;
		regs->lr_r9 = 5;
	} else if (!strcmp(name, "audited_vectors")) {
		for (int i = 0; i < 8; i++) {
			vector expected = all(i + 1), changed = all(8 - i);
			expect(!memcmp(vector_of(regs, i), &expected, WIDTH));
			memcpy(vector_of(regs, i), &changed, WIDTH);
		}
	} else {
		double b;
		long double a;
		memcpy(&b, &regs->lr_xmm[0], sizeof(b));
		memcpy(&a, stack, 10);
		expect(a == 7 && b == 2);
	}
	spoil();
	return symbol->st_value;
}

unsigned la_x86_64_gnu_pltexit(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
	const La_x86_64_regs *in, La_x86_64_retval *out, const char *name)
{
	(void)symbol;
	(void)index;
	(void)from;
	(void)to;
	if (strncmp(name, "audited_", 8))
		return 0;
	left++;
	if (!strcmp(name, "audited_words")) {
		expect(in->lr_rdi == 9 && out->lrv_rax == 87554329);
		out->lrv_rax = 17;
	} else if (!strcmp(name, "audited_vectors")) {
		vector *result = WIDTH == 16 ? (vector *)&out->lrv_xmm0 : (vector *)&out->lrv_vector0,
		       changed = all(170);
		vector expected;
		for (unsigned i = 0; i < WIDTH / 8; i++)
			expected[i] = 12345678 + 11111111 * i;
		expect(!memcmp(result, &expected, WIDTH));
		memcpy(result, &changed, WIDTH);
	} else {
		expect(out->lrv_st0 == 3.5L);
	}
	spoil();
	return 0;
}

__attribute__((destructor)) static void told(void)
{
	printf("entered %u, left %u, wrong %u\n", entered, left, wrong);
	fflush(stdout);
}

#else
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 3; i++) {
		long words = audited_words(1, 2, 3, 4, 5, 6, 7, 8);
		vector v = audited_vectors(all(1), all(2), all(3), all(4), all(5), all(6), all(7), all(8));
		long double quotient = audited_extended(argc + 6, argc + 1);
		printf("%ld %ld %ld %.1Lf\n", words, v[0], v[WIDTH / 8 - 1], quotient);
	}
	fflush(stdout);
	return 0;
}
#endif
