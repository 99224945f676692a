# SPDX-License-Identifier: MIT
#
# Programs of the farm that run and end; see run.sh.

program_perl() {
	needs perl || return
	traced perl -MPOSIX=floor -MEncode -MStorable=dclone -MData::Dumper -e '
		my $n = 0; $Data::Dumper::Sortkeys = 1;
		for my $i (1 .. 3000) {
			$n += floor($i / 3) + length encode("UTF-16LE", decode("UTF-8", "gr\xc3\xbcn $i"));
		}
		print Dumper(dclone({ n => $n, list => [map { $_ * $_ } 1 .. 20] }));'
}

program_python() {
	needs /usr/bin/python3 || return
	traced /usr/bin/python3 -c '
import json, zlib, hashlib, ctypes, re, sqlite3, threading
db = sqlite3.connect(":memory:", check_same_thread=False)
db.execute("create table t (a, b)")
lock = threading.Lock()
def work(n):
    for i in range(200):
        data = json.dumps({"n": n, "i": i, "text": "x" * i}).encode()
        with lock:
            db.execute("insert into t values (?, ?)", (n * 1000 + i, hashlib.sha256(zlib.compress(data)).hexdigest()))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(db.execute("select count(*), sum(a) from t").fetchall(),
	ctypes.CDLL("libc.so.6").abs(-5), re.sub("a+", "b", "caaat"))'
}

program_numpy() {
	needs /usr/bin/python3 /usr/lib/python3/dist-packages/numpy || return
	traced /usr/bin/python3 -c '
import numpy as np
a = np.arange(250000, dtype=float).reshape(500, 500) / 1000
print(round(float(np.linalg.det(a[:5, :5] + np.eye(5))), 6),
	float((a @ a).sum()).hex(), np.sort(np.sin(a), axis=None)[:3])'
}

# Callbacks by libffi, and children.
program_ctypes() {
	needs /usr/bin/python3 "$(echo /usr/lib/python3.*/test/test_ctypes.py)" || return
	traced /usr/bin/python3 -m test test_ctypes test_subprocess 2>log | grep -E '^(Result|Total tests|Tests result)'
}

# An allocator that has a thread of its own from the first call on.
program_jemalloc() {
	needs perl "$(echo /usr/lib/*/libjemalloc.so.2)" || return
	MALLOC_CONF=background_thread:true LD_PRELOAD=libjemalloc.so.2 traced perl -e '
		my %h; $h{$_ % 1000} .= "x" x ($_ % 7) for 1 .. 50000; print length(join "", values %h), "\n"'
}

program_maxima() {
	needs maxima || return
	HOME=$(pwd) traced maxima --very-quiet --batch-string='print(factor(x^12-1), integrate(sin(x)^3, x))$' 2>log
}

program_greenlet() {
	needs /usr/bin/python3 /usr/lib/python3/dist-packages/greenlet || return
	traced /usr/bin/python3 -c '
import ctypes, greenlet
libc = ctypes.CDLL("libc.so.6")
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
main = greenlet.getcurrent()
def work(n):
    numbers = (ctypes.c_int * 8)(*range(8, 0, -1))
    def switch(a, b):
        main.switch(n)
        return a[0] - b[0]
    libc.qsort(numbers, 8, 4, compare(switch))
    return list(numbers)
all = [greenlet.greenlet(work) for _ in range(4)]
out = [g.switch(i) for i, g in enumerate(all)]
while any(not g.dead for g in all):
    for g in all:
        if not g.dead: r = g.switch()
print("ok", r)'
}

program_gevent() {
	needs /usr/bin/python3 /usr/lib/python3/dist-packages/gevent || return
	traced /usr/bin/python3 -c '
import gevent, zlib
from gevent import pool
def work(n):
    total = 0
    for i in range(50):
        total += len(zlib.compress(bytes(range(200)) * (n + 1)))
        gevent.sleep(0)
    return total
p = pool.Pool(50)
print(sum(p.imap_unordered(work, range(200))))'
}

program_node() {
	needs node || return
	traced node -e '
const z = require("zlib"), c = require("crypto");
let h = c.createHash("sha256");
for (let i = 0; i < 200; i++) h.update(z.gzipSync(Buffer.alloc(1000, "x" + i)).length + "");
console.log(h.digest("hex"));
const { Worker } = require("worker_threads");
const w = new Worker("require(\"worker_threads\").parentPort.postMessage(6 * 7)", { eval: true });
w.on("message", m => console.log("worker", m));'
}

program_java() {
	needs java || return
	cat >Main.java <<'END'
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;
public class Main {
	public static void main(String[] a) throws Exception {
		CRC32 crc = new CRC32();
		crc.update(IntStream.range(0, 200000).parallel().mapToObj(Integer::toString).sorted()
			.collect(Collectors.joining()).getBytes());
		System.out.println(Long.toHexString(crc.getValue()));
		Thread[] t = new Thread[16];
		long[] sums = new long[16];
		for (int i = 0; i < 16; i++) {
			int n = i;
			t[i] = new Thread(() -> { for (int k = 0; k < 100000; k++) sums[n] += k ^ n; });
			t[i].start();
		}
		for (Thread x : t) x.join();
		System.out.println(Arrays.stream(sums).sum());
	}
}
END
	if command -v javac >/dev/null 2>&1; then
		javac Main.java && traced java -cp . Main
	else
		traced java -XshowSettings:none -version 2>&1 | head -n 1
	fi
}

program_r() {
	needs R || return
	traced R --vanilla --slave -e 'set.seed(1); x <- rnorm(2000); y <- 2 * x + rnorm(2000)
print(coef(lm(y ~ x))); print(svd(matrix(1:9, 3))$d)'
}

program_octave() {
	needs octave-cli || return
	traced octave-cli --no-init-file --no-history --eval \
		'a = magic(40); printf("%g %g\n", sum(sum(a * a)), round(max(abs(eig(a)))));'
}

program_php() {
	needs php || return
	traced php -n -r '$a = []; for ($i = 0; $i < 3000; $i++) $a[] = md5((string)$i);
echo md5(serialize($a)), " ", preg_match_all("/a+/", implode("", $a)), "\n";'
}

program_ruby() {
	needs ruby || return
	# SHA1 first: threads that load it side by side see it half made.
	traced ruby -rjson -rdigest -rzlib -e '
Digest::SHA1
t = 4.times.map { |n|
	Thread.new { (1..300).map { |i| Digest::SHA1.hexdigest(Zlib.deflate(JSON.dump([n, i]))) }.join.size }
}
puts t.map(&:value).sum; f = Fiber.new { 3.times { |i| Fiber.yield i } }; puts f.resume + f.resume'
}

program_guile() {
	needs guile || return
	traced guile --no-auto-compile -c '(use-modules (srfi srfi-1))
(display (fold + 0 (map (lambda (x) (* x x)) (iota 20000)))) (newline)
(let loop ((i 0)) (when (< i 200) (call/cc (lambda (k) (k i))) (loop (+ i 1)))) (gc) (display "done") (newline)'
}

program_erlang() {
	needs erl || return
	traced erl -noshell -eval 'L = [spawn_monitor(fun() -> erlang:md5(term_to_binary(lists:seq(1, N))) end) ||
	N <- lists:seq(1, 2000)],
[receive {_, R, _, _, _} -> ok end || {_, R} <- L], io:format("~p~n", [length(L)]), halt(0).'
}

program_ffmpeg() {
	needs ffmpeg || return
	traced ffmpeg -nostdin -v error -f lavfi -i testsrc=size=160x120:rate=10:duration=2 -f lavfi -i \
		sine=duration=2 \
		-c:v mpeg4 -threads 2 -bitexact -c:a aac -f framemd5 - | md5sum
}

program_gst() {
	needs gst-launch-1.0 || return
	GST_REGISTRY=$(pwd)/registry GST_REGISTRY_FORK=no
	export GST_REGISTRY GST_REGISTRY_FORK
	traced gst-launch-1.0 -q audiotestsrc num-buffers=50 ! audioconvert ! audioresample ! \
		audio/x-raw,rate=22050,format=S16LE ! \
		filesink location=sound.raw
	status=$?
	wc -c <sound.raw
	return $status
}

program_libreoffice() {
	needs soffice || return
	printf 'The quick brown fox\n' >fox.txt
	traced timeout 300 soffice -env:UserInstallation="file://$(pwd)/profile" --headless --convert-to html \
		fox.txt >log 2>&1
	status=$?
	grep -o 'The quick brown fox' fox.html
	return $status
}

program_chromium() {
	needs chromium || return
	printf '<body><script>document.write("sum " + [...Array(1000).keys()].reduce((a, b) => a + b))'\
'</script></body>' \
		>page.html
	traced timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking \
		--disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir="$(pwd)/profile" \
			--dump-dom \
		"file://$(pwd)/page.html" 2>log | grep -o 'sum [0-9]*' | tail -n 1
}

# As a user whom its sandbox lets in. Its processes change their root to an empty folder: `record` alone opens files for
# them, and one of them shares its parent's memory while it does so.
program_chromium_sandbox() {
	needs chromium setpriv || return
	for sandboxed in ring later displaced live; do
		! unfit $sandboxed || return
	done
	printf '<body><script>document.write("sum " + [...Array(1000).keys()].reduce((a, b) => a + b))'\
'</script></body>' \
		>page.html
	mkdir profile && chown 65534 profile
	HOME=$(pwd)/profile traced setpriv --reuid=65534 --regid=65534 --clear-groups timeout 120 chromium --headless \
		--disable-gpu --disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir="$(pwd)/profile" \
		--dump-dom "file://$(pwd)/page.html" 2>log | grep -o 'sum [0-9]*' | tail -n 1
}

program_firefox() {
	needs firefox-esr || return
	echo '<p>x</p>' >page.html
	mkdir profile
	HOME=$(pwd) traced timeout -k 5 120 firefox-esr --headless --no-remote --profile "$(pwd)/profile" \
		--window-size 300,200 --screenshot "$(pwd)/page.png" "file://$(pwd)/page.html" >log 2>&1
	status=$?
	md5sum <page.png
	return $status
}

program_blender() {
	needs blender || return
	echo 'import bpy
bpy.ops.mesh.primitive_monkey_add()
print("faces", sum(len(o.data.polygons) for o in bpy.data.objects if o.type == "MESH"))' >faces.py
	HOME=$(pwd) traced timeout 120 blender -b --factory-startup -noaudio -P faces.py 2>log | grep faces
}

# Its handler of SIGSEGV judges by the instruction; xaudit-index(1).
program_ocaml() {
	needs ocamlopt || return
	echo 'let rec so n = 1 + so (n + 1)
let () = try ignore (so 0) with Stack_overflow -> print_endline "so"' >so.ml
	ocamlopt so.ml -o so >/dev/null 2>&1 || return
	traced ./so
}

program_ripgrep() {
	needs rg || return
	seq 20000 >numbers
	traced rg -j4 --sort path -c '1.*2' numbers
}

program_restic() {
	needs restic || return
	seq 20000 >numbers
	RESTIC_PASSWORD=x HOME=$(pwd) traced sh -c 'restic -q -r r init && restic -q -r r backup numbers &&
		restic -q -r r check && restic -r r stats --mode raw-data --json' | grep -o '"total_blob_count":[0-9]*'
}

program_gimp() {
	needs gimp /usr/lib/gimp/2.0/plug-ins/script-fu || return
	HOME=$(pwd) traced timeout 120 gimp -n -i -d -f -b \
		'(let* ((i (car (gimp-image-new 64 64 RGB))) (l (car (gimp-layer-new i 64 64 RGB-IMAGE "a" 100 0))))
		(gimp-image-insert-layer i l 0 0) (gimp-drawable-fill l FILL-WHITE) (plug-in-gauss 1 i l 5 5 0)
		(gimp-invert l)
		(file-ppm-save RUN-NONINTERACTIVE i l "out.ppm" "out.ppm" 0) (gimp-quit 0))' >log 2>&1
	status=$?
	md5sum <out.ppm
	return $status
}

program_emacs() {
	needs emacs || return
	HOME=$(pwd) traced emacs --batch -Q --eval '
(let ((s 0)) (dotimes (i 20000) (setq s (+ s (length (md5 (number-to-string i))))))
(princ s) (terpri))'
}

program_cargo() {
	needs cargo rustc || return
	mkdir -p c/src
	printf '[package]\nname = "c"\nversion = "0.1.0"\nedition = "2021"\n' >c/Cargo.toml
	printf 'fn main() { println!("{}", (1..=100u64).sum::<u64>()); }\n' >c/src/main.rs
	(cd c && wrap cargo build --offline -q) && c/target/debug/c
}

program_cmake() {
	needs cmake ninja cc || return
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_library(l SHARED l.c)\nadd_executable(m m.c)\n'\
'target_link_libraries(m l)\n' \
		>CMakeLists.txt
	printf 'int f(int x) { return x * 2; }\n' >l.c
	printf '#include <stdio.h>\nint f(int);\nint main(void) { printf("%%d\\n", f(21)); return 0; }\n' >m.c
	traced cmake -S . -B b -G Ninja >log && traced ninja -C b >>log && b/m
}

program_make() {
	needs make cc || return
	i=0
	while [ $i -lt 8 ]; do
		echo "int f$i(int x) { return x + $i; }" >f$i.c
		i=$((i + 1))
	done
	printf 'o = $(patsubst %%.c,%%.o,$(sort $(wildcard f*.c)))\nlib.a: $(o)\n\tar crs $@ $^\n%%.o: %%.c\n'\
'\t$(CC) -O2 -c -o $@ $<\n' >Makefile
	traced make -s -j2 CC=cc
	status=$?
	nm lib.a | awk '$2 == "T"'
	return $status
}

program_clang() {
	needs clang || return
	printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >a.c
	traced clang -O2 -g -o a a.c && ./a
}

program_mpi() {
	needs mpicc mpirun || return
	cat >m.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 200; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d\n", sum);
	MPI_Finalize();
	return 0;
}
END
	mpicc -O1 -o m m.c || return
	traced timeout 120 mpirun --allow-run-as-root --oversubscribe --mca btl self,tcp --mca btl_tcp_if_include lo \
		-n 4 ./m
}

# A program with threads, for the sanitizers.
threads() {
	cat >t.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *a)
{
	long sum = 0;
	for (int i = 0; i < 2000; i++) {
		char *p = malloc(100);
		snprintf(p, 100, "%ld %d", (long)a, i);
		sum += (long)strlen(p);
		free(p);
	}
	return (void *)sum;
}
int main(void)
{
	pthread_t t[8];
	long sum = 0;
	for (long i = 0; i < 8; i++)
		pthread_create(t + i, NULL, work, (void *)i);
	for (int i = 0; i < 8; i++) {
		void *r;
		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("%ld\n", sum);
	return 0;
}
END
	gcc -O1 -g -fsanitize="$1" -pthread -o t t.c || return
	# The sanitizer of threads wants its addresses where the kernel puts nothing by chance.
	traced setarch -R ./t
}

program_asan() {
	needs gcc setarch || return
	# Its search for leaks stops the program by ptrace, which xaudit check has already.
	ASAN_OPTIONS=detect_leaks=0 threads address
}

program_tsan() {
	needs gcc setarch || return
	threads thread
}

program_patchelf() {
	needs gcc patchelf || return
	printf 'int f(int x) { return x + 1; }\n' >l.c
	printf '%s\n' '#include <stdio.h>' 'int f(int);' \
		'int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s += f(i);' \
		'printf("%d\n", s); return 0; }' >m.c
	gcc -O1 -fPIC -shared -fpatchable-function-entry=5 -o libl.so l.c && gcc -O1 -o m m.c -L. -ll || return
	patchelf --set-rpath "$(printf '%0200d' 0 | tr 0 /)$(pwd)" m &&
		patchelf --set-soname "$(printf 'libl.so.%0100d' 7)" --add-needed libm.so.6 libl.so
	patchelf --replace-needed libl.so "$(pwd)/libl.so" m || return
	traced ./m
}

program_iconv() {
	needs iconv || return
	i=0
	while [ $i -lt 500 ]; do
		i=$((i + 1))
		echo "line $i: grüne Bäume → Ærø"
	done >text
	traced iconv -f UTF-8 -t ISO-8859-15//TRANSLIT text | md5sum
}

program_git() {
	needs git || return
	git init -q -b main r && cd r || return
	i=0
	while [ $i -lt 30 ]; do
		i=$((i + 1))
		echo "$i" >f$i
	done
	git add . && git -c user.name=n -c user.email=e@x -c commit.gpgsign=false commit -q \
		--date=2000-01-01T00:00:00Z -m m
	traced git log --format=%s --stat | tail -n 3
	traced git fsck --full 2>&1
	traced git gc -q
}

program_gdb() {
	needs gdb gcc || return
	# A process has one tracer.
	unfit check && return
	printf 'int f(int x) { return x + 1; }\nint main(void) { return f(41); }\n' >g.c
	gcc -g -O0 -o g g.c || return
	traced gdb -nx -q -batch -ex 'break f' -ex run -ex bt -ex finish -ex continue ./g 2>&1 |
		grep -E '^(#|Value|.*exited)' | sed 's/0x[0-9a-f]*/ADDRESS/;s/process [0-9]*/process N/'
}

program_openssl() {
	needs openssl || return
	traced openssl dgst -provider legacy -provider default -md4 /usr/include/stdio.h
	traced openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout key -out cert -days 1 2>log
	traced openssl x509 -in cert -noout -subject
}

program_tar() {
	needs tar xz || return
	cp -R /usr/include/linux/netfilter tree
	traced tar --sort=name --mtime=2000-01-01 --owner=0 --group=0 -cJf tree.tar.xz tree &&
		traced tar -tf tree.tar.xz | md5sum
}

program_sqlite() {
	needs sqlite3 || return
	traced sqlite3 :memory: 'create table t(a); with recursive n(i) as (select 1 union all select i + 1 from n '\
'where i < 20000) insert into t select i from n; select sum(a), count(*) from t where a % 7 = 0;'
}

program_lua() {
	needs lua5.4 || return
	traced lua5.4 -e 'local s = 0 for i = 1, 20000 do s = s + #string.format("%d %s", i, ("x"):rep(i % 10)) end
local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) print(s, c(), c())
print(pcall(error, "thrown"))'
}

program_tcl() {
	needs tclsh || return
	echo 'set s 0; for {set i 0} {$i < 20000} {incr i} {incr s [string length [format %x $i]]}; puts $s
puts [regsub -all a banana b]' >a.tcl
	traced tclsh a.tcl
}
