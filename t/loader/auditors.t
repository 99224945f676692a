#!/bin/sh
# SPDX-License-Identifier: MIT
#
# With other auditors, before and after them: they work as without us, ld.so tells them the same, and we leave alone
# what they load.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/loader.sh"

# auditor OUT [FLAG]...
auditor() {
	auditor_out=$1
	shift
	$CC -O2 -fPIC -shared -o "$auditor_out" "$beside/auditor.c" "$@" || bail "$auditor_out does not compile"
}
# differences FILE FILE: the difference, for a check's remark; ld.so puts the process's number before its errors.
differences() {
	sed 's/^ *[0-9]*:	//' "$1" >.first
	sed 's/^ *[0-9]*:	//' "$2" | diff .first - | head -n 20
}

library "$CC" libcounted.so counted.c
library "$CC" libother.so counted.c
library "$CC" libopened.so counted.c
program "$CC" starts loader_starts.c -L. -lcounted
config plt plt.conf d

# beside NAME AUDITOR LIBRARY: the program's calls go to LIBRARY.
beside() {
	end_of plain env LD_AUDIT="$2" ./starts
	like "$(cat plain)" '^7 calls$' "$1: (the program does what it is for)"
	for order in "$MODULE:$2" "$2:$MODULE"; do
		place=before
		[ "${order%%:*}" = "$MODULE" ] || place=behind
		end_of untouched env LD_AUDIT="$order" XAUDIT_CONFIG=none.conf ./starts
		is "$(differences plain untouched)" '' "$place $1, nothing selected: the program prints the same"
		rm -rf d
		end_of traced env LD_AUDIT="$order" XAUDIT_CONFIG=plt.conf ./starts
		is "$(differences plain traced)" '' "$place $1, traced: the program prints the same"
		report d
		is "$(printf '%s\n' "$report" |
			jq -r '.functions[] | "\(.function) \(.calls) \(.library | sub(".*/"; ""))"'), $(sums)" \
			"counted 7 $3, 0 lost 0 unfinished" "$place $1: the calls are counted"
		is "$(info d '[.processes[].objects[].path | select(test("auditor|opened"))] | length')" 0 \
			"$place $1: what it loads is none of ours"
	done
}
auditor auditor.so
beside 'an auditor that takes part in all' "$tmp/auditor.so" libcounted.so
beside 'an auditor twice' "$tmp/auditor.so:$tmp/auditor.so" libcounted.so
auditor auditor-none.so -DVERSION=0
beside 'an auditor that wants to be left out' "$tmp/auditor-none.so" libcounted.so
auditor auditor-newer.so -DVERSION=99
beside 'an auditor of a version to come' "$tmp/auditor-newer.so" libcounted.so
like "$(cat plain)" 'auditor-newer.so.*(version|ignored)' '(ld.so says so)'
auditor auditor-opens.so -DOPENS="\"$tmp\""
beside 'an auditor that opens libraries in each callback' "$tmp/auditor-opens.so" libcounted.so
auditor auditor-search.so -DSEARCH="\"$tmp\""
beside 'an auditor that replaces a library' "$tmp/auditor-search.so" libother.so
auditor auditor-tls.so -DOWN_TLS
beside 'an auditor with thread-local storage' "$tmp/auditor-tls.so" libcounted.so
auditor auditor-bare.so -DBARE -nostdlib
beside 'an auditor without a C library' "$tmp/auditor-bare.so" libcounted.so
many=
for n in 1 2 3 4 5 6 7 8; do
	cp auditor.so auditor$n.so
	many=$many${many:+:}$tmp/auditor$n.so
done
beside 'eight auditors' "$many" libcounted.so

# ---- ways to write it ----
ln -s "$MODULE" module.so
# shellcheck disable=SC2016 # for ld.so
for list in "$MODULE:" '$ORIGIN/module.so' './module.so' "$tmp/auditor.so::$MODULE"; do
	rm -rf d
	end_of traced env LD_AUDIT="$list" XAUDIT_CONFIG=plt.conf ./starts
	report d
	is "$(tr '\n' ' ' <traced)$(calls counted), $(sums)" '7 calls status 0 7, 0 lost 0 unfinished' \
		"LD_AUDIT may be written as $(printf '%s' "$list" | sed "s,$tmp/,,; s,$MODULE,MODULE,")"
done

# ---- calls that another auditor takes part in ----
# audited BYTES CPUFLAG [FLAG]: vectors of that size.
audited() {
	width=$1 feature=$2
	shift 2
	if ! grep -qw "$feature" /proc/cpuinfo; then
		skip 5 "this processor has no $feature"
		return
	fi
	library "$CC" libaudited.so audited.c -DWIDTH="$width" -DLIBRARY "$@"
	library "$CC" auditor-calls.so audited.c -DWIDTH="$width" -DAUDITOR "$@"
	program "$CC" audited audited.c -DWIDTH="$width" "$@" -L. -laudited
	# Words that the auditor changed, and the first and the last of vectors; then its counts: three calls of three
	# functions.
	line="17 170 $((169 + width / 8)) 3.5 "
	expected="$line$line${line}entered 9, left 9, wrong 0 status 0 "
	end_of plain env LD_AUDIT="$tmp/auditor-calls.so" ./audited
	is "$(tr '\n' ' ' <plain)" "$expected" "$feature: (an auditor sees and changes arguments and results)"
	for order in "$MODULE:$tmp/auditor-calls.so" "$tmp/auditor-calls.so:$MODULE"; do
		place=before
		[ "${order%%:*}" = "$MODULE" ] || place=behind
		rm -rf d
		end_of traced env LD_AUDIT="$order" XAUDIT_CONFIG=plt.conf ./audited
		is "$(tr '\n' ' ' <traced)" "$expected" "$feature, $place it: so it does when the calls are traced"
		report d
		is "$(calls audited_words)$(calls audited_vectors)$(calls audited_extended), $(sums)" \
			'333, 0 lost 0 unfinished' "$feature, $place it: the calls are counted"
	done
}
audited 16 sse2
audited 32 avx -mavx
audited 64 avx512f -mavx512f

# ---- what another auditor is told ----
auditor auditor-log.so -DLOG
libraries library "$CC"
program "$CC" loader loader.c -rdynamic -L. -lstart -Wl,-z,lazy,--allow-shlib-undefined
# log FILE CONFIGURATION LIST ARG...: what ld.so tells the auditor in a run. Namespaces are counted from the last
# auditor's on.
log() {
	log_file=$1 log_config=$2 log_list=$3
	shift 3
	rm -rf log d
	end_of "$log_file.out" env AUDITOR_LOG="$tmp/log" LD_AUDIT="$log_list" XAUDIT_CONFIG="$log_config" "$@"
	sed 's/ in [1-9][0-9]*$/ in another/' log >"$log_file"
	# Two threads: their order may differ, and both may bind one slot.
	case "$*" in *thread-local*) sort -u -o "$log_file" "$log_file" ;; esac
}
# traced COMMAND...: to be called after `log alone`. The flag 16 tells that a value is ours. Libraries take the address
# of at_begin and at_end and call them, too; for us, ld.so tells all of such words (audit/prepare/got_calls.h).
traced() {
	log with plt.conf "$MODULE:$tmp/auditor-log.so" "$@"
	sed -e 's/flags 16$/flags 0/; s/flags 19$/flags 3/; s/flags 24$/flags 8/; s/flags 27$/flags 11/' \
		-e '/^symbind at_\(begin\|end\), .* flags 3$/d' with >with-own
	is "$(differences alone with-own)$(differences alone.out with.out)" '' \
		"another auditor is told the same of $*, traced${LD_BIND_NOW:+, LD_BIND_NOW}"
}
for what in reopen again fails nested opens turns after constructor nodelete unique bound thread-local namespace \
	namespace-fails choice \
	caller late exit quick_exit execve; do
	log alone none.conf "$tmp/auditor-log.so" ./loader $what
	log with none.conf "$MODULE:$tmp/auditor-log.so" ./loader $what
	ok "another auditor is told something of $what" test "$(grep -cE '^(objopen|symbind|activity) ' alone)" -gt 20
	# The calloc that ld.so itself is bound to is ours (audit/bind/loader_calloc.h).
	sed '/^symbind calloc,.* from  to /s/flags 24$/flags 8/' with >with-own
	is "$(differences alone with-own)$(differences alone.out with.out)" '' \
		"another auditor is told the same of $what, nothing selected"
	traced ./loader $what
	# It loads libbad.so three times.
	[ $what != fails ] ||
		is "$(grep -c '^symbind at_end,' alone) $(grep -c '^symbind at_end,' with)" '0 3' \
			'it is told of words that are called without a PLT, too'
done
now() { # SYMBOLS COMMAND...: these are bound at the start, so nobody sees calls: flags 3, beside 8 for dlsym
	symbols=$1
	shift
	log alone none.conf "$tmp/auditor-log.so" "$@"
	is "$(sed -n "s/^symbind $symbols, .*flags //p" alone | sort -u | grep -vx 8)" 3 "($symbols of $* is bound now)"
	traced "$@"
}
library "$CC" libcounted.so counted.c
program "$CC" starts-now loader_starts.c -L. -lcounted -Wl,-z,now
now counted ./starts-now
LD_BIND_NOW=1
export LD_BIND_NOW
now '.*' ./starts
now '.*' ./loader reopen
unset LD_BIND_NOW
done_testing
