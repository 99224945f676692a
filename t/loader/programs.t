#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that we did not write print and end the same whether every cross-library call is traced or none, and leave
# complete traces: with `-k plt -l '*'` and `-k calls`, some also with LD_BIND_NOW. Programs that are not installed are
# skipped. `make check` runs some, one of each sort.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/transparent.sh"

mkdir work || bail 'no folder'
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null PYTHONDONTWRITEBYTECODE=1 PERL_HASH_SEED=0 TZ=UTC
export GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL PYTHONDONTWRITEBYTECODE PERL_HASH_SEED TZ

# one TITLE RECORD-OPTION... -- COMMAND...
one() {
	title=$1
	shift
	same work trace "$title: the same output and end" -- "$@"
	report work/trace
	enough=$(printf '%s\n' "$report" | jq '[.functions[].calls] | add > 20')
	is "$(sums | sed 's/ [0-9]* unfinished$//'), $enough" '0 lost, true' "$title: the trace is whole"
	rm -rf work/trace
}

# program COMMAND...: both kinds. bound_now: both with LD_BIND_NOW. Untraced, the command must end with $expected
# (default 0); if it does not, it is skipped.
program() {
	name=$1
	if [ "$name" = sh ]; then
		name=$(printf '%s' "$3" | sed 's/^exec //;s/ .*//;q')
	fi
	if ! command -v "$name" >/dev/null 2>&1; then
		skip 4 "no $name here"
		return
	fi
	if [ -n "$LD_BIND_NOW" ]; then
		name="$name, bound at once"
	fi
	plain=$(cd work && ending first "$@")
	if [ "$plain" -ne "${expected:-0}" ]; then
		skip 4 "$name ends with $plain even untraced: $(tail -n 1 work/first.err)"
		return
	fi
	one "$name, plt" -k plt -l '*' -- "$@"
	one "$name, calls" -k calls -- "$@"
}
bound_now() {
	LD_BIND_NOW=1
	export LD_BIND_NOW
	program "$@"
	unset LD_BIND_NOW
}

# A file like /etc/services, which not every system has.
awk 'BEGIN { for (i = 1; i <= 400; i++)
	printf "service-%s\t%d/%s\t\t# of number %d\n", (i * 7919) % 401, i * 13 % 1000, i % 3 ? "tcp" : "udp", i }' \
	>work/services

program ls -lR /usr/include/linux
bound_now ls -lR /usr/include/linux
more program sort -k 2 -n -r services
more program sed -n 's/\([0-9]*\).tcp/<\1>/p' services
more program awk '{ n[length($0)]++ }
	END { for (i = 0; i < 200; i++) if (n[i]) printf "%d %d %.3f\n", i, n[i], log(n[i]) }' services

cat >work/script.pl <<'END_OF_PERL'
use strict; use warnings;
use POSIX qw(floor strftime); use Encode; use List::Util qw(sum max reduce); use Data::Dumper;
use Digest::SHA qw(sha256_hex); use Storable qw(freeze thaw); use Time::HiRes; use Config;
$| = 1; $Data::Dumper::Sortkeys = 1;
print floor(-2.5), ' ', strftime('%Y-%m-%d', gmtime(86400)), "\n";
print length(encode('UTF-8', decode('EUC-JP', "\xa4\xa2\xa4\xa4"))), ' ',
	encode('iso-8859-1', "\x{e4}") eq "\xe4", "\n";
print sum(1 .. 1000), ' ', max(3, 9, 4), ' ', (reduce { $a * $b } 1 .. 12), "\n";
print Dumper(thaw(freeze({ a => [1, 2, { b => undef }], c => \'text' }))), sha256_hex('x' x 10000), "\n";
my $died = 0;
for my $i (1 .. 200) { eval { eval { die { code => $i } if $i % 3 == 0; 1 } or die $@; 1 } or $died += $@->{code}; }
print "died $died\n";
local $SIG{ALRM} = sub { die "alarm\n" };
eval { Time::HiRes::alarm(0.05); select(undef, undef, undef, 10); 1 } or print "caught $@";
if ($Config{useithreads}) {
	require threads;
	sub count { my $s = 0; $s += $_ * $_[0] for 1 .. 1000; return $s }
	print join(' ', map { $_->join } map { threads->create(\&count, $_) } 1 .. 4), "\n";
}
for my $n (1 .. 3) { my $pid = fork; if (!$pid) { exit $n } waitpid $pid, 0; print 'child ', $? >> 8, "\n"; }
print `echo from a shell`;
my %count; $count{length $_}++ for map { join '', reverse split //, $_ x 3 } 'a' .. 'zz';
print join(' ', map { "$_=$count{$_}" } sort keys %count), "\n";
exit 3;
END_OF_PERL
expected=3
program perl script.pl
more bound_now perl script.pl
expected=

cat >work/script.py <<'END_OF_PYTHON'
import sys, json, threading, subprocess, hashlib, zlib, decimal, re, struct, math
def optional(name):
    try:
        return __import__(name)
    except ImportError:
        print('no', name)
ssl, sqlite3, ctypes, asyncio = optional('ssl'), optional('sqlite3'), optional('ctypes'), optional('asyncio')
print(json.dumps({'a': [1, 2.5, None, True], 'b': {'c': 'ä'}}, sort_keys=True), json.loads('[1, 2, {"x": 3}]'))
if ssl:
    context = ssl.create_default_context()
    print(ssl.OPENSSL_VERSION, context.verify_mode, len(context.get_ciphers()) > 5)
if sqlite3:
    db = sqlite3.connect(':memory:')
    db.execute('create table t (a integer, b text)')
    db.executemany('insert into t values (?, ?)', [(i, str(i) * 3) for i in range(1000)])
    db.create_function('twice', 1, lambda x: x * 2)
    print(db.execute('select sum(twice(a)), max(b) from t where a % 7 = 3').fetchall())
if ctypes:
    libc = ctypes.CDLL(None)
    pointer = ctypes.POINTER(ctypes.c_int)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)(lambda a, b: a[0] - b[0])
    values = (ctypes.c_int * 50)(*[(i * 37) % 50 for i in range(50)])
    libc.qsort(values, 50, ctypes.sizeof(ctypes.c_int), compare)
    buffer = ctypes.create_string_buffer(64)
    libc.snprintf(buffer, 64, b'%d %.3f %s', 7, ctypes.c_double(2.5), b'text')
    print(list(values) == list(range(50)), buffer.value)
results = {}
def work(n):
    try:
        results[n] = hashlib.sha256(b'x' * n * 1000).hexdigest()[:8]
        raise ValueError(n)
    except ValueError as e:
        results[n] += str(e)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(results.items()))
print(subprocess.run(['sh', '-c', 'echo from a child; exit 4'], capture_output=True, text=True))
if asyncio:
    async def slow(n):
        await asyncio.sleep(0.001 * n)
        return n * n
    async def main():
        return await asyncio.gather(*(slow(n) for n in range(10)))
    print(asyncio.run(main()))
print(zlib.crc32(zlib.compress(b'abc' * 10000)), decimal.Decimal(2).sqrt(), math.gamma(7.5))
print(struct.pack('<dq', 1.5, -2).hex())
print(len(re.findall(r'(\w+)\s\1', 'a a b c c ' * 1000)))
sys.exit(5)
END_OF_PYTHON
expected=5
program python3 script.py
more bound_now python3 script.py
expected=

if [ -n "$XAUDIT_ALL$XAUDIT_SOAK" ] && command -v git >/dev/null 2>&1; then
	(
		cd work && git init -q -b main repository && cd repository || exit 1
		GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
		export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
		git config user.name Somebody && git config user.email somebody@example.org
		for i in 1 2 3 4 5; do
			seq $i 200 >file$i && git add . && git commit -q -m "Change $i" || exit 1
		done
		seq 5 150 >file5 && echo new >untracked
	) || bail 'no repository could be made'
fi
more program git -C repository log --stat -p --format=fuller
more program git -C repository status
more program sh -c 'git -C repository fsck --full 2>&1; git -C repository archive HEAD | cksum
	git -C repository blame -l file3 | cksum'

more program bash -c 'declare -A a; for i in {1..50}; do a[$i]=$((i * i)); done; trap "echo trapped" USR1; kill -USR1 $$
	f() { local n=$1; ((n)) && f $((n - 1)) && echo -n $n; return 0; }
	f 20; echo; (exit 3); echo $? ${a[7]} $(seq 5 | tac | tr "\n" -)
	while read -r x; do
		[[ $x =~ ^([a-z]+)[[:space:]] ]] && echo "${BASH_REMATCH[1]}"
	done < <(head -n 20 services)
	printf "%5.2f|%q\n" 2.5 "a b"'
more program sh -c 'awk "BEGIN { for (i = 0; i < 20000; i++) print (i * 7919) % 20011, i }" |
	sort -n | sed "s/1/one/g" | cksum'
program sh -c 'tar -cf - -C /usr/include/linux . --sort=name | xz -T2 -0 | xz -d | cksum'
program openssl dgst -sha256 services /etc/passwd
more program sh -c 'openssl rand -hex 24 | wc -c
	openssl enc -aes-128-cbc -K 00 -iv 00 -in services 2>&1 | openssl dgst -md5
	openssl genpkey -algorithm ED25519 | openssl pkey -pubout | wc -l'
more program sqlite3 :memory: 'create table t(a, b);
	with recursive c(n) as (select 1 union all select n + 1 from c where n < 3000)
	insert into t select n, hex(n * n) from c;
	select count(*), sum(a), max(b) from t;
	select group_concat(a) from t where b like "%99%";'
for to in EUC-JP ISO-2022-KR UTF-16 GB18030; do
	echo 'iconv -f UTF-8 -t '$to'//TRANSLIT text | iconv -f '$to' -t UTF-8 | cksum'
done >work/iconv.sh
seq 2000 | sed 's/$/ \xe3\x81\x82 \xe6\xbc\xa2 plain/' >work/text
more program iconv -f UTF-8 -t ISO-2022-JP text
more program sh -c 'iconv --version | head -n 1; . ./iconv.sh'

cat >work/unit.c <<'END_OF_C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *left, *right; double value; };
static double sum(const struct node *n) { return n ? n->value + sum(n->left) + sum(n->right) : 0; }
int main(int argc, char **argv)
{
	struct node nodes[100] = { 0 };
	for (int i = 1; i < 100; i++) {
		nodes[i].value = sin(i) * argc;
		*(i % 2 ? &nodes[i / 2].left : &nodes[i / 2].right) = &nodes[i];
	}
	return printf("%f %s\n", sum(nodes), argv[0]) < 0;
}
END_OF_C
more program sh -c 'gcc -O2 -c unit.c -o unit.o && cksum unit.o'
more program sh -c 'clang -O2 -c unit.c -o unit.o && cksum unit.o'
gcc -g work/unit.c -o work/unit -lm 2>/dev/null
more program gdb --batch -nx -ex 'info line main' -ex 'ptype struct node' -ex 'disassemble sum' \
	-ex 'python print(sum(range(100)))' unit
more program cmake --version
cat >work/script.cmake <<'END_OF_CMAKE'
foreach(i RANGE 200)
	math(EXPR square "${i} * ${i}")
	list(APPEND squares ${square})
endforeach()
list(SORT squares COMPARE NATURAL ORDER DESCENDING)
list(JOIN squares "," text)
string(REGEX REPLACE "([0-9])1" "<\\1>" text "${text}")
string(SHA256 sum "${text}")
string(JSON value GET "{\"a\": [1, {\"b\": 3}]}" a 1 b)
execute_process(COMMAND sh -c "echo from a child" OUTPUT_VARIABLE child)
execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${sum} ${value} ${child}")
END_OF_CMAKE
more program cmake -P script.cmake

cat >work/script.js <<'END_OF_JAVASCRIPT'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto'), zlib = require('zlib'), { execFileSync } = require('child_process');

function count() {
	let n = 0;
	for (let i = 0; i < 300; i++) {
		try {
			if (i % 2)
				throw new Error(String(i));
			n += JSON.parse(JSON.stringify({ i })).i;
		} catch (e) {
			n += e.message.length;
		}
	}
	return n;
}
function run(k) {
	return new Promise((resolve, reject) =>
		new Worker(__filename, { workerData: k }).on('message', resolve).on('error', reject));
}
if (isMainThread) {
	console.log(crypto.createHash('sha256').update('x'.repeat(100000)).digest('hex'));
	console.log(zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(100000, 'ab'))).length);
	console.log(execFileSync('echo', ['from a child']).toString().trim());
	console.log(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009).sort((a, b) => a - b).slice(0, 5));
	Promise.all([1, 2, 3].map(run)).then(all => { console.log(JSON.stringify(all)); process.exitCode = 6; });
} else {
	parentPort.postMessage([workerData, count()]);
}
END_OF_JAVASCRIPT
expected=6
more program node script.js
expected=
more program sh -c 'java -version 2>&1'
# Not rustup's wrapper, which executes the real one: record finds out how much static TLS is needed by the program that
# it starts.
more program "$(rustc --print sysroot 2>/dev/null)/bin/rustc" --version --verbose
done_testing
