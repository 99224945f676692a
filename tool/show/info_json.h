/* SPDX-License-Identifier: MIT */
/* xaudit info in JSON. */
#ifndef XAUDIT_TOOL_SHOW_INFO_JSON_H
#define XAUDIT_TOOL_SHOW_INFO_JSON_H

#include "tool/show/info.h"

/* Writes all that `xaudit info` tells as one JSON object. */
void info_json(const struct info *info);

#endif
