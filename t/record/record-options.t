#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The options of xaudit record that are keys of [trace]: the configuration that the module finds, values that are
# refused, and messages at the end. Without the real module.
. "${top_srcdir:-.}/t/lib/recorded.sh"

[ ! -e /etc/xaudit.conf ] || skip_all 'this system has an /etc/xaudit.conf'

# record ARG...: sets $end to how it ended, and $said to its messages (standard error).
record() {
	end=0
	bounded 60 "$XAUDIT" record "$@" >out 2>said || end=$?
	end="exit $end"
	said=$(cat said)
}
default='[library *]
kinds = xray patchable guard
[program]
kinds = xray patchable calls guard'

# ---- wrong usage ----
printf '\177ELF\1\1\1' >foreign && chmod +x foreign
record -o d ./foreign
is "$end/$said" "exit 126/xaudit record: ./foreign can't be executed: Exec format error" \
	'a program of another machine is not run as a script'
usage "xaudit record: bad value 'fast' for -m; allowed: stream, ring, count" 'a bad mode' -m fast true
usage "xaudit record: bad size '3M' for --ring; allowed: a power of two from 256k to 1G, as in 8M" \
	'a bad ring' --ring 3M true
usage "xaudit record: bad size '1k' for --size-limit; allowed: off, or at least 1M, as in 500M or 2G" 'a bad limit' \
	--size-limit=1k true
usage "xaudit record: bad value '0' for -D; allowed: off, or from 1 to 1000000" 'a bad depth' --depth 0 true
usage "xaudit record: bad value '5' for -t; allowed: off, or from 1ns to 100ms, as in 500ns, 10us or 1.5ms" \
	'a bad time' -t 5 true
usage "xaudit record: bad value '20' for --throttle; allowed: off, or from 1% to 99%, as in 20%" \
	'a bad share' --throttle 20 true
usage "xaudit record: bad value 'some' for --overflow; allowed: wait, drop" 'a bad overflow' --overflow=some true
usage "xaudit record: bad value 'some' for --prepare; allowed: selected, all, none" \
	'a bad preparation' --prepare some true
snapshot='exit, crash and one signal:NAME, where NAME is of HUP, INT, QUIT, USR1, USR2, ALRM, TERM, URG, XCPU, '\
'VTALRM, PROF, WINCH, IO, PWR'
usage "xaudit record: bad value 'signal:SEGV' for --snapshot; allowed: $snapshot" \
	'a signal that crashes' --snapshot signal:SEGV true
usage "xaudit: command line: bad value 'signal:USR2' for key 'snapshot'; allowed: $snapshot" \
	'two signals' --snapshot signal:USR1 \
	--snapshot signal:USR2 true
usage "xaudit: command line: no library behind '@' in pattern 'f@'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB" \
	'a bad pattern to be below of' -C f@ true
usage "xaudit record: option '--merge=x' takes no value; see xaudit record --help" \
	'an option that takes no value' --merge=x true
ok 'nothing was made by all this' test ! -e xaudit.data

# ---- what the module finds ----
# trace: the other lines of [trace] that the module finds.
trace() {
	printf '%s\n' "$environment" | sed -n '/^follow = /,/^sched = /p'
}
environment
is "$(trace)" 'follow = yes
mode = stream
ring = 8388608
size-limit = off
overflow = wait
enabled = yes
prepare = selected
throttle = off
depth = off
time = off
control = any
merge = no
sched = no' 'no option: all that is recorded is written, and any process of the user may control it'
environment -m ring --ring=1M --size-limit 2G --overflow drop --start-disabled --prepare all --throttle=20% -D 3 -t \
	1.5ms -C 'a*@lib*' --below b \
	--snapshot exit --snapshot crash,signal:SIGUSR2 --merge --sched
is "$(trace)" 'follow = yes
mode = ring
ring = 1048576
size-limit = 2147483648
overflow = drop
enabled = no
prepare = all
throttle = 20%
depth = 3
time = 1500000ns
below = a*@lib*
below = b
snapshot = signal:USR2
snapshot = exit
snapshot = crash
control = any
merge = yes
sched = yes' 'each option is a key of the configuration'
is "$(rules)" "$default" 'and none of them changes what is traced'
printf '[trace]\nmode = ring\nring = 1M\ndepth = 3\nfollow = no\ncontrol = owner\nbelow = a b\nsnapshot = exit\n'\
'throttle = 5%%\n' >xaudit.conf
environment --depth off --mode=count -C c -k plt
is "$(trace)" 'follow = no
mode = count
ring = 1048576
size-limit = off
overflow = wait
enabled = yes
prepare = selected
throttle = 5%
depth = off
time = off
below = c
snapshot = exit
control = owner
merge = no
sched = no' 'options win over the configuration, key by key; its other keys hold in every process'
rm xaudit.conf

# ---- afterwards ----
off="xaudit record: nothing was recorded: the rules say that all begins switched off, and nobody switched anything on; \
while the command runs, \`xaudit ctl PID enable FUNCTION\` does"
rm -rf d d.old
FAKE_TRACE='selected' record -o d --start-disabled true
is "$end/$said" "exit 0/$off" 'a process in which nothing was switched on'
FAKE_TRACE='empty' record -o d --prepare none true
is "$end/$said" "exit 0/$off" 'nor prepared'
FAKE_TRACE='selected threads' record -o d --start-disabled true
is "$end/$said" 'exit 0/' 'one in which something was'
FAKE_TRACE='selected' record -o d -C f true
is "$end/$said" 'exit 0/xaudit record: nothing was recorded: no function that -C names was called where it is traced; '\
'it must be among those that -l, -F and -k choose' 'a process in which recording never began, for want of such a call'
FAKE_TRACE='selected threads' record -o d -C f true
is "$end/$said" 'exit 0/' 'one in which it did'
# ---- a record within a record ----
record -o outer "$XAUDIT" record -o inner true
is "$(printf '%s\n' "$said" | head -n 1)" \
	'xaudit record: this runs under another `xaudit record`, which does not see what is traced here' \
	'the inner one says that the outer one does not see its command'

# ---- few descriptors ----
# The number from which on it works is the shell's business, too.
record -o few true
for most in 4 5 6 7 8; do
	(ulimit -n "$most" && bounded 60 "$XAUDIT" record -o few true)
done >said 2>&1
like "$(cat said)" 'Too many open files' 'without descriptors it can not run'
is "$(grep 'is no trace' said)" '' 'and calls no trace by another name'

# ---- options beside a configuration, and each other ----
printf '[library libm*]\nfunctions = sin cos@libm*\nexclude = tan\n[program]\nkinds = mcount\n' >conf
environment -c conf -N main -N 'x*@lib*'
is "$(rules)" '[library libm*]
kinds = xray patchable guard
fallback = entry
functions = sin
functions = cos@libm*
exclude = tan
exclude = main
exclude = x*@lib*
[program]
kinds = mcount
fallback = none
exclude = main
exclude = x*@lib*' '-N beside a configuration leaves its sections, and these functions out of them'
environment -l libz -F 'f@true' -F 'g@libz' -F '*@libz'
is "$(rules)" '[library libz]
kinds = xray patchable plt guard
functions = f@true
functions = g@libz
functions = *@libz
[program]
kinds = xray patchable guard
fallback = entry
functions = f@true' 'beside -l, functions of the program are named by its name'
done_testing
