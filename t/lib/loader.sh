# SPDX-License-Identifier: MIT
#
# For tests of what ld.so does; sourced after t/lib/traced.sh. A scenario is an argument of $subject; t/loader/loader.h
# is common to these programs.
ulimit -c 0 # every shell that runs tests knows it
subject=loader

printf '[trace]\noutput = none\n[library *]\nkinds = none\n[program]\nkinds = none\n' >none.conf
config() { # KIND FILE OUTPUT
	printf '[trace]\noutput = %s\nfollow = yes\n[library lib*.so]\nkinds = %s\n' "$tmp/$3" "$1" >"$2"
	printf '[library *]\nkinds = none\n[program]\nkinds = none\n' >>"$2"
}

# libraries BUILD...: makes all libraries that loader.c opens.
libraries() {
	rm -rf sub lib*.so
	for part in one two three glob calm busy dep; do
		"$@" lib$part.so loader_part.c -DNAME=$part
	done
	"$@" libx.so loader_part.c -DNAME=x -DCALLS=dep -L. -ldep
	"$@" libbad.so loader_part.c -DNAME=bad -DMISSING -Wl,-z,lazy
	"$@" libgone.so loader_part.c -DNAME=gone
	"$@" libneeds.so loader_part.c -DNAME=needs -DCALLS=gone -L. -lgone
	rm libgone.so
	"$@" libnodelete.so loader_part.c -DNAME=nodelete -Wl,-z,nodelete
	"$@" libunique.so loader_part.c -DNAME=unique -DUNIQUE
	"$@" libtls.so loader_part.c -DNAME=tls -DPENDING
	"$@" libtext.so loader_part.c -DNAME=text -DTEXT -Wl,-z,notext
	"$@" libchoice.so loader_part.c -DNAME=choice -DCHOICE
	"$@" libnext.so loader_part.c -DNAME=next -DNEXT
	"$@" libmany.so loader_part.c -DNAME=many -DMANY
	mkdir sub
	"$@" sub/libfar.so loader_part.c -DNAME=far -DNEAR
	"$@" sub/libnear.so loader_part.c -DNAME=near
	"$@" libstart.so loader_start.c -Wl,-z,lazy
}

# rtld_libraries BUILD...: makes all libraries that rtld.c opens; $tls: options for one with thread-local variables.
tls=
rtld_libraries() {
	rm -f lib*.so
	for part in one two glob dep; do
		"$@" lib$part.so loader_part.c -DNAME=$part
	done
	"$@" libx.so loader_part.c -DNAME=x -DCALLS=dep -L. -ldep
	"$@" libuser.so loader_start.c -Wl,-z,lazy
	"$@" libpart.so rtld_part.c -DNAME=part
	"$@" libstatic-tls.so rtld_part.c -DNAME=static -DSTATIC_TLS
	"$@" libthousand.so rtld_part.c -DTHOUSAND
	# Copies have one build-id: they are one object, with 20 loads. TLS by descriptors.
	"$@" libcopy.so rtld_part.c -DNAME=copy $tls
	for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
		cp libcopy.so libcopy$n.so
	done
	echo 'This is no library at all, though it is long enough to have held the header of one.' >libgarbage.so
	head -c 40 libone.so >libtruncated.so
	cp libone.so libmachine.so
	printf '\003' | dd of=libmachine.so bs=1 seek=18 conv=notrunc 2>/dev/null
	cp libone.so libclass.so
	printf '\001' | dd of=libclass.so bs=1 seek=4 conv=notrunc 2>/dev/null
}

# end_of FILE COMMAND...: writes output, then status and standard error to FILE.
end_of() {
	file=$1
	shift
	status=0
	bounded 60 "$@" >"$file" 2>"$file.err" || status=$?
	printf 'status %s\n' $status >>"$file"
	cat "$file.err" >>"$file"
}
# balance DIR: loads and unloads of the libraries.
balance() {
	dump "$1"
	jq -rn '[inputs | select((.event == "load" or .event == "unload") and (.library | test("/lib[a-z]*[.]so$")))] |
		(map(select(.event == "load")) | length) as $l | (map(select(.event == "unload")) | length) as $u |
		if $l == $u then "balanced" else "\($l) loads \($u) unloads" end' "$1.json"
}
# expect: those rows of $1 that the kind has: all, or only functions that other objects call.
expect() {
	if [ "$kind" = plt ]; then
		printf '%s\n' "$1" | tr ',' '\n' | sed 's/^ //' |
			grep -E '^([a-z]*_(work|pend|near|next|glob|touch|hold)|t_[0-9]*) ' | tr '\n' ',' |
			sed 's/,$//; s/,/, /g'
	else
		printf '%s' "$1"
	fi
}
# does WHAT ROWS SENTENCE: $subject prints the same in three ways, and has these calls; loads and unloads balance, or
# are as $left_open says.
left_open=
does() {
	end_of plain ./$subject "$1"
	end_of untouched env LD_AUDIT="$MODULE" XAUDIT_CONFIG=none.conf ./$subject "$1"
	record d -k "$kind" -l 'lib*.so' ./$subject "$1"
	# xaudit record reports when nothing was selected; with some kinds that is so here.
	[ -n "$(expect "$2")" ] || err=$(printf '%s\n' "$err" | grep -v '^xaudit record: nothing was selected in ')
	{ [ -z "$out" ] || printf '%s\n' "$out"; echo "status $status"; [ -z "$err" ] || printf '%s\n' "$err"; } >traced
	sentence="$name: $3"
	if cmp -s plain untouched && cmp -s plain traced; then
		is same same "$sentence: the program prints the same"
	else
		is "$(diff plain untouched; diff plain traced)" '' "$sentence: the program prints the same"
	fi
	report d
	is "$(rows); $(sums), $(balance d)" "$(expect "$2"); 0 lost 0 unfinished, ${left_open:-balanced}" \
		"$sentence: each call is counted"
}
