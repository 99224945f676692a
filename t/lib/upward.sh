# SPDX-License-Identifier: MIT
#
# upward LAYERS FILE...: symbols that an object file among them, or a member of an archive, needs of one that comes
# later in LAYERS, a list of names without .o, folder, and libtool's and automake's prefix. For tests; needs nm.
upward() {
	order=$1
	shift
	nm -A "$@" 2>/dev/null | awk -v order="$order" '
	BEGIN {
		for (n = split(order, name); n; n--)
			rank[name[n]] = n
	}
	NF > 1 {
		member = $1
		sub(/\.o:.*/, "", member)
		sub(/.*[:\/-]/, "", member)
		if (!(member in rank)) {
			print member " is in no layer"
			rank[member] = 999
		}
		if ($(NF - 1) ~ /^[A-TV-Z]$/)
			defines[$NF] = member
		else if ($(NF - 1) == "U")
			needs[++count] = member " " $NF
	}
	END {
		for (i = 1; i <= count; i++) {
			split(needs[i], of)
			if (of[2] in defines && rank[defines[of[2]]] > rank[of[1]])
				print of[1] " needs " of[2] " of " defines[of[2]]
		}
	}'
}
