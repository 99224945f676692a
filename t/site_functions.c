/* SPDX-License-Identifier: MIT */
/* Five functions, compiled in many ways by t/site.t and t/list.t. `hidden` is in no dynamic symbol table. */
int site_leaf(int x);
int site_loop(int n);
int site_tail(int x);
int site_branch(int x);

__attribute__((noinline)) int site_leaf(int x)
{
	return x * 3 + 1;
}

__attribute__((noinline)) static int hidden(int x)
{
	__asm__("" : "+r"(x));
	return x ^ 5;
}

int site_loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += hidden(i);
	return sum;
}

int site_tail(int x)
{
	return site_leaf(x + 1);
}

/* clang 14 -Os makes a conditional tail call of this. */
int site_branch(int x)
{
	if (x)
		return site_leaf(x);
	return 4;
}

#ifdef WITH_EVENT
int site_event(int x);

int site_event(int x)
{
	__xray_customevent("event", 5);
	return site_leaf(x) + 1;
}
#endif

#ifdef WITH_GUARD
#include "runtime/xaudit.h"

int site_guard(int x);
int site_guards(int x);

int site_guard(int x)
{
	XAUDIT_IF_TRACED
	return x + 1;
	return x;
}

int site_guards(int x)
{
	XAUDIT_IF_TRACED
	x++;
	XAUDIT_IF_TRACED
	return site_leaf(x);
	return x;
}
#endif

#ifdef WITH_MAIN
int main(void)
{
	return site_loop(1) + site_tail(0) + site_branch(0);
}
#endif

#ifdef WITH_EXTRA
/* One more table entry, in a section that the test renames: the linker would join two of the same name. */
__asm__(".text\n"
	".globl site_extra\n"
	".type site_extra, @function\n"
	"site_extra: .nops 5, 1\n"
	"	ret\n"
	".size site_extra, . - site_extra\n"
	".section extra_entries, \"aw\", @progbits\n"
	"	.quad site_extra\n"
	".text\n");
#endif
