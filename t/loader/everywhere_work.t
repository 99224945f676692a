#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes all over a library while programs do real work with it: each way of placing them by itself, in batches of
# places that are not in each other's way. What the programs say, and how they end, is as untraced: sqlite3, with a
# database in a file. Where XAUDIT_ALL is 1 all places of libsqlite3, of libcrypto while `openssl speed` and other
# commands of openssl run, and of python3.11 while it runs its own tests.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need python3 sqlite3 objdump

library_of() {
	ldd "$1" | sed -n "s/.* => \(.*\/$2[.0-9-]*so[.0-9]*\) .*/\1/p"
}

# untraced SCRIPT PIECE: what it prints, in plain/PIECE.
untraced() {
	[ ! -d "plain/$2" ] || return 0
	mkdir -p "plain/$2"
	(cd "plain/$2" && bounded 120 sh "$tmp/$1" "$2" >../"$2.out" 2>../"$2.err") ||
		bail "untraced $1 $2 ends with $?: $(cat "plain/$2.err" "plain/$2.out")"
}

# batch N SCRIPT PIECE: in at/N; how it ended in at/N.ended.
batch() {
	mkdir "at/$1"
	cd "at/$1" || return
	# A process waits 10 seconds for its plan, which is not enough on a machine that does much else.
	for again in 1 2 3; do
		ended=0
		bounded 600 "$XAUDIT" record --mode=count -c "../$1.conf" -o trace -- sh "$tmp/$2" "$3" \
			>"../$1.out" 2>"../$1.err" || ended=$?
		grep -q 'it took longer than 10 seconds$' "../$1.err" || break
		rm -rf trace
	done
	echo "$ended $(cmp "$tmp/plain/$3.out" "../$1.out" 2>&1)" >"../$1.ended"
	bounded 60 "$XAUDIT" report --format=json trace >"../$1.json" || echo no report >"../$1.ended"
	rm -rf trace
}

# under LIBRARY MOST PARTS SCRIPT PIECES: see everywhere.py, with MOST and PARTS. `sh SCRIPT PIECE` does one of so many
# pieces of work, and says what is the same each time. Each way has all pieces, one batch after another.
under() {
	file=$1 most=$2 parts=$3 script=$4 pieces=$5
	name=${file##*/} began=$(date +%s)
	rm -rf at plain && mkdir at
	"$XAUDIT" list --format=json "$file" '*' >list.json || bail "no list of $file"
	ways=$(python3 "$beside/everywhere.py" apart list.json "$name" "$most" "$parts" at)
	n=0 turn=0 last=''
	for way in $ways; do
		[ "$way" = "$last" ] || turn=0
		n=$((n + 1)) last=$way piece=$((turn % pieces + 1)) turn=$((turn + 1))
		untraced "$script" "$piece"
		echo "$piece" >"at/$n.piece"
		(batch "$n" "$script" "$piece") &
		[ $((n % 2)) -ne 0 ] || wait
	done
	wait
	bad=''
	for run in $(seq "$n"); do
		[ "$(cat "at/$run.ended")" = '0 ' ] || bad="$bad
$run: $(head -n 1 "at/$run.conf"): $(cat "at/$run.ended")
$(diff "plain/$(cat "at/$run.piece").out" "at/$run.out" | head -n 5)
$(grep -v '^xaudit' "at/$run.err" | head -n 20)"
	done
	is "$bad" '' "$name: in $n batches of places, $script does what it does untraced"
	is "$(grep -h '^xaudit' at/*.err | grep -v '^xaudit: probe [0-9a-f]* at\|more can.t be had' |
		grep -v '^xaudit record: nothing that was loaded has the place of' | head -n 3)" '' \
		'nothing is said but of probes that can not be had'
	python3 "$beside/everywhere.py" judge list.json "$file" at - >judged 2>&1
	is "$? $(sed -n 's/^\([0-9]*\) wrong$/\1/p' judged)" '0 0' 'and nothing is lost'
	while read -r line; do
		diag "$name: $line"
	done <judged
	diag "$name: took $(($(date +%s) - began)) s"
	is "$(grep -c '^\(single\|jump\|jump-before\|short\|shared\): .* [1-9][0-9]* reached' judged)" 5 \
		'places of each way are reached'
}

# ---- sqlite3 ----

cat >sqlite.sh <<'END'
# sqlite3 with a database in a file, by two processes: what it says, and all that it keeps.
rm -f base.db* copy.db
sqlite3 -batch base.db <<'SQL'
pragma journal_mode = wal; pragma cache_size = 50; pragma foreign_keys = on;
create table word(id integer primary key, text text not null unique, n int, x real, b blob check (length(b) < 200));
create table pair(a int references word on delete cascade, c int references word on delete cascade, w,
	primary key (a, c)) without rowid;
create index word_n on word(n desc, text collate nocase); create index word_e on word(length(text)) where n % 3 = 0;
create view both as select l.text lt, r.text rt, w from pair join word l on l.id = a join word r on r.id = c;
create table log(at integer primary key autoincrement, what text);
create trigger gone after delete on word begin insert into log(what) values ('gone ' || old.text); end;
create virtual table page using fts5(body); create virtual table area using rtree(id, x0, x1, y0, y1);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
	insert into word select i, printf('%x-%d', i * 2654435761 % 65521, i), i * 7919 % 101, i / 7.0,
		zeroblob(i % 9) || cast(hex(i * i) as blob) from n;
insert into pair select id, (id * 31) % 3000 + 1, id % 13 from word where id % 2;
insert into page select group_concat(text, ' ') from word group by id / 20;
insert into area select id, n, n + 1 + id % 5, x, x + 2 from word where id <= 1500;
commit;
savepoint s; delete from word where id between 100 and 160; select count(*), max(what) from log;
rollback to s; release s;
delete from word where id % 97 = 0; update word set text = upper(text) || '!' where n between 10 and 14;
insert into word(id, text, n) values (1, 'one', 1) on conflict (id) do update set n = n + 1000, text = excluded.text;
select n, count(*), round(avg(x), 6), min(text), max(text) from word group by n having count(*) > 29
	order by 2 desc, 1 limit 9;
select text, rank() over (partition by n order by x desc),
	sum(id) over (order by id rows between 3 preceding and current row) from word order by n, x limit 20;
select count(*), sum(w), max(lt || rt) from both where w > 3;
select rowid, length(body) from page where page match 'b* OR 1a*' order by rank, rowid limit 7;
select count(*), sum(id) from area where x0 > 20 and x1 < 60 and y0 < 300;
with recursive xa(x) as (values (-2.0) union all select x + 0.1 from xa where x < 1.2),
	ya(y) as (values (-1.0) union all select y + 0.2 from ya where y < 1.0),
	m(i, cx, cy, x, y) as (select 0, x, y, 0.0, 0.0 from xa, ya union all
		select i + 1, cx, cy, x * x - y * y + cx, 2.0 * x * y + cy from m where x * x + y * y < 4.0 and i < 20)
	select sum(n), count(*) from (select max(i) n from m group by cx, cy);
select json_group_array(value) from (select value from json_each('[3,1,{"k":[true,null,"\u00e9"]},2.5e3]'));
select json_patch('{"a":1,"b":[1,2]}', '{"b":null,"c":{"d":"x"}}'), json_extract('{"a":{"b":[5,6]}}', '$.a.b[1]');
select text from word where text like '%f_-1%' or text glob '[0-3]a*7' order by text collate nocase limit 9;
select date('2024-02-28', '+2 days'), strftime('%j %w', '2000-12-31'), unicode('é'), soundex('x'), quote(x'00'),
	7 % -3;
explain query plan select * from word where n = 5 and text > 'a' order by text;
select 1/0, abs(-9223372036854775807), 9223372036854775807 + 1, cast('12ab' as int), 'a' < x'00', 1e308 * 10;
insert into word(id, text) values (2, 'two');
insert into pair values (1, 99999, 0);
alter table word add column z default 'zz'; reindex; analyze; vacuum; pragma integrity_check; vacuum into 'copy.db';
attach 'copy.db' as c; select count(*) from main.word join c.word using (id, text, n); detach c;
SQL
sqlite3 -batch -csv copy.db 'select count(*), sum(n) from word; pragma integrity_check' '.backup base2.db'
sqlite3 -batch base2.db .dump | sha256sum
rm -f base.db* base2.db copy.db
END
some=1
[ -z "$XAUDIT_ALL" ] || some=0
sqlite=$(library_of "$(command -v sqlite3)" libsqlite3)
if [ -n "$sqlite" ]; then
	under "$sqlite" "$(rounds 5000 24000)" $some sqlite.sh 1
else
	skip 4 'no sqlite3 with a library of its own'
fi

if [ -z "$XAUDIT_ALL" ]; then
	skip 8 'libcrypto and python3.11 only where XAUDIT_ALL is 1'
	done_testing
	exit
fi

# ---- openssl ----

cat >openssl.sh <<'END'
# Commands of openssl: known answers, and what one makes and another one reads.
set -eu
seq 20000 >text
for digest in md5 sha1 sha256 sha512 sha3-256 blake2b512 blake2s256 ripemd160 sm3; do
	openssl dgst -r "-$digest" text
done
for cipher in aes-128-cbc aes-256-ctr aes-192-ofb camellia-128-cbc chacha20 des-ede3-cbc aria-128-cfb sm4-cbc; do
	openssl enc "-$cipher" -pbkdf2 -iter 1000 -S 0102030405060708 -pass pass:word -in text -out locked
	openssl enc -d "-$cipher" -pbkdf2 -iter 1000 -S 0102030405060708 -pass pass:word -in locked | cmp - text
	openssl dgst -r -sha256 locked
done
openssl dgst -sha256 -mac HMAC -macopt hexkey:00112233 text
openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt key:secret -kdfopt salt:salt -kdfopt info:label HKDF
openssl kdf -keylen 32 -kdfopt pass:secret -kdfopt salt:salt -kdfopt n:1024 -kdfopt r:8 -kdfopt p:1 SCRYPT
openssl prime -hex FFFFFFFFFFFFFFC5 FFFFFFFFFFFFFFC7
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out rsa.key 2>made
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out ec.key
openssl genpkey -algorithm ED25519 -out ed.key
for key in rsa ec; do
	openssl pkey -in $key.key -pubout -out $key.pub
	openssl dgst -sha256 -sign $key.key -out signature text
	openssl dgst -sha256 -verify $key.pub -signature signature text
	openssl req -new -x509 -key $key.key -subj "/CN=$key.example/O=test" -days 2 -out $key.pem
	openssl verify -CAfile $key.pem $key.pem
	openssl x509 -in $key.pem -noout -subject -issuer
	openssl pkcs12 -export -inkey $key.key -in $key.pem -passout pass:word -out $key.p12
	openssl pkcs12 -in $key.p12 -passin pass:word -nokeys | openssl x509 -noout -subject
done
openssl pkeyutl -sign -inkey ed.key -rawin -in text -out signature
openssl pkeyutl -verify -inkey ed.key -rawin -in text -sigfile signature
openssl cms -encrypt -in text -aes128 -outform DER -out message rsa.pem
openssl cms -decrypt -in message -inform DER -inkey rsa.key | tr -d '\r' | cmp - text
openssl asn1parse -in ec.pem -i | grep -c ':d=[0-9]'
# It says how often it did each, at least once.
ended=0
openssl speed -mr -seconds 1 -bytes 1024 sha256 sha512 aes-128-cbc rsa1024 ecdsap256 ecdhx25519 ed25519 \
	>speed.out 2>speed.err || ended=$?
sed -n 's/^+\(R[0-9]*\):[1-9][0-9]*:\([^:]*\):.*/\1 \2/p' speed.err
grep '^xaudit: ' speed.err >&2 || :
openssl speed -mr -seconds 1 -bytes 8192 -evp aes-256-gcm 2>speed.err | grep -c '^+F' || ended=$?
openssl speed -mr -seconds 1 -bytes 8192 -evp chacha20-poly1305 2>speed.err | grep -c '^+F' || ended=$?
exit $ended
END
case $(openssl version 2>/dev/null) in
'OpenSSL 3.0.'*) under "$(library_of "$(command -v openssl)" libcrypto)" 24000 0 openssl.sh 1 ;;
*) skip 4 'not the openssl 3.0 that has all these commands' ;;
esac

# ---- python3.11 ----

cat >python.sh <<'END'
# Some of python3.11's own tests: how many there were, and what became of them.
ended=0
/usr/bin/python3.11 -m test -v --tempdir="$PWD" $(sed -n "$1p" "$tmp/modules") >test.out || ended=$?
sed -n 's/ in [0-9.]*s$//; /^Ran /p; /^OK/p; /^FAILED/p; /^ERROR: /p; /^FAIL: /p; /^test_.* skipped/p' test.out
[ "$ended" -eq 0 ] || tail -n 60 test.out >&2
exit $ended
END
# Three pieces, each about as long. What fails without us, or is not there, is left out.
: >modules
for piece in 'test_json test_re test_long test_set test_functools' \
	'test_gc test_zlib test_struct test_exceptions test_dict' \
	'test_hashlib test_list test_bytes test_generators test_float'; do
	there=''
	for module in $piece; do
		if bounded 120 /usr/bin/python3.11 -m test --tempdir="$tmp" "$module" >test.out 2>&1; then
			there="$there $module"
		else
			diag "$module is left out: $(tail -n 1 test.out)"
		fi
	done
	echo $there >>modules
done
diag "$(wc -w <modules) of python3.11's own tests: $(tr '\n' ' ' <modules)"
if [ "$(wc -w <modules)" -ge 12 ]; then
	under /usr/bin/python3.11 24000 0 python.sh 3
else
	skip 4 'no python3.11 with its own tests (libpython3.11-testsuite)'
fi
done_testing
