# SPDX-License-Identifier: MIT
#
# For tests that give what xaudit export writes to tools that read it; sourced after t/lib/tap.sh. Tools of npm are
# installed once per build folder, as t/export/package-lock.json has them.
reader_folder=$top_builddir/readers

# reader_npm: installs them. Status 1, and a remark, where that is not possible. The second one: into another folder,
# from the lists in a folder. `npm ci` would refuse lists without the packages for other machines, which not every
# registry has; `npm install` keeps to the versions and sums of the lists as well.
reader_npm() {
	reader_npm_into "$reader_folder" "$top_srcdir/t/export"
}
reader_npm_into() {
	command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1 && command -v flock >/dev/null 2>&1 || {
		diag 'no npm, node and flock here'
		return 1
	}
	mkdir -p "$1" && (
		cd "$1" && flock -w 300 9 || exit 1
		cmp -s "$2/package-lock.json" installed && exit 0
		cp "$2/package.json" "$2/package-lock.json" . &&
			bounded 300 npm install --no-save --ignore-scripts --no-audit --no-fund >npm.log 2>&1 ||
			exit 1
		cp package-lock.json installed
	) 9>"$1/lock" && return 0
	diag "npm can't install what reads: $(tail -n 3 "$1/npm.log" 2>/dev/null)"
	return 1
}

# reader_speedscope: can speedscope be run here, in a browser?
reader_speedscope() {
	command -v chromium >/dev/null 2>&1 || {
		diag 'no chromium here'
		return 1
	}
	reader_npm
}

# speedscope FILE OUT: what speedscope makes of the file, as it saves it; lines on standard error say what its console
# has.
speedscope() {
	speedscope_file=$(realpath "$1")
	# Beside its modules, under a name of this test's: another one may be reading its own.
	speedscope_own=$reader_folder/speedscope.$$.mjs
	cp "$top_srcdir/t/export/speedscope.mjs" "$speedscope_own" &&
		(cd "$reader_folder" && bounded 300 node "speedscope.$$.mjs" "$speedscope_file") >"$2" \
			2>"$tmp/.speedscope"
	speedscope_status=$?
	rm -f "$speedscope_own"
	sed 's/^/# /' "$tmp/.speedscope"
	return $speedscope_status
}

# sums_of FORMAT FILE REPORT [PART]...: t/export/sums.py, which leaves nothing beside itself.
sums_of() {
	bounded 120 python3 -B "$top_srcdir/t/export/sums.py" "$@"
}
