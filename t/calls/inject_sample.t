#!/bin/sh
# SPDX-License-Identifier: MIT
#
# At every instruction of the ways of functions with samples (runtime/values/sample.h) something is injected
# (t/lib/injected.sh): of a call that is a sample, of one that also frees one, and of calls that go straight on.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/injected.sh"

values=expected
# Sizes of which each is a sample. What is jumped away from stays subtracted, which 2^63 bytes in all may not.
a=0x100000000000 b=0x505050505050505
FIRST=$((a))
export FIRST

# sampled CONTEXT-VALUE FUNCTION WHAT-IS-SHOWN-OF-IT: of counted().
sampled() {
	cat >values.conf <<-END
		[context counted]
		context = $1 ret sample:$2
		[context handled]
		context = tid
	END
	cat >expected <<-END
		entry counted \(\) $3
		exit counted  = 11
		entry handled \(\) tid=[0-9]+
	END
}
# straight NAME FUNCTION: no call is an event, whatever comes.
straight() {
	sampled hex:a:arg1 "$2" never
	all "$1" '' each=0 call -c values.conf
	every jump "$1" '' each=0 call -c values.conf
	every fork "$1" '' each=0 call -c values.conf
}
build "$CC" plt
sampled hex:a:arg1 1:malloc "a=$a sample=1"
all 'a sample' "$few" '' call -c values.conf
more every jump 'a sample' '' '' call -c values.conf
more every fork 'a sample' '' '' call -c values.conf
sampled hex:b:arg2 1:realloc "b=$b sample=1"
all 'a sample in place of a block' "$few" '' call -c values.conf
straight 'a block of the set is looked for' 1:free
FIRST=434041037028460038 # 0x606060606060606
straight 'a product that is too large' 1:calloc
straight 'the same in place of a block' 1:reallocarray
FIRST=24
straight 'a small block' 1024G:malloc
FIRST=$((a))
TASK=1
export TASK
sampled hex:a:arg1 1:malloc "a=$a sample=1"
every task 'a sample' "$few" '' call -c values.conf
unset TASK
sampled hex:a:arg1 1:malloc "a=$a sample=1"
export MOVES=1
all 'a sample, by a coarse clock' "$few -w 16" 'skip=18 off=0.3' call --clock coarse -c values.conf
unset MOVES
diag "covered: $covered instructions"
done_testing
