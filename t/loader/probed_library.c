/* SPDX-License-Identifier: MIT */
/* What the test of probes probes: instructions that need each way, at places that are known. */
#include <stdint.h>

/* In .probes, as sys/sdt.h has it: counts who listens. */
__attribute__((used, section(".probes"))) unsigned short probed_semaphore;

__asm__(".text\n"
	".balign 64\n"
	".globl probed_jump\n"
	".type probed_jump, @function\n"
	"probed_jump:\n"			/* 3a + b, by way of the red zone */
	"	lea (%rdi,%rdi,2), %eax\n"	/* +0 */
	"	mov %eax, -4(%rsp)\n"		/* +3 */
	"	add %esi, -4(%rsp)\n"		/* +7 */
	"	mov -4(%rsp), %eax\n"		/* +0xb */
	"	ret\n"				/* +0xf */
	".size probed_jump, .-probed_jump\n"
	".balign 64\n"
	".globl probed_loop\n"
	".type probed_loop, @function\n"
	"probed_loop:\n"			/* a + (a - 1) ... + 1 */
	"	xor %eax, %eax\n"		/* +0 */
	"	test %edi, %edi\n"		/* +2 */
	"	je 2f\n"			/* +4 */
	"1:	add %edi, %eax\n"		/* +6: each time around */
	"	sub $1, %edi\n"			/* +8 */
	"	jne 1b\n"			/* +0xb */
	"2:	ret\n"				/* +0xd */
	".size probed_loop, .-probed_loop\n"
	".balign 64\n"
	".globl probed_far\n"
	".type probed_far, @function\n"
	"probed_far:\n"			/* a + 1; where it jumps to, nobody can tell */
	"	lea 1f(%rip), %rax\n"		/* +0 */
	"	add %rsi, %rax\n"		/* +7 */
	"	jmp *%rax\n"			/* +0xa */
	"1:	mov %edi, %eax\n"		/* +0xc: two bytes, and 3 of the next one's */
	"	add $1, %eax\n"		/* +0xe */
	"	ret\n"				/* +0x11 */
	".size probed_far, .-probed_far\n");

unsigned probed_listeners(void);
unsigned probed_listeners(void)
{
	return *(volatile unsigned short *)&probed_semaphore;
}
