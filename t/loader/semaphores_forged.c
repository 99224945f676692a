/* SPDX-License-Identifier: MIT */
/*
 * A program whose probes of its own (USDT) name semaphores of all sorts: `twin` has two sites and a good one; the
 * others name words that can be none, or not any more: text, what is read-only once it is relocated (`fixed`), another
 * object's place (`foreign`), a word across two lines of the cache (`across`), the last byte of the data (`last`), and
 * one of a page that the program makes read-only later (`later`).
 *
 * Says "ready PID"; then, for each line,
 *	pass		comes by all sites once
 *	protect		makes the page of `later` read-only
 *	fork		has a child do that and answer
 * and answers "called TWIN FIXED ACROSS LAST LATER TEXT": the words, but of TEXT whether it is what it was.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTE(name, semaphore)                                                                                          \
	__asm__ volatile("990: nop\n"                                                                                  \
			 "	.pushsection .note.stapsdt, \"\", \"note\"\n"                                          \
			 "	.balign 4\n"                                                                           \
			 "	.4byte 8, 992f - 991f, 3\n"                                                            \
			 "	.asciz \"stapsdt\"\n"                                                                  \
			 "991:	.8byte 990b, _.stapsdt.base, " semaphore "\n"                                         \
			 "	.asciz \"forged\"\n"                                                                   \
			 "	.asciz \"" name "\"\n"                                                                 \
			 "	.asciz \"\"\n"                                                                         \
			 "992:	.balign 4\n"                                                                           \
			 "	.popsection\n")

__asm__("	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	"	.weak _.stapsdt.base\n"
	"	.hidden _.stapsdt.base\n"
	"_.stapsdt.base:\n"
	"	.space 1\n"
	"	.size _.stapsdt.base, 1\n"
	"	.popsection\n");

unsigned short twins __attribute__((section(".probes")));
/* Relocated, and constant from then on. */
extern void *const fixed[];
void *const fixed[] = { (void *)&twins, NULL };
static uint8_t lines[128] __attribute__((aligned(64), used, section(".data.lines"))) = { 1 };
static uint16_t later[2048] __attribute__((aligned(4096), used, section(".data.later"))) = { 7 };
extern uint8_t _end[];

__attribute__((noinline)) static void pass(void)
{
	NOTE("twin", "twins");
	NOTE("text", "text_begin");
	NOTE("fixed", "fixed + 8");
	NOTE("foreign", "0x12345678");
	NOTE("highest", "0xfffffffffffffffe");
	NOTE("across", "lines + 63");
	NOTE("last", "_end - 1");
	NOTE("later", "later + 2");
	NOTE("twin", "twins");
}

__asm__(".set text_begin, answer");

__attribute__((noinline)) static void answer(const uint8_t text[16])
{
	uint16_t across, fixed_word;
	void *const *known = fixed;

	__asm__ volatile("" : "+r"(known)); /* a compiler would know what is there */

	memcpy(&across, lines + 63, 2);
	fixed_word = (uint16_t)(uintptr_t)known[1];
	printf("called %u %u %u %u %u %s\n", *(volatile uint16_t *)&twins, fixed_word, across,
		_end[-1], *(volatile uint16_t *)&later[1],
		memcmp(text, (const void *)(uintptr_t)answer, 16) ? "changed" : "same");
	fflush(stdout);
}

int main(void)
{
	char line[64];
	uint8_t text[16];

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	memcpy(text, (const void *)(uintptr_t)answer, sizeof(text));
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "protect\n") && mprotect(later, sizeof(later), PROT_READ))
			return 3;
		if (!strcmp(line, "fork\n")) {
			pid_t child = fork();
			if (child) {
				waitpid(child, NULL, 0);
				continue;
			}
			pass();
			answer(text);
			_exit(0);
		}
		if (!strcmp(line, "pass\n"))
			pass();
		answer(text);
	}
	return 0;
}
