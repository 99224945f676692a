#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that are executed without the module's variables: they are named at the end, and with --follow=always they
# get them, unless something speaks against it. What is executed, and with which status, stays as it was.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}" env jq
skip_sanitized
cd "$tmp" || bail 'no scratch folder'
$CC -O2 -o executes "$top_srcdir/t/process/executes.c" 2>cc.err || bail 'executes does not compile'

# record NAME [OPTION]... -- COMMAND...: $status, $out, $said; the trace is NAME.
record() {
	name=$1
	shift
	status=0
	out=$(bounded 60 "$XAUDIT" record -o "$name" -k calls "$@" 2>err) || status=$?
	said=$(grep untraced err)
}
# traced TRACE: how often which programs are in it.
traced() {
	"$XAUDIT" info --format=json "$1" | jq -r '.processes[] | select(.folder | contains(":") | not) | .program' |
		sed 's,.*/,,' | grep -vx executes | LC_ALL=C sort | uniq -c | tr -s ' \n' ' '
}
adds="without LD_AUDIT in the environment that it got (--follow=always adds it)"

ways=$(bounded 60 ./executes ways)
is "$ways" '0 0 0 9 9 9 0 0 0 0 0 0 0 0 0 0 0 9 3' 'all ways work'
record ways -- ./executes ways
is "$status $out" "0 $ways" 'traced, they end the same'
is "$said" "xaudit record: 13 executed programs ran untraced: true (12), sh: $adds" 'who ran untraced is said'
is "$(traced ways)" ' 1 true ' 'one got the environment of the program'
is "$("$XAUDIT" info --format=json ways | jq -c '[.processes[].executed[]] | map([.name, .count, .untraced])')" \
	'[["true",12,"environment"],["sh",1,"environment"]]' 'info knows them'
like "$("$XAUDIT" info -v ways)" 'Executed    true, 12 times, untraced: environment' 'and says it'
"$XAUDIT" record --pack -o packed -k calls ./executes ways >out 2>&1
is "$("$XAUDIT" info --format=json packed* | jq '[.processes[].executed[].count] | add')" 13 \
	'so it does of a packed trace'

record always --follow=always -- ./executes ways
is "$status $out" "0 $ways" 'with --follow=always they end the same'
is "$(traced always)" ' 5 true ' 'those with a variable of the program are traced'
is "$said" "xaudit record: 9 executed programs ran untraced: true (8), sh: $adds" 'env -i is left alone'
record no --follow=no -- ./executes ways
is "$status $out $said $(traced no)" "0 $ways  " 'with --follow=no nobody is traced, and nothing is said'

most=$(bounded 60 ./executes most)
record most --follow=always -- ./executes most
is "$status $out" "0 $most" 'arguments may be as long as ever'

# A filter that was there before kills for rare system calls.
printf '#!/bin/sh\nexec "%s" record -o under -k calls --follow=always ./executes ways\n' "$XAUDIT" >under.sh
chmod +x under.sh
is "$(bounded 60 ./executes filtered ./under.sh 2>/dev/null)$(traced under)" "$ways 5 true " \
	'started under a filter, all work, and are traced'

# clean: what `executes odd` creates.
clean() {
	rm -f link once empty mine
}
clean
odd=$(bounded 60 ./executes odd)
is "$odd" '0 0 0 0 0 9 9 0 0 0 0 0 ' 'odd ways work'
clean
record odd -- ./executes odd
is "$status $out" "0 $odd" 'traced, they end the same: on small stacks, and with a lock on the file'
is "$said" "xaudit record: 10 executed programs ran untraced: true (5), memfd:true (deleted), empty, \
ld-linux-x86-64.so.2, mine (2): $adds" 'what did not run is not named'
clean
record oddly --follow=always -- ./executes odd
is "$status $out" "0 $odd" 'with --follow=always, too: no spawn is made twice'
is "$(traced oddly)" ' 1 memfd:true (deleted) 2 mine 6 true ' 'and traced: with our variables as they were at the start'

record filtered --follow=always -- ./executes filtered /bin/true
is "$status $(traced filtered)" '0 ' 'under a filter of system calls nothing is asked'
printf '#!/bin/true\n' >script && chmod +x script
record by-script --follow=always -- ./executes one ./script
is "$status $(traced by-script)" '0  1 true ' "a script's interpreter is traced"

mkdir földer && cp /bin/true földer/ && printf '#!%s/földer/true\n' "$PWD" >named && chmod +x named
record by-named --follow=always -- ./executes one ./named
is "$status $(traced by-named)" '0  1 true ' 'whatever letters its path has'

printf 'int main(void)\n{\n\treturn 5;\n}\n' >five.c
if $CC -static -o five five.c 2>cc.err; then
	record static --follow=always -- ./executes one ./five
	is "$status $said" \
		'5 xaudit record: 1 executed program ran untraced: five: statically linked, or for another C library' \
		'a static program is named'
	PATH=$tmp:$PATH record found -- env five
	is "$status $said" \
		'5 xaudit record: 1 executed program ran untraced: five: statically linked, or for another C library' \
		'so is one that is found in PATH'
	printf '#!%s/five\n' "$tmp" >interpreted && chmod +x interpreted
	record by-five -- ./executes one ./interpreted
	like "$status $said" '^5 .* ran untraced: interpreted: statically' 'so is a script for one'
else
	skip 'no static libc here'
	skip 'no static libc here'
	skip 'no static libc here'
fi
if [ "$(id -u)" -eq 0 ]; then
	cp /bin/true gives && chown 65534 gives && chmod u+s gives
	record rights -- ./executes one ./gives
	like "$status $said" '^0 .* ran untraced: gives: with other rights than its caller.s, where' \
		'so is one that gets other rights'
	if setpriv --no-new-privs true 2>setpriv.err; then
		record kept -- setpriv --no-new-privs ./executes one ./gives
		like "$status $said" '^0 .* ran untraced: gives: without LD_AUDIT' 'unless it may get none'
	else
		skip 'no setpriv here'
	fi
	chmod 755 .
	record effective -- ./executes effective /bin/true
	like "$status $said" '^0 .* ran untraced: true: with other rights' 'so is one of another effective user'
	record dropped --follow=always -- ./executes dropped /bin/true
	is "$status $(traced dropped)" '0 ' 'who has given up rights passes no variables on'
else
	skip 'not root'
	skip 'not root'
	skip 'not root'
	skip 'not root'
fi

# A shell's children, deep down.
record deep --follow=always -- sh -c 'env -i PATH="$PATH" sh -c "env -i PATH=\"$PATH\" true; true"'
is "$status $(traced deep | tr ' ' '\n' | grep -c true)" '0 1' 'what is executed by those is traced, too'
done_testing
