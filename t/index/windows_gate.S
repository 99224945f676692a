/* SPDX-License-Identifier: MIT */
/*
 * A gate of probes (x86_64/probe.h) that counts: windows_counts[word]++, windows_resumes[word] = RESUME. It changes no
 * register and no flag.
 */
	.text
	.globl windows_gate
	.type windows_gate, @function
windows_gate:
	push	%rax
	push	%rcx
	push	%rdx
	/* stack: rdx 0, rcx 8, rax 16, return into the stub 24, word 32, RESUME 40 */
	mov	32(%rsp), %eax
	mov	windows_counts(%rip), %rcx
	mov	(%rcx,%rax,8), %rdx
	lea	1(%rdx), %rdx
	mov	%rdx, (%rcx,%rax,8)
	mov	windows_resumes(%rip), %rcx
	mov	40(%rsp), %rdx
	mov	%rdx, (%rcx,%rax,8)
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
	.size windows_gate, . - windows_gate
	.section .note.GNU-stack, "", @progbits
