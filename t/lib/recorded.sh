# SPDX-License-Identifier: MIT
#
# For tests of the options of xaudit record without the real module; source it first. Changes to a new folder, $here.
# The test defines a function record ARG... that sets $end to how xaudit record ended, as in "exit 0", and $said to its
# messages.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
unset LD_AUDIT GLIBC_TUNABLES XAUDIT_CONFIG XAUDIT_RULES HOME XDG_CONFIG_HOME
cd "$tmp" || bail 'no temporary folder'
here=$(pwd -P)
cd "$here" || bail 'no temporary folder'
$CC -shared -fPIC -I"$top_srcdir" -o fake.so "$top_srcdir/t/record/record_fake.c" ||
	bail 'the fake module does not compile'
XAUDIT_MODULE=$here/fake.so
export XAUDIT_MODULE

# environment ARG...: the variables that the module finds when record runs `true` with these options.
environment() {
	rm -f environment
	FAKE_ENVIRONMENT=$here/environment FAKE_TRACE=selected record "$@" true
	environment=$(cat environment 2>/dev/null)
}
rules() {
	printf '%s\n' "$environment" | sed -n '/^XAUDIT_RULES=/,$p' | sed -n '/^\[library\|^\[program/,$p'
}

# The hint that record prints when it is used wrongly.
usage() { # EXPECTED SENTENCE ARG...
	usage_expected=$1 usage_sentence=$2
	shift 2
	record "$@"
	is "$end/$said" "exit 125/$usage_expected" "$usage_sentence"
}
