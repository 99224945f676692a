#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit index: code of runtimes that copy it, or walk stacks by return addresses; and distances of jump tables that
# count from a place of the function.
. "${top_srcdir:-.}/t/lib/tap.sh"

need objcopy
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
export XAUDIT_INDEX="$tmp/cache"

functions() {
	bounded 60 "$XAUDIT" index -nv "$@" 2>err | sed -n 's/^[0-9a-f]\{16\} *[0-9]* *//p' | sed 's/  */ /g'
}
make() {
	"$CC" "$@" 2>err || bail "$CC: $(cat err)"
}
alone='(entry only: it, or its runtime, reads or moves return addresses)'
refused="(its language's runtime copies or reads it, or has it run on stacks with little room)"

# Behind each there is `room`.
cat >function.S <<'END'
	.macro FUNCTION name
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	mov $1, %eax
	ret
	.cfi_endproc
	.size \name, . - \name
	.fill room, 1, 0xcc
	.endm
END
cat >runtime.S <<'END'
	.set room, 16
	.include "function.S"
	.text
	FUNCTION before
#ifdef WALKS
	FUNCTION JNI_CreateJavaVM
#endif
v8_Default_embedded_blob_code_:
	FUNCTION Builtins_A
.Lend:	FUNCTION behind
	.section .rodata
v8_Default_embedded_blob_code_size_:
#ifdef BLOB
	.long .Lend - v8_Default_embedded_blob_code_
#else
	.long 0
#endif
#ifdef MONO
	.data
	.globl mono_aot_file_info
	.type mono_aot_file_info, @object
mono_aot_file_info:
	.quad 0
#endif
#ifdef GO
	.section GO, "a"
	.quad 0
#endif
	.section .note.GNU-stack, "", @progbits
END
make -shared -nostdlib -o plain.so runtime.S
make -shared -nostdlib -DBLOB -o blob.so runtime.S
make -shared -nostdlib -DWALKS -o walks.so runtime.S
is "$(functions plain.so)" 'jump 0+5 before
jump 0+5 Builtins_A
jump 0+5 behind' 'functions of no runtime'
is "$(functions blob.so)" "jump 0+5 before
- - Builtins_A $refused
jump 0+5 behind" 'those that V8 copies are refused'
is "$(functions walks.so)" "jump 0+5 before $alone
jump 0+5 JNI_CreateJavaVM $alone
jump 0+5 Builtins_A $alone
jump 0+5 behind $alone" 'where return addresses are read on stacks, returns are left alone'
for section in .gopclntab .go.buildinfo .note.go.buildid; do
	make -shared -nostdlib -DGO="$section" -o go.so runtime.S
	is "$(functions go.so)" "- - before $refused
- - Builtins_A $refused
- - behind $refused" "and on goroutines' stacks, which $section tells of, functions are"
done
make -shared -nostdlib -DMONO -o mono.so runtime.S
strip -o mono_stripped.so mono.so || bail 'strip fails'
for file in mono.so mono_stripped.so; do
	is "$(functions $file)" "- - before $refused
- - Builtins_A $refused
- - behind $refused" "so are those whose calls Mono reads: $file"
done

# Code whose runtime looks where a fault was.
judged="(its language's runtime judges faults by the instruction pointer, which would be another)"
cat >judged.S <<'END'
	.set room, 0
	.include "function.S"
	.macro LABEL name
	.globl "\name"
"\name":
	.endm
	.text
	FUNCTION before
#ifdef UNITS
	LABEL UNITS(code_begin)
	FUNCTION camlOne__f_1
	LABEL UNITS(code_end)
	FUNCTION between
	LABEL UNITS(code_begin)
	LABEL UNITS(code_end)
	LABEL UNITS(code_begin)
	FUNCTION camlTwo__f_2
	LABEL UNITS(code_end)
#endif
	FUNCTION behind
	.globl loads
	.type loads, @function
loads:	.cfi_startproc
	mov (%rdi), %eax
	add $1, %eax
	ret
	.cfi_endproc
	.size loads, . - loads
#ifdef NAMED
	.data
	LABEL NAMED
	.quad 0
#endif
#ifdef SECTION
	.section SECTION, "a"
	.quad 0
#endif
	.section .note.GNU-stack, "", @progbits
END
elsewhere='(may fault elsewhere)'
make -shared -nostdlib -o judged.so judged.S
is "$(functions judged.so)" "jump 0+5 before
jump 0+5 behind
jump 0+5 loads $elsewhere" 'functions of no such runtime'
for sign in __ . '$'; do
	# The assembler knows a label once: units have names of their own.
	awk -v sign="$sign" '/LABEL UNITS/ { sub(/UNITS\(/, "camlU" int(++n / 2 + .5) sign); sub(/\)/, "") } 1' \
		judged.S >units.S
	make -shared -nostdlib -DUNITS -DNAMED=caml_frametable -o units.so units.S
	is "$(functions units.so)" "jump 0+5 before $alone
- - camlOne__f_1 $alone $judged
jump 0+5 between $alone
- - camlTwo__f_2 $alone $judged
jump 0+5 behind $alone
jump 0+5 loads $alone $elsewhere" "of an OCaml program those in its units are refused: code_begin behind $sign"
done
strip -o units_stripped.so units.so || bail 'strip fails'
is "$(functions units_stripped.so)" "$(functions units.so)" 'in a stripped one, too'
make -shared -nostdlib -DNAMED=caml_frametable -o units.so judged.S
is "$(functions units.so | grep -c -- "- - .*$judged\$")" 3 'where its units are not known, all are'
for name in wasm_engine_new wasm_runtime_full_init WasmEdge_VMCreate wasm.code WASMER_METADATA_A; do
	make -shared -nostdlib "-DNAMED=$name" -o wasm.so judged.S
	is "$(functions wasm.so)" "- - before $judged
- - behind $judged
- - loads $judged" "so are those of wasm: $name"
done
make -shared -nostdlib -DNAMED=coreclr_initialize -o net.so judged.S
is "$(functions net.so)" "jump 0+5 before
jump 0+5 behind
- - loads $judged" 'of .NET those that may fault elsewhere'
make -shared -nostdlib -DSECTION=__managedcode -o net.so judged.S
is "$(functions net.so)" "jump 0+5 before $alone
jump 0+5 behind $alone
- - loads $alone $judged" 'and of what it compiled, which it walks'
sed 's/loads/SafeFetchN_impl/g' judged.S >fetch.S
make -shared -nostdlib -DNAMED=JNI_CreateJavaVM -o fetch.so fetch.S
is "$(functions fetch.so)" "jump 0+5 before $alone
jump 0+5 behind $alone
- - SafeFetchN_impl $alone $judged" 'of HotSpot the one that reads where nothing may be'

# As glibc has it from 2.41 on: pthread_cancel looks whether a signal came there.
cat >cancel.S <<'END'
	.set room, 0
	.include "function.S"
	.text
	FUNCTION CANCELS
	.cfi_startproc
	.globl start, end
start:	mov (%rdi), %eax
	testb $8, (%rdi)
	jne far
	mov %rdi, %r11
	mov %rsi, %rax
	mov %rdx, %rdi
	mov %rcx, %rsi
	mov %r8, %rdx
	mov %r9, %r10
	mov 8(%rsp), %r8
	mov 16(%rsp), %r9
	mov %r11, 8(%rsp)
	syscall
end:	ret
	.cfi_endproc
	FUNCTION behind
	.fill 200, 1, 0xcc
far:	ud2
	.section .note.GNU-stack, "", @progbits
END
make -shared -nostdlib -DCANCELS=pthread_cancel -o cancel.so cancel.S
strip cancel.so || bail 'strip fails'
is "$(functions cancel.so)" "jump 0+5 pthread_cancel
- - ? $judged
jump 0+5 behind" 'the way into system calls that cancel a thread is refused'
is "$("$XAUDIT" list cancel.so pthread_cancel | grep -c 'no probe: its language.s runtime judges')
$("$XAUDIT" index -nv cancel.so | sed -n "s/^  probes refused, its language's runtime judges [^:]*: //p")" '0
13 (72.2 %)' 'with each of its instructions up to the end of the call'
make -shared -nostdlib -DCANCELS=no_cancel -o cancel.so cancel.S
strip cancel.so || bail 'strip fails'
is "$(functions cancel.so | grep -c judges)" 0 'but not in what cancels no threads'

# A label behind the first instruction is reached by a table whose distances count from another label.
cat >computed.c <<'END'
#include <stdio.h>

__attribute__((noinline)) static int run(const unsigned char *p)
{
	static const int table[] = { &&more - &&end, &&end - &&end };
	int sum = 0;
more:
	sum++;
	goto *(&&end + table[*p++]);
end:
	return sum;
}

int main(void)
{
	unsigned char code[100] = { 0 };
	int sum = 0;

	code[99] = 1;
	for (int i = 0; i < 10; i++)
		sum += run(code);
	printf("%d\n", sum);
	return 0;
}
END
cat >computed.S <<'END'
	.globl main, table
	.type main, @function
main:	.cfi_startproc
	xor %eax, %eax
.Lmore:	inc %eax
	mov %eax, %ecx
	shr $3, %ecx
	movslq table(,%rcx,4), %rcx
	add $.Lend, %rcx
	jmp *%rcx
.Lend:	sub $8, %eax
	ret
	.cfi_endproc
	.size main, . - main
	.section .rodata
table:	.long .Lmore - .Lend, .Lend - .Lend
	.section .note.GNU-stack, "", @progbits
END
make -Os -fno-pie -no-pie -o fixed computed.S
make -Os -fPIE -pie -o computed computed.c
ok 'a program at fixed addresses with such a table' ./fixed
branch='a branch or a pointer, or data that looks like one, leads into the bytes displaced'
is "$(functions fixed | grep ' main ')" "- - main ($branch)" 'has its place found'
for program in fixed computed; do
	bounded 60 "$XAUDIT" record -k entry -F main -F run -o "$program.data" -- "./$program" >out 2>err
	is "$? $(cat out)" "0 $(./$program)" "$program runs traced as it does untraced"
done
is "$(cat out)" 1000 'to the end'
done_testing
