/* SPDX-License-Identifier: MIT */
#include "tool/check/state.h"

struct check_options check_options = { .error_status = 1 };
struct check_counts check_counts;
