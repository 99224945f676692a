#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export of damaged traces: each format ends with status 0, or says what the damage is; what is JSON stays JSON,
# and what nests in Chrome's format still nests.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/lib/spoiled.sh"
built spoil
need python3
cat >"$tmp/look.py" <<'END'
# look.py FORMAT FILE: is it JSON, and do the calls of each row nest, in Chrome's format?
import json, sys
form, name = sys.argv[1:]
text = open(name, encoding="utf-8").read()
if form == "ndjson":
    for line in text.splitlines():
        json.loads(line)
elif form == "speedscope":
    whole = json.loads(text)
    for profile in whole["profiles"]:
        last, stack = profile["startValue"], []
        for event in profile.get("events", []):
            assert event["at"] >= last, "time goes back"
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"], "calls don't nest"
        assert not stack, "calls stay open"
else:
    # Rows list events in the order of time; B and E nest.
    open_, last = {}, {}
    for event in json.loads(text)["traceEvents"]:
        row = event["pid"], event["tid"]
        if event["ph"] == "B":
            open_.setdefault(row, []).append(event["ts"])
        elif event["ph"] == "E":
            assert open_[row].pop() <= event["ts"], "a call ends before it begins"
    assert not any(open_.values()), "calls stay open"
END

formats=$("$XAUDIT" export --help | sed -n '/^Formats:/,$s/^  \([a-z]*\) .*/\1/p')
like "$(echo $formats)" 'chrome .*csv' 'there are formats to try'

# exported SEED [OPTION]...: $tmp/fuzz in all formats; what goes wrong is added to $tmp/bad.
exported() {
	seed=$1
	shift
	for format in $formats; do
		rm -rf "$tmp/out"
		(
			[ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ] || ulimit -v 1048576
			bounded 60 "$XAUDIT" export --format="$format" -o "$tmp/out" "$@" "$tmp/fuzz" \
				>/dev/null 2>"$tmp/err"
		)
		status=$?
		lines=$(wc -l <"$tmp/err")
		case $status,$lines in
		0,0) ;;
		1,1) found=$((found + 1)) ;;
		*) echo "$seed, $format: status $status: $(head -c 300 "$tmp/err")" >>"$tmp/bad" ;;
		esac
		case $format in
		chrome | ndjson | speedscope)
			[ ! -e "$tmp/out" ] || bounded 60 python3 "$tmp/look.py" "$format" "$tmp/out" 2>"$tmp/err" ||
				echo "$seed, $format: $(tail -n 1 "$tmp/err")" >>"$tmp/bad"
			;;
		esac
	done
}

made=0
for script in "$top_srcdir"/t/fuzz/corpus/*.trace; do
	name=$(basename "$script" .trace)
	write_trace "$name" <"$script"
	made=$((made + 1))
	rm -rf "$tmp/fuzz"
	cp -r "$tmp/$name" "$tmp/fuzz"
	exported "$name"
	exported "$name, --min" --min=50ns
done
is "$(cat "$tmp/bad")" '' "$made whole traces, with and without --min"

: "${FUZZ_ROUNDS:=$(rounds 1 40)}"
found=0 readings=0
for script in "$top_srcdir"/t/fuzz/corpus/*.trace; do
	name=$(basename "$script" .trace)
	for seed in $(seq 1 "$FUZZ_ROUNDS"); do
		rm -rf "$tmp/fuzz"
		cp -r "$tmp/$name" "$tmp/fuzz"
		for file in "$tmp"/fuzz/p*/*; do "$spoil" "$file" "$seed"; done
		exported "$name $seed"
		readings=$((readings + 1))
	done
done
is "$(cat "$tmp/bad")" '' 'no damage brings a format down'
diag "in $readings traces damage was told $found times"
ok 'much of it is noticed' test "$found" -gt "$readings"
done_testing
