# SPDX-License-Identifier: MIT
#
# Manuals, help and completion, and what holds for the source and its tests as a whole.
dist_check_SCRIPTS += t/docs/bootstrap.t t/docs/completion.t t/docs/help-man.t t/docs/machine.t t/docs/man-examples.t \
	t/docs/man-lint.t t/docs/man-names.t t/docs/mistakes.t t/docs/source-rules.t t/docs/tool-order.t \
	t/docs/trace-format.t
EXTRA_DIST += t/docs/mistakes.txt
