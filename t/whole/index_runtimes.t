#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit index: code of runtimes that copy it, or walk stacks by return addresses.
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
refused="(its language's runtime copies it, or has it run on stacks with little room)"

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
#ifdef GO
	.section .gopclntab, "a"
	.quad 0
#endif
	.section .note.GNU-stack, "", @progbits
END
make -shared -nostdlib -o plain.so runtime.S
make -shared -nostdlib -DBLOB -o blob.so runtime.S
make -shared -nostdlib -DWALKS -o walks.so runtime.S
make -shared -nostdlib -DGO -o go.so runtime.S
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
is "$(functions go.so)" "- - before $refused
- - Builtins_A $refused
- - behind $refused" "and on goroutines' stacks, functions are"

done_testing
