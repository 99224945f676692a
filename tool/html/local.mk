# SPDX-License-Identifier: MIT
#
# xaudit html and view; and the page's own code.
xaudit_SOURCES += tool/html/blocks.c tool/html/blocks.h tool/html/counts.c tool/html/counts.h tool/html/draw.c \
	tool/html/draw.h tool/html/flame.c tool/html/flame.h tool/html/page_functions.c tool/html/page_functions.h \
	tool/html/head.c tool/html/head.h tool/html/html.c tool/html/html.h tool/html/lanes.c tool/html/lanes.h \
	tool/html/open.c tool/html/open.h tool/html/page_template.c tool/html/page_template.h tool/html/picks.c \
	tool/html/picks.h \
	tool/html/pyramid.c tool/html/pyramid.h tool/html/pyramid_level.c tool/html/pyramid_level.h \
	tool/html/survey.c tool/html/survey.h tool/html/text.c tool/html/text.h tool/html/tracks.c \
	tool/html/tracks.h tool/html/windows.c tool/html/windows.h
xaudit_LDADD += $(ZLIB_LIBS)

# The page is looked for beside the command, as other data are. It is in tarballs, with the licences of what is in it.
EXTRA_DIST += tool/html/build-page.sh tool/html/page tool/html/page.html
pkgdata_DATA += page.html
CLEANFILES += page.html
page.html: tool/html/page.html
	$(AM_V_GEN)cmp -s tool/html/page.html $@ || { rm -f $@ && cp tool/html/page.html $@; }

# The script looks whether there is something to do.
tool/html/page.html: always
	@$(MKDIR_P) tool/html
	@$(srcdir)/tool/html/build-page.sh $(srcdir)/tool/html tool/html/page.html '$(NPM)' '$(NODE)'

always:

.PHONY: always

dist-hook:
	rm -rf $(distdir)/tool/html/page/node_modules
	grep -q XAUDIT-DATA $(distdir)/tool/html/page.html || \
		{ echo 'there is no page for xaudit html: a tarball needs npm' >&2; exit 1; }

distclean-local:
	rm -rf tool/html/npm t/html/npm
	test '$(srcdir)' = . || rm -f tool/html/page.html
