#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All that xaudit index allows, done: every function of every library of a program is displaced, and programs that we
# did not write do what they did.
. "${top_srcdir:-.}/t/lib/tap.sh"

need python3 ldd
skip_sanitized
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
"$CC" -O2 -shared -fPIC "-I$top_srcdir" -o apply.so "$top_srcdir/t/fixtures/index_apply.c" \
	"$top_builddir/audit/index/.libs/libindex.a" "$top_builddir/x86_64/.libs/libsled.a" 2>err || bail "$(cat err)"

# A program's libraries, and itself: all but ld.so.
objects() {
	command -v "$1"
	ldd "$(command -v "$1")" | sed -n 's,.*=> \(/.*\) (.*,\1,p'
}
# same NAME PROGRAM COMMAND: with the program's objects displaced it does what it did, and almost all of them were.
same() {
	name=$1
	if ! command -v "$2" >/dev/null; then
		skip 2 "no $2 here"
		return
	fi
	bounded 120 "$XAUDIT" index --cache=cache $(objects "$2") >/dev/null 2>err || bail "no index: $(cat err)"
	rm -f report
	timeout 120 sh -c "$3" >plain 2>&1
	plain=$?
	APPLY_CACHE=$tmp/cache APPLY_OBJECTS=/ APPLY_REPORT=$tmp/report LD_PRELOAD=$tmp/apply.so \
		timeout 300 sh -c "$3" >displaced 2>&1
	is "$? $(cat displaced)" "$plain $(cat plain)" "$name does the same"
	# path, functions, displaced, with other bytes
	ok "$name: nearly all of its functions were displaced" awk '
		{ all += $2; done += $3; other += $4 }
		END { print all + 0, done + 0, other + 0; exit !(all > 3000 && done >= all * 0.97 && !other) }' report
}

cat >library.py <<'END'
import decimal, hashlib, json, re, sqlite3, threading, zlib
d = bytes(i * i % 251 for i in range(1 << 19))
for level in 1, 6, 9:
    c = zlib.compress(d, level)
    print(level, len(c), zlib.crc32(zlib.decompress(c)), zlib.decompress(c) == d)
for name in "md5 sha1 sha256 sha512 sha3_256 blake2b".split():
    print(name, hashlib.new(name, d).hexdigest())
b = sqlite3.connect(":memory:")
b.execute("create table t(a integer primary key, b text)")
b.executemany("insert into t(b) values(?)", ((str(i * 7919 % 10007),) for i in range(10000)))
print(b.execute("select count(*), sum(a), max(b), group_concat(distinct substr(b,1,1)) from t where b like '1%'")
    .fetchall())
print(hashlib.md5(json.dumps([{"k": [i, i / 3]} for i in range(1000)]).encode()).hexdigest())
print(len(re.findall(r"(\d+)(?=5)", "".join(map(str, range(5000))))), decimal.Decimal(2).sqrt())
t = [threading.Thread(target=lambda: [hashlib.sha256(d).digest() for _ in range(5)]) for _ in range(4)]
[x.start() for x in t], [x.join() for x in t]
try:
    1 / 0
except ZeroDivisionError as e:
    print(e)
END
# What stands in the path may be a script.
python=$(python3 -c 'import sys; print(sys.executable)')
same python "$python" "$python -S library.py"

cat >sums.sh <<'END'
for digest in md5 sha1 sha256 sha512 blake2s256; do
	openssl dgst -$digest library.py
done
openssl enc -aes-256-cbc -pbkdf2 -S 0011223344556677 -pass pass:x -in library.py -out secret &&
	openssl dgst -sha256 secret && openssl enc -d -aes-256-cbc -pbkdf2 -S 0011223344556677 -pass pass:x -in secret |
	cmp - library.py && echo same
openssl genrsa -out key 1024 2>/dev/null && openssl dgst -sha256 -sign key -out signed library.py &&
	openssl rsa -in key -pubout -out public 2>/dev/null &&
	openssl dgst -sha256 -verify public -signature signed library.py
END
same openssl openssl 'sh sums.sh'

same perl perl 'perl -e '\''my %h; $h{$_ % 977} .= chr(65 + $_ % 26) for 1 .. 20000;
	my $s = join ",", map { "$_=" . length $h{$_} } sort { $a <=> $b } keys %h; $s =~ s/(\d+)=/$1:/g;
	eval { die { a => 1 } }; print unpack("%32C*", $s), ref $@, sprintf("%.3f", sin 1), "\n"; print `echo child`;'\'
same bash bash 'bash -c '\''f() { local i; for ((i = 0; i < 500; i++)); do x+=$((i * i)); done; echo "$x" | cksum; }; f
	echo $(printf "%s\n" {a..z}{0..9} | sort -r | head -n 3)
	trap "echo trapped" USR1; kill -USR1 $$; ls / | wc -l'\'

if command -v "${CXX:-none}" >/dev/null; then
	cat >throws.cc <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

static thread_local int gone;
struct guard { std::string s; ~guard() { gone++; } };

static int f(int i)
{
	guard g{std::to_string(i)};
	if (i % 3 == 0)
		throw std::runtime_error(g.s);
	if (i % 7 == 0)
		throw i;
	return i;
}

static long all()
{
	long t = 0;
	for (int i = 0; i < 3000; i++) {
		try { t += f(i); } catch (const std::exception &e) { t += e.what()[0]; } catch (int x) { t -= x; }
	}
	return t + gone;
}

int main()
{
	std::map<std::string, int> m;
	std::ostringstream o;
	std::wostringstream w;
	std::vector<std::thread> threads;
	long sums[4] = {};
	for (int i = 0; i < 2000; i++)
		m[std::to_string(i * 7919 % 1009)]++;
	for (auto &p : m)
		o << p.first << '=' << p.second << ' ';
	std::regex r("(\\d+)=(2)");
	std::string s = o.str();
	for (long &sum : sums)
		threads.emplace_back([&sum] { sum = all(); });
	for (auto &t : threads)
		t.join();
	w << L"x" << 3.25 << true;
	std::cout << all() << ' ' << sums[0] << ' ' << sums[3] << ' ' << s.size() << ' '
		<< std::distance(std::sregex_iterator(s.begin(), s.end(), r), std::sregex_iterator()) << ' '
		<< w.str().size() << '\n';
	std::cin.exceptions(std::ios::failbit);
	try { int x; std::cin >> x; } catch (const std::ios::failure &e) { std::cout << "failure\n"; }
	throw std::logic_error("last");
}
END
	"$CXX" -O1 -std=c++14 -o throws throws.cc -pthread 2>err || bail "$CXX: $(cat err)"
	PATH=$tmp:$PATH
	same 'a program that throws' throws './throws </dev/null'
else
	skip 2 'no C++ compiler here'
fi
# LLVM takes a minute.
[ ! -f throws.cc ] ||
	more same clang "${CLANG:-none}" "$CLANG -O2 -std=c++14 -c -o throws.o throws.cc && cksum <throws.o"
done_testing
