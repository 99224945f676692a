/* SPDX-License-Identifier: MIT */
/*
 * Probes of a library's own (USDT) with semaphores, as <sys/sdt.h> makes them: `item` is passed where somebody listens
 * alone, as the program asks; `odd` names a semaphore that can't be one, since it is constant.
 */
unsigned short listened __attribute__((section(".probes"), visibility("hidden")));
extern const unsigned short constant __attribute__((visibility("hidden")));
const unsigned short constant __attribute__((used)) = 77;
static unsigned worked;

#define NOTE(name, semaphore)                                                                                          \
	"990: nop\n"                                                                                                   \
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"                                                          \
	"	.balign 4\n"                                                                                           \
	"	.4byte 8, 992f - 991f, 3\n"                                                                            \
	"	.asciz \"stapsdt\"\n"                                                                                  \
	"991:	.8byte 990b, _.stapsdt.base, " semaphore "\n"                                                          \
	"	.asciz \"sem\"\n"                                                                                      \
	"	.asciz \"" name "\"\n"                                                                                 \
	"	.asciz \"-8@%%rdi\"\n"                                                                                 \
	"992:	.balign 4\n"                                                                                           \
	"	.popsection\n"

__asm__("	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	"	.weak _.stapsdt.base\n"
	"	.hidden _.stapsdt.base\n"
	"_.stapsdt.base:\n"
	"	.space 1\n"
	"	.size _.stapsdt.base, 1\n"
	"	.popsection\n");

void visit(long n);
__attribute__((noinline)) void visit(long n)
{
	if (*(volatile unsigned short *)&listened) {
		worked++;
		__asm__ volatile(NOTE("item", "listened") : : "D"(n));
	}
	__asm__ volatile(NOTE("odd", "constant") : : "D"(n));
}

void tell(unsigned told[3]);
void tell(unsigned told[3])
{
	told[0] = *(volatile unsigned short *)&listened;
	told[1] = worked;
	told[2] = *(const volatile unsigned short *)&constant;
}
