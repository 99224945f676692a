#!/bin/sh
# SPDX-License-Identifier: MIT
#
# With the output of xaudit env a program is traced, whichever program reads that output.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset LD_AUDIT GLIBC_TUNABLES XAUDIT_CONFIG XAUDIT_RULES

library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted
printf '[trace]\noutput = %s/d\n[library libcounted.so]\nkinds = plt\n[program]\nkinds = none\n' "$tmp" >some.conf
env_of() {
	status=0
	out=$(bounded 60 "$XAUDIT" env "$@" 2>err) || status=$?
	err=$(cat err)
}
room=glibc.rtld.optional_static_tls=1024
env_of
is "$status/$out/$err" "0/export LD_AUDIT='$MODULE'
export GLIBC_TUNABLES='$room'/" 'a shell gets commands'
env_of -c some.conf -f plain -- ./count 1 10
is "$status/$out/$err" "0/LD_AUDIT=$MODULE
GLIBC_TUNABLES=$room
XAUDIT_CONFIG=$tmp/some.conf/" 'names and values, with the configuration from the root'
env_of --config=some.conf --format=systemd ./count 1 10
is "$status/$out/$err" "0/Environment=\"LD_AUDIT=$MODULE\"
Environment=\"GLIBC_TUNABLES=$room\"
Environment=\"XAUDIT_CONFIG=$tmp/some.conf\"/" 'a unit file gets its lines'

env_of -c some.conf ./count
is "$(eval "$out"; exec ./count 1 1000)" 1000 'a program that a shell starts with them runs as ever'
report d
is "$(calls counted)" 1000 'and is traced'

# ---- values that need quotation ----

odd="$tmp/it's 50% \"of\" \\n \$HOME"
mkdir "$odd"
cp some.conf "$odd/xaudit.conf"
env_of -c "$odd/xaudit.conf"
is "$(eval "$out" && printf '%s' "$XAUDIT_CONFIG")" "$odd/xaudit.conf" 'a shell reads the very value, whatever is in it'
env_of -c "$odd/xaudit.conf" -f plain
is "$(printf '%s\n' "$out" | tail -n 1)" "XAUDIT_CONFIG=$odd/xaudit.conf" 'plain values are not quoted'
env_of -c "$odd/xaudit.conf" -f systemd
# As systemd.syntax(7) and systemd.unit(5) say: quotation, escapes of C, specifiers.
is "$(printf '%s\n' "$out" | tail -n 1)" \
	"Environment=\"XAUDIT_CONFIG=$tmp/it's 50%% \\\"of\\\" \\\\n \$HOME/xaudit.conf\"" \
	'a unit file has the escapes of systemd'
broken="$tmp/two
lines"
cp some.conf "$broken"
for format in shell systemd plain; do
	env_of -c "$broken" -f $format
	is "$status/$out/$(printf '%s\n' "$err" | wc -l)" '1//1' \
		"$format: a value with a line break is refused in one line"
done

# ---- what is there already ----

out=$(LD_AUDIT=/other.so GLIBC_TUNABLES=glibc.malloc.check=0 XAUDIT_CONFIG=some.conf bounded 60 "$XAUDIT" env -f plain)
is "$out" "LD_AUDIT=$MODULE:/other.so
GLIBC_TUNABLES=glibc.malloc.check=0:$room
XAUDIT_CONFIG=$tmp/some.conf" 'what the environment has is kept'
out=$(GLIBC_TUNABLES=glibc.rtld.optional_static_tls=70000 bounded 60 "$XAUDIT" env -f plain | sed -n 2p)
is "$out" GLIBC_TUNABLES=glibc.rtld.optional_static_tls=70000 "the user's own room is kept"

# ---- a program whose libraries need more ----

cat >big.c <<'end'
static __thread char big[20000];
int big_add(int i) { return big[i] += 2; }
end
$CC -O2 -shared -fPIC -ftls-model=initial-exec -Wl,-soname,libbig.so -o libbig.so big.c || bail libbig.so
program "$CC" start start.c -L. -lbig
printf '[trace]\noutput = %s/d\nfollow = yes\n[library libbig.so]\nkinds = plt\n' "$tmp" >big.conf
env_of -c big.conf -- ./start
like "$out" "^export GLIBC_TUNABLES='$room:xaudit.once=2:glibc.rtld.optional_static_tls=2[01][0-9]{3}'\$" \
	'what it needs is asked for'
rm -rf d
seen=$(eval "$out"; ./start; echo "status $?")
is "$(printf '%s\n' "$seen" | grep -e GLIBC_TUNABLES -e status | tr '\n' ' ')" "GLIBC_TUNABLES=$room status 8 " \
	'it runs, and hands on the usual room'
report d
is "$(calls big_add)" 3 'and is traced'
env_of -c big.conf -- ./count
rm -rf d
seen=$(eval "$out"; ./start; echo "status $?")
is "$(printf '%s\n' "$seen" | grep -e GLIBC_TUNABLES -e status | tr '\n' ' ')" "GLIBC_TUNABLES=$room status 8 " \
	'so does a program that they were not made for'
out=$(GLIBC_TUNABLES=$room:xaudit.once=2:glibc.rtld.optional_static_tls=9000 LD_AUDIT=$MODULE ./start; echo "status $?")
is "$(printf '%s\n' "$out" | grep -e GLIBC_TUNABLES -e status | tr '\n' ' ')" "GLIBC_TUNABLES=$room status 8 " \
	'and one that needs more than they were made for'

# ---- mistakes ----

env_of ./no-such-command
is "$status/$out/$err" '1//xaudit env: ./no-such-command is not there' 'a command that is not there'
env_of -c no-such.conf
like "$status $err" '^1 xaudit: .*no-such[.]conf' 'a configuration that is not there'
printf '[library x]\nkinds = wrong\n' >wrong.conf
env_of -c wrong.conf
like "$status $err" '^1 xaudit: .*wrong[.]conf:2: ' 'a configuration that is wrong: file and line'
env_of -f xml
is "$status/$out/$err" "2//xaudit env: unknown format 'xml'; allowed: shell, systemd, plain" 'an unknown format'
out=$(XAUDIT_MODULE=/no/such.so bounded 60 "$XAUDIT" env 2>&1)
is "$?/$out" "1/xaudit env: XAUDIT_MODULE names /no/such.so, which can't be read: No such file or directory" \
	'a module that is not there'
done_testing
