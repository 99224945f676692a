/* SPDX-License-Identifier: MIT */
/*
 * handlers_spoil TYPE [throw]: calculates with values in all kinds of registers, while the handler of that type (-1:
 * none) writes over all of them. Prints a checksum, and whether the handler was called. throw: see throwing().
 */
#include <xaudit.h>

#include <cstdio>
#include <cstdlib>

#include "t/api/handlers_work.h"

static long calls;

/*
 * Other rounding, exceptions noted, x87's stack full, the direction down; all a function may not leave so, beside what
 * it may.
 */
extern "C" void write_over_all(int has_avx512);

__asm__("	.text\n"
	"write_over_all:\n"
	"	sub $24, %rsp\n"
	"	movl $0x7fbf, (%rsp); ldmxcsr (%rsp)\n"
	"	movl $0x0c7f, (%rsp); fldcw (%rsp)\n"
	"	fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi\n"
	"	test %edi, %edi; jnz 2f\n"
#ifdef __AVX__
	"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	vxorps %ymm\\n, %ymm\\n, %ymm\\n; vcmptrueps %ymm\\n, %ymm\\n, %ymm\\n\n"
	"	.endr\n"
#else
	"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	pcmpeqd %xmm\\n, %xmm\\n\n"
	"	.endr\n"
#endif
	"	jmp 3f\n"
	"2:	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, "
	"26, 27, 28, 29, 30, 31\n"
	"	vpternlogd $0xff, %zmm\\n, %zmm\\n, %zmm\\n\n"
	"	.endr\n"
	"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7\n"
	"	kxnorw %k\\n, %k\\n, %k\\n\n"
	"	.endr\n"
	"3:	mov $0x7777777777777777, %rax; mov %rax, %rcx; mov %rax, %rdx; mov %rax, %rsi; mov %rax, %rdi\n"
	"	mov %rax, %r8; mov %rax, %r9; mov %rax, %r10; mov %rax, %r11\n"
	"	add $24, %rsp\n"
	"	stc; std\n"
	"	ret\n");

static int has_avx512;

static void spoil(const struct xaudit_handler_event *event, void *arg)
{
	(void)event, (void)arg;
	calls++;
	write_over_all(has_avx512);
}

static unsigned long sum;

static void add(const void *value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ static_cast<const unsigned char *>(value)[i]) * 0x100000001b3ul;
}

/* What lives over the calls is used behind them. */
static void calculate(int rounds, int kind)
{
	double d = 1.25;
	long double l = 1.1L, m = 2.3L;
	long n = 12345;
#ifdef __AVX__
	wide w = { 1, 2, 3, 4 }, v = { 0.5, 0.25, 7, 9 };
#endif

	for (int i = 0; i < rounds; i++) {
		d = work_doubles(d, i, d + 1, 3, d / 7, 5, i * 0.1, 7) / 1000;
		l = work_extended(l, m) + work_extended(m, l + d);
		long double _Complex c = work_complex(l, m);
		m = __real__ c / 3 + __imag__ c;
		n ^= work_integers(n, i, 3, n * 5, 7, n ^ i, 11) + work_tail(n) + work_jump(n);
#ifdef __AVX__
		wide x = work_wide(w, v);
		v = work_wide(x, w) / 1000;
		w = (w + x) / 100;
		add(&w, sizeof(w));
		add(&v, sizeof(v));
#endif
		if (!(i % 8)) {
			xaudit_event(&n, sizeof(n));
			xaudit_typed_event(kind, &d, sizeof(d));
		}
		add(&d, sizeof(d));
		add(&l, 10);
		add(&m, 10);
		add(&n, sizeof(n));
	}
}

static int armed;

static void thrower(const struct xaudit_handler_event *event, void *arg)
{
	(void)arg;
	if (armed)
		throw static_cast<int>(event->type);
}

/*
 * An exception leaves each call of the handler, and arrives at the caller of the function, or of xaudit_event(): all of
 * them, with the next event told again. Then all goes on, and the handler can be removed.
 */
static int throwing(int type)
{
	int caught = 0, guarded = 0, kind = xaudit_register_type("t");
	long results = 0;

	if (xaudit_set_handler(type, thrower, NULL))
		return 3;
	for (int i = 0; i < 100; i++) {
		try {
			armed = 1;
			if (type == XAUDIT_HANDLE_CUSTOM)
				xaudit_event(&i, sizeof(i));
			else if (type == XAUDIT_HANDLE_TYPED)
				xaudit_typed_event(kind, &i, sizeof(i));
			else if (type == XAUDIT_HANDLE_TAIL)
				work_tail(i);
			else if (i % 2)
				work_last(i);
			else
				work_guarded(i, &guarded);
		} catch (int thrown) {
			caught += thrown == type;
		}
		armed = 0;
		results += work_last(i) + work_guarded(i, &guarded);
	}
	int removed = xaudit_remove_handler(type);
	printf("caught %d guarded %d results %ld removed %d\n", caught, guarded, results, removed);
	return 0;
}

int main(int argc, char **argv)
{
	int type = argc > 1 ? atoi(argv[1]) : -1;

	__builtin_cpu_init();
	has_avx512 = __builtin_cpu_supports("avx512f");
	if (argc > 2)
		return throwing(type);
	int kind = xaudit_register_type("t");
	if (type >= 0 && xaudit_set_handler(type, spoil, NULL))
		return 3;
	calculate(200, kind);
	printf("%016lx", sum);
	if (type >= 0)
		printf(" %s", xaudit_remove_handler(type) ? "not removed" : calls ? "called" : "never called");
	putchar('\n');
	return 0;
}
