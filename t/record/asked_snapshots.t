#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A signal that asks for a snapshot while one is being taken has its own, whatever becomes of the other: another thread
# gets it, the copying thread ends in the middle, or another handler would jump out of it, or the process forks. exit()
# waits for one, and for one alone; and so does a thread that is about to have a filter kill who copies.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
program "$CC" asked_snapshots asked_snapshots.c -L. -lcounted

rounds=$(rounds 12 60 1000)
seconds=800
for way in again task thread jump fork exit last turn filter child; do
	rm -rf d.snapshot.*
	set -- --snapshot=signal:SIGUSR2
	[ $way != last ] || set -- "$@" --snapshot=exit
	record d -m ring --ring=256k "$@" -k plt -l libcounted.so ./asked_snapshots $way "$rounds" "$tmp/d"
	is "$status/$out" "0/$rounds rounds, $rounds right" "$way: each that was asked for is there"
	[ "$status" -eq 0 ] || diag "$err"
	[ $way != child ] || is "$err" '' "$way: and nothing is said"
	is "$(for one in d.snapshot.*/p*/meta; do info "${one%/p*}" .lost; done | sort -u)" 0 "$way: and whole"
done
done_testing
