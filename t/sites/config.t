#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Exactly what a configuration asks for is traced, with LD_AUDIT alone and no command in between.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

unset XAUDIT_CONFIG XAUDIT_RULES XDG_CONFIG_HOME HOME
[ ! -e /etc/xaudit.conf ] || skip_all 'this system has an /etc/xaudit.conf'
patchable_library libalpha.so plugin.c -DNAME=alpha
patchable_library libbeta.so plugin.c -DNAME=beta
program "$CC" app app.c -L. -lalpha -lbeta

# app: runs the program under the module alone. Sets $status, $out, $err.
app() {
	rm -rf d xaudit.data
	status=0
	bounded 60 env LD_AUDIT="$MODULE" ./app >.out 2>.err || status=$?
	out=$(cat .out)
	err=$(cat .err)
}
# traced SENTENCE EXPECTED: under the configuration on stdin, the program runs as usual, and EXPECTED are its "FUNCTION
# CALLS".
traced() {
	cat >conf
	XAUDIT_CONFIG=conf app
	is "$status/$out/$err" '5/app 15/' "$1: the program runs as ever"
	report "${3:-d}"
	is "$(rows)" "$2" "$1"
}

# ---- which file ----
everything='alpha_begin 1, alpha_end 1, alpha_inner 4, alpha_work 3, beta_begin 1, beta_end 1, beta_inner 2, '\
'beta_work 2'
# rows_of DIR: its "FUNCTION CALLS".
rows_of() {
	report "$1"
	rows
}
app
is "$status/$out/$err/$(rows_of xaudit.data)" "5/app 15//$everything" \
	'without any configuration, compile-time sites of all objects are traced, into xaudit.data'
is "$(info xaudit.data '.processes[].rules')" '"defaults"' 'and info says that these were the defaults'
printf '[library libalpha.so]\nfunctions = alpha_inner\n' >xaudit.conf
app
is "$status/$err/$(rows_of xaudit.data)" '5//alpha_inner 4' './xaudit.conf is read'
is "$(info xaudit.data '.processes[].rules')" '"./xaudit.conf"' 'and info names it'
mkdir xdg
printf '[library libalpha.so]\nfunctions = alpha_work\n' >xdg/xaudit.conf
XDG_CONFIG_HOME=$tmp/xdg app
is "$(rows_of xaudit.data)" 'alpha_inner 4' './xaudit.conf goes before that of XDG_CONFIG_HOME'
rm xaudit.conf
XDG_CONFIG_HOME=$tmp/xdg app
is "$(rows_of xaudit.data)" 'alpha_work 3' 'which is read where there is no other'
printf '[library libbeta.so]\nfunctions = beta_work\n' >named.conf
XDG_CONFIG_HOME=$tmp/xdg XAUDIT_CONFIG=named.conf app
is "$(rows_of xaudit.data)" 'beta_work 2' 'XAUDIT_CONFIG goes before all'

# ---- whose file ----
# skipped SENTENCE WHY: with ./xaudit.conf as it is, that of XDG_CONFIG_HOME decides, and a line says so.
skipped() {
	XDG_CONFIG_HOME=$tmp/xdg app
	is "$status/$err/$(rows_of xaudit.data)" \
		"5/xaudit: ./xaudit.conf: the configuration is skipped: $2/alpha_work 3" \
		"$1"
}
printf '[library libalpha.so]\nfunctions = alpha_inner\n' >xaudit.conf
chmod 606 xaudit.conf
skipped 'a file that everybody may write to is skipped, with a line' 'every user may write to it'
chmod 664 xaudit.conf
chgrp "$(id -g)" xaudit.conf
XDG_CONFIG_HOME=$tmp/xdg app
is "$err/$(rows_of xaudit.data)" '/alpha_inner 4' "the user's own group may"
other=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
[ "$(id -u)" -ne 0 ] || other=65534
if [ "$other" ]; then
	chgrp "$other" xaudit.conf
	skipped 'another group may not' 'users of another group may write to it'
else
	skip 1 'this user has no other group'
fi
chmod 644 xaudit.conf
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 xaudit.conf
	skipped "another user's file is skipped" 'it belongs to another user'
	rm -f xaudit.conf
	printf '[library libalpha.so]\nfunctions = alpha_inner\n' >own.conf
	ln -s own.conf xaudit.conf
	XDG_CONFIG_HOME=$tmp/xdg app
	is "$err/$(rows_of xaudit.data)" '/alpha_inner 4' "the user's own link is followed"
	chown -h 65534 xaudit.conf
	skipped "another user's link is not, wherever it leads" 'it is a link of another user'
	ln -sfn xaudit.conf xaudit.conf
	chown -h 65534 xaudit.conf
	app
	is "$err/$(rows_of xaudit.data)" "xaudit: ./xaudit.conf: the configuration is skipped: it is a link of another \
user/$everything" \
		"another user's that leads nowhere does not end the tracing"
else
	skip 4 'not root'
fi
rm -f xaudit.conf
mkfifo xaudit.conf
skipped 'so is a FIFO, and nobody waits for it' 'it is no regular file'
XAUDIT_CONFIG=xaudit.conf app
is "$status/$out/$err" "5/app 15/xaudit: xaudit.conf: the configuration can't be read: it is no regular file" \
	'one that is named is an error, and nobody waits for it, either'
record d -k plt -l libalpha.so -F alpha_work ./app
is "$status/$err/$(rows_of d)" '5/xaudit: ./xaudit.conf: the configuration is skipped: it is no regular '\
'file/alpha_work 3' \
	'record says so once, and its options hold'
rm xaudit.conf
# A link to itself can't be read, not even by root.
ln -s xaudit.conf xaudit.conf
app
is "$status/$out/$err" "5/app 15/xaudit: ./xaudit.conf: the configuration can't be read: input/output error" \
	'what is found but cannot be read ends the tracing where it alone would say what is traced'
XAUDIT_RULES='[library libbeta.so]
functions = beta_work
' app
is "$status/$err/$(rows_of xaudit.data)" '5//beta_work 2' 'but not where XAUDIT_RULES does'
XAUDIT_RULES='[trace]
output = d
' app
is "$status/$err/$(rows_of d)" "5/xaudit: ./xaudit.conf: the configuration is skipped: input/output error/$everything" \
	'where that says nothing about objects, the line is said'
rm xaudit.conf

# ---- which section ----
traced 'the first section that matches decides' \
	'alpha_begin 1, alpha_end 1, alpha_inner 4, alpha_work 3, beta_work 2' <<'END'
[trace]
output = d
[library libalpha.*]
kinds = patchable
[library lib[ab]*.so]
kinds = plt
[library *]
kinds = none
END
is "$(info d '[.processes[].objects[] | select(.role == "library") | .kinds]')" '[["patchable"],["plt"],[]]' \
	'and info shows the kinds of each object'
traced 'kinds = none keeps a later section from it' 'beta_begin 1, beta_end 1, beta_inner 2, beta_work 2' <<'END'
[trace]
output = d
[library libalpha.so]
kinds = none
[library *]
END
traced 'a pattern with a slash is compared with the whole path' 'beta_work 2' <<END
[trace]
output = d
[library $tmp/*beta*]
functions = *_work
[library /none/libalpha.so]
END
traced 'an object that no section matches is not traced' 'beta_begin 1, beta_end 1, beta_inner 2, beta_work 2' <<'END'
[trace]
output = d
[library libbeta.so]
END

# ---- which functions ----
traced 'functions and exclude' 'alpha_work 3, beta_begin 1, beta_end 1' <<'END'
[trace]
output = d
[library libalpha.so]
functions = alpha_*
exclude = *_inner alpha_begin
exclude = alpha_end
[library libbeta.so]
exclude = beta_[iw]*
END
traced 'functions of certain libraries' 'alpha_inner 4, beta_work 2' <<'END'
[trace]
output = d
[library *]
functions = *_inner@libalpha* *_work@libbeta.so
END
traced 'both ways into a function count one call' 'alpha_work 3, beta_work 2' <<'END'
[trace]
output = d
[library *]
kinds = plt, patchable
functions = *_work
END

# ---- the program ----
traced 'calls of the program, whatever it calls' 'alpha_inner 1, alpha_work 3, beta_work 2, getppid 4' <<'END'
[trace]
output = d
[program]
kinds = calls
exclude = printf __printf_chk putchar puts __cxa_finalize __libc_start_main
END
is "$(printf '%s\n' "$report" | jq -r '.functions[] | select(.function == "getppid") | .library' | sed 's,.*/,,')" \
	libc.so.6 \
	'they have the name of the library that is called'
traced 'calls of the program into one library' 'beta_work 2' <<'END'
[trace]
output = d
[program]
kinds = calls
functions = *@libbeta.so
END

# ---- how much of it ----
traced 'mode = ring: a short run is kept whole' "$everything" <<'END'
[trace]
output = d
mode = ring
ring = 256k
END
is "$(ls d/p*)/$("$XAUDIT" info d | grep -c 'Mode  *ring')" 'meta/1' 'in flight recorders and no growing file'
traced 'mode = count: calls are counted' "$everything" <<'END'
[trace]
output = d
mode = count
END
is "$(ls d/p*)/$("$XAUDIT" info d | sed -n 's/^Events  *\([0-9]*\) .*/\1/p')" 'meta/0' \
	'in counters, and no event is written'
traced 'depth = 1: what is called from outside' \
	'alpha_begin 1, alpha_end 1, alpha_inner 1, alpha_work 3, beta_begin 1, beta_end 1, beta_work 2' <<'END'
[trace]
output = d
depth = 1
END
traced 'time = 100ms: no call takes so long' '' <<'END'
[trace]
output = d
time = 100ms
END

# ---- the trace ----
cat >conf <<'END'
[trace]
output = out-%p-%p
buffer = 64k
[library *]
END
rm -rf out-*
XAUDIT_CONFIG=conf app
pid=$(echo out-*)
pid=${pid##*-}
is "$status/$err/$(echo out-*)/$(rows_of out-"$pid"-"$pid")" "5//out-$pid-$pid/$everything" \
	'%p in the output is the process id'
is "$(info "out-$pid-$pid" '.processes[].pid')" "$pid" 'which info tells too'

# ---- what is wrong ----
# refused SENTENCE LINE: the configuration on stdin makes the module say this one line, and the program runs untraced.
refused() {
	cat >bad.conf
	XAUDIT_CONFIG=bad.conf app
	is "$status/$out/$err" "5/app 15/$2" "$1"
	ok "$1: nothing is recorded" test ! -e d -a ! -e xaudit.data
}
refused 'an unknown section' \
	"xaudit: bad.conf:3: unknown section 'librery *'; \
allowed: [trace], [library GLOB], [program], [context PATTERN], [prototypes], [probe NAME]" <<'END'
[trace]
output = d
[librery *]
END
refused 'an unknown key' \
	"xaudit: bad.conf:4: unknown key 'kind'; allowed in [library] and [program]: kinds, \
fallback, functions, exclude" <<'END'
[trace]
output = d
[library *]
kind = plt
END
refused 'an unknown kind' "xaudit: bad.conf:2: unknown kind 'ptl'; allowed: xray, patchable, plt, calls, guard, \
entry, cyg, fentry, mcount, none" <<'END'
[library *]
kinds = xray ptl
END
refused 'a bad size' \
	"xaudit: bad.conf:2: bad size '5M' for key 'buffer'; allowed: a power of two from 64k to 1G, as in 4M" <<'END'
[trace]
buffer = 5M
END
refused 'a bad mode' "xaudit: bad.conf:2: bad value 'file' for key 'mode'; allowed: stream, ring, count" <<'END'
[trace]
mode = file
END
refused 'a bad time' \
	"xaudit: bad.conf:2: bad value '10' for key 'time'; allowed: off, or from 1ns to 100ms, as in 500ns, 10us or \
1.5ms" <<'END'
[trace]
time = 10
END
refused 'a signal of a crash' "xaudit: bad.conf:3: bad value 'signal:SIGSEGV' for key 'snapshot'; allowed: exit, crash \
and one signal:NAME, where NAME is of HUP, INT, QUIT, USR1, USR2, ALRM, TERM, URG, XCPU, VTALRM, PROF, WINCH, IO, \
PWR" <<'END'
[trace]
snapshot = exit
  signal:SIGSEGV
END
XAUDIT_CONFIG=none.conf app
is "$status/$out" '5/app 15' 'a configuration that is not there: the program runs'
is "$err" "xaudit: none.conf: the configuration can't be read: no such file" 'and the module says so in one line'
printf '[trace]\noutput = none/such/folder\n[library *]\n' >conf
XAUDIT_CONFIG=conf app
is "$status/$out" '5/app 15' 'a trace folder that cannot be made: the program runs'
is "$(printf '%s\n' "$err" | wc -l)" 1 'and the module says one line'
like "$err" "^xaudit: can't make the trace folder .*none/such/folder.*; the program runs on, untraced\$" \
	'with what it could not make'
done_testing
