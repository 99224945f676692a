#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The prototypes that come with xaudit are those of the headers: a compiler compares the types of each function, and the
# values of each name.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
table=$top_srcdir/tool/values/prototypes
cd "$tmp" || bail 'no scratch folder'

# headers NAME...: includes of those that are here, and no macros for functions.
headers() {
	for header; do
		echo "#include <$header>" >one.c
		! $CC -E one.c >/dev/null 2>&1 || echo "#include <$header>"
	done
}
headers arpa/inet.h crypt.h dirent.h dlfcn.h errno.h fcntl.h grp.h libintl.h locale.h malloc.h math.h netdb.h \
	openssl/err.h openssl/evp.h openssl/ssl.h poll.h pthread.h pwd.h signal.h sqlite3.h stdio.h stdlib.h string.h \
	strings.h netinet/in.h sched.h sys/epoll.h sys/eventfd.h sys/file.h sys/inotify.h sys/ioctl.h sys/mman.h \
	sys/prctl.h sys/random.h sys/resource.h sys/socket.h sys/stat.h sys/time.h sys/timerfd.h sys/types.h \
	sys/utsname.h sys/wait.h time.h unistd.h zlib.h >headers
# What can't be compared, since its header is not here.
absent=''
grep -q zlib.h headers || absent="$absent|z_stream|gzFile|uLong"
grep -q openssl/ssl.h headers || absent="$absent|SSL|EVP_|ERR_"
grep -q sqlite3.h headers || absent="$absent|sqlite3"
grep -q crypt.h headers || absent="$absent|crypt"
[ -z "$absent" ] || diag "not compared: ${absent#|}"

# functions TABLE: the declarations alone, as plain C, each on a line, of functions that the headers have.
functions() {
	sed 's,/\*[^*]*\*/,,g' "$1" | awk '
		/^\/\*/ { comment = 1 }
		!comment { print }
		/\*\// { comment = 0 }' |
		tr '\n\t' '  ' |
		sed 's/\[\[[^]]*\]\]//g; s/enum [a-z_]* {[^}]*};//g; s/\.\.\., [^;]*)/...)/g; s/;/;\n/g' |
		grep -v '^ *typedef' | grep '(' | grep -Ev "(${absent#|}${absent:+|}^#)"
}
# names TABLE: "NAME = VALUE" of each name that has a number, or follows one, as assertions.
names() {
	sed 's,/\*[^*]*\*/,,g; s/\[\[[^]]*\]\]//g' "$1" | tr '\n\t' '  ' |
		grep -o 'enum [a-z_]* {[^}]*}' | sed 's/.*{//; s/}//' | awk '{
		n = split($0, item, ",")
		value = "0"
		for (i = 1; i <= n; i++) {
			gsub(/ /, "", item[i])
			if (item[i] == "")
				continue
			split(item[i], part, "=")
			if (part[2] != "")
				value = part[2]
			else if (i > 1)
				value = value " + 1"
			name = part[1]
			printf "#ifdef %s\n_Static_assert(%s == (%s), \"%s\");\n#endif\n", name, name, value, name
		}
	}'
}
# compiled TABLE: what a compiler says of it.
compiled() {
	{
		echo '#define _GNU_SOURCE'
		cat headers
		functions "$1" | sed -n 's/^[^(]*[ *]\([a-zA-Z_0-9]*\)(.*/#undef \1/p'
		names "$1"
		functions "$1"
	} >all.c
	LC_ALL=C $CC -std=gnu11 -w -Werror=incompatible-pointer-types -fsyntax-only -fno-builtin all.c 2>&1 |
		grep 'error:'
}

ok 'there are many' test "$(functions "$table" | wc -l)" -ge 300
is "$(compiled "$table")" '' 'each is as in its header'
sed 's/int close(\[\[fd\]\] int fd)/int close(long fd)/; s/^typedef.*//' "$table" >other
like "$(compiled other)" "conflicting types for 'close'" 'one that differs would be found'
sed 's/O_CREAT = 0x40/O_CREAT = 0x41/' "$table" >other
like "$(compiled other)" 'static assertion failed: "O_CREAT"' 'so would a name of another value'
ok 'and all become contexts' "$top_builddir/t/values/prototype.u" "$table"
done_testing
