# SPDX-License-Identifier: MIT
#
# xaudit html and view.
dist_check_SCRIPTS += t/html/data.t t/html/large.t t/html/written.t
EXTRA_DIST += t/html/html.sh t/html/page.py

# The page, in a browser.
dist_check_SCRIPTS += t/html/page.t t/html/page_budget.t t/html/page_live.t
EXTRA_DIST += t/html/browser.mjs t/html/browser.sh t/html/make_page.mjs t/html/modules.sh t/html/page_blocks.mjs \
	t/html/page_budget.mjs t/html/page_hostile.mjs t/html/page_known.mjs t/html/page_library.cc \
	t/html/page_library.h t/html/page_live.mjs t/html/page_many.mjs t/html/page_program.cc t/html/page_sums.mjs

# The script looks whether there is something to do.
check_DATA += t/html/npm/installed
t/html/npm/installed: $(srcdir)/tool/html/page/package-lock.json
	@$(srcdir)/t/html/modules.sh '$(srcdir)/tool/html/page' t/html/npm '$(NPM)'
