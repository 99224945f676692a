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
alone='(entry alone: it, or its runtime, reads or moves return addresses)'
refused="(its language's runtime copies or reads it, or has it run on stacks with little room)"

cat >runtime.S <<'END'
	.macro FUNCTION name
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	mov $1, %eax
	ret
	.cfi_endproc
	.size \name, . - \name
	.fill 16, 1, 0xcc
	.endm
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
