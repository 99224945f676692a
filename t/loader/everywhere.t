#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes all over the libraries of a program, each way of placing them by itself, and at all instructions of functions:
# the program prints and ends as untraced, nothing is lost, and the events are as many as the code around them, and
# calls counted otherwise, say.
# Under a program of C++: many places of libgcc_s, which unwinds, and some of libstdc++ and libc. Where XAUDIT_ALL is 1,
# all of these, and of libcrypto, libsqlite3 and python3 under programs that use them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need g++ python3 setarch objdump

# A program goes the same ways each time only where its addresses are the same. Those of memory that it maps are not,
# since the module maps stubs, plans and rules; and python's own allocator finds out where each address lies.
setarch -R true 2>/dev/null || skip_all 'addresses can not be the same in two runs: setarch -R does not work'
PYTHONHASHSEED=0 PYTHONMALLOC=malloc LC_ALL=C.UTF-8 python=''
export PYTHONHASHSEED PYTHONMALLOC LC_ALL

# counted ERRORS COMMAND...: a run by probes.conf, with the trace `trace`; sets $ended.
counted() {
	errors=$1 ended=0
	shift
	rm -rf trace
	# python asks where its stderr is: with our lines there and without not at its beginning, nor at a small number.
	{
		printf '%1000s\n' '' >&2
		bounded 300 setarch -R "$XAUDIT" record --mode=count -c "$tmp/probes.conf" -o trace -- "$@" || ended=$?
	} >out 2>"$errors"
}

# What record says at the end of all those that are refused.
tellings='xaudit record: nothing that was loaded has the place of '

# everywhere LIBRARY MOST PARTS COMMAND...: see everywhere.py, with MOST and PARTS.
everywhere() {
	file=$1 most=$2 parts=$3
	shift 3
	name=${file##*/}
	rm -rf at && mkdir at
	"$XAUDIT" list --format=json "$file" '*' >list.json || bail "no list of $file"
	runs=$(python3 "$beside/everywhere.py" choose list.json "$name" "$most" "$parts" at)
	began=$(date +%s)
	bounded 60 setarch -R "$@" >plain.out 2>&1 || bail "it fails untraced: $*"
	# With what of it entry displaces, to count calls. The names are those of all runs, and so is the environment.
	printf '[library %s]\nkinds = entry\n[library *]\nkinds = none\n[program]\nkinds = %s\n' "$name" \
		"$([ "$file" = "$python" ] && echo entry || echo none)" >probes.conf
	counted calls.err "$@"
	is "$ended $(cmp plain.out out 2>&1)" '0 ' "$name: entry counts calls"
	bounded 60 "$XAUDIT" report --format=json trace >calls.json
	bad=''
	for run in $(seq "$runs"); do
		cp "at/$run.conf" probes.conf
		counted "at/$run.err" "$@"
		# A process waits 10 seconds for its plan, which is not enough on a machine that does much else.
		for again in 1 2 3; do
			! grep -q 'it took longer than 10 seconds$' "at/$run.err" || counted "at/$run.err" "$@"
		done
		[ "$ended" -eq 0 ] && cmp -s plain.out out || bad="$bad $run: $ended $(diff plain.out out | head -n 3)"
		bounded 60 "$XAUDIT" report --format=json trace >"at/$run.json" || bad="$bad $run: no report"
	done
	is "$bad" '' "$name: in $runs runs, the program does what it does untraced"
	is "$(grep -hv "^ *$\|^xaudit: probe [0-9a-f]* at\|more can.t be had\|^$tellings" at/*.err | head -n 3)" '' \
		'nothing is said but of probes that can not be had'
	python3 "$beside/everywhere.py" judge list.json "$file" at calls.json >judged 2>&1
	judged=$?
	is "$judged $(sed -n 's/^\([0-9]*\) wrong$/\1/p' judged)" '0 0' \
		'numbers of events are as the code has it, and as many as calls'
	while read -r line; do
		diag "$name: $line"
	done <judged
	diag "$name: $runs runs took $(($(date +%s) - began)) s"
	is "$(grep -c '^\(single\|jump\|jump-before\|short\): .* [1-9][0-9]* reached' judged)" 4 \
		'places of each way are reached'
	is "$(sed -n 's/^\(single\|jump\|jump-before\): .* places, \([0-9]*\) refused.*/\2/p' judged | sort -u)" 0 \
		'where a jump does, the module always has a place'
}

g++ -O2 -o everywhere "$beside/everywhere.cc" || bail 'everywhere.cc does not compile'
library_of() {
	ldd "$1" | sed -n "s/.* => \(.*\/$2[.0-9-]*so[.0-9]*\) .*/\1/p"
}
some=1
[ -z "$XAUDIT_ALL" ] || some=0
everywhere "$(library_of everywhere libgcc_s)" 3000 $((4 * some)) ./everywhere
everywhere "$(library_of everywhere libstdc++)" 3000 "$some" ./everywhere
everywhere "$(library_of everywhere libc)" 3000 "$some" ./everywhere

if [ -z "$XAUDIT_ALL" ]; then
	skip 19 'libcrypto, libsqlite3 and python3 only where XAUDIT_ALL is 1'
	done_testing
	exit
fi

python=$(readlink -f /usr/bin/python3)
cat >digests.py <<'END'
import hashlib, hmac, ssl
for name in sorted(hashlib.algorithms_available):
    try:
        h = hashlib.new(name, b"abc" * 100)
        print(name, h.hexdigest() if h.digest_size else h.hexdigest(20))
    except ValueError:
        print(name, "is not there")
print(hmac.new(b"k", b"m", "sha256").hexdigest(), hashlib.pbkdf2_hmac("sha1", b"p", b"s", 50).hex())
print(hashlib.scrypt(b"p", salt=b"s", n=16, r=8, p=1).hex())
c = ssl.create_default_context()
print(len(c.get_ca_certs()), len(c.get_ciphers()))
END
hashes=$("$python" -c 'import _hashlib; print(_hashlib.__file__)' 2>/dev/null)
crypto=$(library_of "$hashes" libcrypto)
if [ -n "$crypto" ]; then
	everywhere "$crypto" 12000 0 "$python" -I -S digests.py
else
	skip 6 "no libcrypto under $python"
fi

# It says how often it did each; of signatures it makes and checks one more, to see whether it can.
case $(openssl version 2>/dev/null) in
'OpenSSL 3.0.'*)
	record speed --mode=count --probe sha=EVP_DigestUpdate@libcrypto.so.3 --probe aes=EVP_Cipher@libcrypto.so.3 \
		--probe sign=EVP_PKEY_sign@libcrypto.so.3 --probe verify=EVP_PKEY_verify@libcrypto.so.3 -- \
		openssl speed -seconds 1 -bytes 1024 sha256 aes-128-cbc rsa2048
	said=$(printf '%s\n' "$err" | tr '\r' '\n' | sed -n 's/^Doing .*: \([0-9]*\) .* in .*/\1/p' | sort -n |
		tr '\n' ' ')
	is "$status $(bounded 60 "$XAUDIT" report --format=json speed | jq -r '[.probes[] | .count -
		(if .probe == "sign" or .probe == "verify" then 1 else 0 end)] | sort | join(" ")') " "0 $said" \
		'events are as many as openssl speed counts'
	;;
*) skip 1 'not the openssl 3.0 whose way to count is known' ;;
esac

cat >queries.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 500)
	insert into t select x, printf('%05d-%s', x * 7919 % 500, hex(x)), x / 3.0 from n;
create index i on t(b);
create table u as select a % 17 k, count(*) n, sum(c) s, group_concat(a, '-') g from t group by 1;
select sum(a), count(distinct b), total(c), max(b) from t;
select k, n, s, length(g) from u order by s desc limit 5;
begin; update t set b = b || 'x' where a % 3 = 0; delete from t where a % 10 = 0; rollback;
select count(*), sum(length(b)) from t;
select t.a, u.k from t join u on u.k = t.a % 17 where t.b like '001%' order by 2 limit 5;
select sum(r), sum(w) from
	(select row_number() over (order by b) r, sum(a) over (order by a rows 3 preceding) w from t);
create trigger tr after insert on u begin update t set c = c + 1 where a = new.k; end;
insert into u values(5, 1, 2.0, 'q');
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), json_group_array(k) from u;
pragma integrity_check;
END
sqlite=$(library_of "$(command -v sqlite3)" libsqlite3)
if [ -n "$sqlite" ]; then
	everywhere "$sqlite" 12000 0 sqlite3 -batch -init queries.sql :memory: .quit
else
	skip 6 'no sqlite3 with a library of its own'
fi

cat >work.py <<'END'
import collections, functools, json, re
text = json.dumps({str(i): [i, i / 3, None, True, "x" * (i % 7)] for i in range(100)})
print(len(text), sum(len(v) for v in json.loads(text).values()), len(re.findall(r"(\d+)\.\d(?=\d)", text)))
class A:
    def __init__(self, n): self.n = n
    def __lt__(self, other): return self.n < other.n
    @property
    def twice(self): return self.n * 2
print([a.twice for a in sorted(A(i * 7 % 50) for i in range(50))][:5], 3**300 % 10**9, f"{2**0.5:.10f}")
def numbers():
    try:
        yield from range(10)
    finally:
        print("closed")
print(sum(x for x in numbers()), collections.Counter("abracadabra").most_common(2))
try:
    {}["a"]
except KeyError as e:
    print(repr(e), functools.reduce(lambda a, b: a * b, range(1, 20)))
exec(compile("def g(a, *b, c=1, **d):\n  return (a, b, c, d)\nprint(g(1, 2, c=3, e=4))", "s", "exec"))
END
everywhere "$python" 12000 0 "$python" -s -P -S -B work.py
done_testing
