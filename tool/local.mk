# SPDX-License-Identifier: MIT
#
# xaudit, the command: each folder of tool/ adds its files to xaudit_SOURCES. It finds the module as $XAUDIT_MODULE,
# else .libs/libxaudit.so beside its own executable (a build folder), else in XAUDIT_MODULE_DIR. Linked with static
# convenience libraries only, so that libtool makes a plain executable and no wrapper script.
bin_PROGRAMS += xaudit
xaudit_SOURCES = tool/main.c
xaudit_CPPFLAGS = $(AM_CPPFLAGS) -DXAUDIT_MODULE_DIR='"$(libdir)"' -DXAUDIT_DATA_DIR='"$(pkgdatadir)"'
xaudit_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS)
xaudit_LDADD = audit/site/libsites.la audit/rules/librules.la $(ELF_LIBS)
bashcompletiondir = $(datadir)/bash-completion/completions
EXTRA_DIST += tool/xaudit.bash

# Installed as xaudit, the name that bash-completion looks for.
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) $(srcdir)/tool/xaudit.bash '$(DESTDIR)$(bashcompletiondir)/xaudit'

uninstall-local:
	rm -f '$(DESTDIR)$(bashcompletiondir)/xaudit'
