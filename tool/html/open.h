/* SPDX-License-Identifier: MIT */
/*
 * Shows a file in the browser of whoever runs the command: by xdg-open, if there is a display. Its path is written to
 * standard output in any case, so that it can be opened elsewhere. One thread.
 */
#ifndef XAUDIT_TOOL_HTML_OPEN_H
#define XAUDIT_TOOL_HTML_OPEN_H

void open_page(const char *path);

#endif
