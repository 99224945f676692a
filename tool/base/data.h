/* SPDX-License-Identifier: MIT */
/* Files that come with the command. Any thread. */
#ifndef XAUDIT_TOOL_BASE_DATA_H
#define XAUDIT_TOOL_BASE_DATA_H

/* Where the file of that name is: in a build folder beside the command, else where it was installed. To be freed. */
char *data_path(const char *name);

#endif
