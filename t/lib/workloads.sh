# SPDX-License-Identifier: MIT
#
# What programs that we did not write are given to do, by tests that displace all functions of their libraries; sourced
# in $tmp. The test defines
#	same NAME PROGRAM COMMAND
# two checks: the shell's COMMAND, which runs PROGRAM, does as it does untouched.
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

# Pictures: libgd calls libpng and libjpeg.
cat >pictures.py <<'END'
import ctypes
gd = ctypes.CDLL("libgd.so.3")
for f in gd.gdImageCreateTrueColor, gd.gdImagePngPtr, gd.gdImageJpegPtr, gd.gdImageCreateFromPngPtr, \
        gd.gdImageCreateFromJpegPtr:
    f.restype = ctypes.c_void_p
im = ctypes.c_void_p(gd.gdImageCreateTrueColor(200, 150))
for x in range(200):
    for y in range(150):
        gd.gdImageSetPixel(im, x, y, x * 65536 + y * 256 + (x ^ y))
for write, read in (gd.gdImagePngPtr, gd.gdImageCreateFromPngPtr), (gd.gdImageJpegPtr, gd.gdImageCreateFromJpegPtr):
    for i in range(20):
        n = ctypes.c_int()
        p = ctypes.c_void_p(write(im, ctypes.byref(n), *([75] if write is gd.gdImageJpegPtr else [])))
        back = ctypes.c_void_p(read(n, p))
        pixels = [gd.gdImageGetTrueColorPixel(back, x, y) for x in range(0, 200, 7) for y in range(0, 150, 11)]
        gd.gdImageDestroy(back)
        gd.gdFree(p)
    print(n.value, sum(pixels))
END
gd=$("$python" -c 'import ctypes; ctypes.CDLL("libgd.so.3")' 2>/dev/null && echo 1) || :
if [ -n "$gd" ]; then
	same pictures "$python" "$python -S pictures.py"
else
	skip 2 'no libgd here'
fi

cat >table.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
insert into t select i, hex(i * 7919 % 10007), i / 7.0 from n;
create index tb on t(b);
select count(*), sum(a), max(b), round(total(c), 3) from t where b like '3%';
select b, count(*) from t group by substr(b, 1, 2) order by 2 desc, 1 limit 3;
update t set b = b || 'x' where a % 3 = 0; delete from t where a % 5 = 0; vacuum; pragma integrity_check;
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), printf('%.10g', 1 / 3.0), length(zeroblob(1000));
END
same sqlite3 sqlite3 'sqlite3 :memory: <table.sql'
same sort sort 'LC_ALL=C.UTF-8 sort -k 2 -n -r table.sql library.py'
same ls ls 'ls -lR /usr/include/linux'
cat >pieces.c <<'END'
struct tree { struct tree *left, *right; int key; };
int depth(const struct tree *t)
{
	int l = t ? depth(t->left) : -1, r = t ? depth(t->right) : -1;
	return 1 + (l > r ? l : r);
}
END
same gcc "${CC%% *}" "$CC -O2 -c -o pieces.o pieces.c && cksum <pieces.o"

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
