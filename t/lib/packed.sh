# SPDX-License-Identifier: MIT
#
# For tests that pack traces. t/lib/tap.sh sources it at the end of a test where XAUDIT_PACKED names a file: then each
# trace that the test has left is packed, and a line about it is added to the file.

# files_of DIR: the trace's files, with size and checksum.
files_of() {
	(cd "$1" && find . -maxdepth 2 -type f \( -not -path './*/*' -o -path './p[0-9]*/*' \) \
		-exec cksum {} + | LC_ALL=C sort)
}

# shown COMMAND TRACE [FILE]: what the command of xaudit says of the trace, or of its packed FILE, without their names,
# and without what info says of room on disk, which is the file's or the folder's.
shown() {
	# A command and its options.
	# shellcheck disable=SC2086
	timeout -k 5 60 "$XAUDIT" $1 "${3-$2}" 2>&1 | sed -e "s|${3-$2}|TRACE|g" -e "s|$2|TRACE|g" \
		-e 's/^\( *Events  *[0-9]* in \).*/\1/' \
		-e 's/"\(disk_bytes\|unpacked_bytes\|bytes_per_event\)":[^,]*,//g'
}

# packed_same DIR FILE COMMAND...: packs the folder as FILE, which is new, and unpacks it. Says in a line what is not
# the same: a file, or what a command shows of the packed trace; nothing if all is.
packed_same() {
	dir=$1 file=$2
	shift 2
	out=$(timeout -k 5 60 "$XAUDIT" pack -o "$file" "$dir" 2>&1 >/dev/null) || {
		# Tests have folders that are none, and processes that run.
		case $out in *': no traced process in '* | *' is being written'*) ;; *) echo "not packed: $out" ;; esac
		return
	}
	out=$(timeout -k 5 60 "$XAUDIT" unpack -o "$file.d" "$file" 2>&1) || { echo "not unpacked: $out"; return; }
	[ "$(files_of "$dir")" = "$(files_of "$file.d")" ] || echo 'a file is another one'
	for command; do
		shown "$command" "$dir" >"$file.1"
		shown "$command" "$dir" "$file" >"$file.2"
		cmp -s "$file.1" "$file.2" && continue
		# The clock of a process that was killed in this boot is read anew each time.
		shown "$command" "$dir" >"$file.3"
		cmp -s "$file.1" "$file.3" && echo "xaudit $command shows something else: $(diff "$file.1" "$file.2" |
			sed -n '2,3p')"
	done
	rm -rf "$file.1" "$file.2" "$file.3" "$file.d"
}

# pack_all DIR FILE: does so with all traces in the folder; a line in FILE for each: "same", or what is not, and which.
pack_all() {
	find "$1" \( -name meta -o -name record \) 2>/dev/null | sed -e 's|/p[0-9][^/]*/meta$||' -e 's|/record$||' |
		LC_ALL=C sort -u | while read -r trace; do
		[ -d "$trace" ] || continue
		what=$(packed_same "$trace" "$1/.packed" dump </dev/null)
		echo "${what:-same} ($trace)"
		rm -rf "$1"/.packed*
	done >>"$2"
}
