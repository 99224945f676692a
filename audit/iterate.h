/* SPDX-License-Identifier: MIT */
/* What iterate.S and unwinder.c share; unwinder.h tells why. */
#ifndef XAUDIT_ITERATE_H
#define XAUDIT_ITERATE_H

#include <link.h> /* struct dl_phdr_info */
#include <stddef.h>
#include <stdint.h>

/* dl_iterate_phdr as programs are bound to it: iterate_show_us(), then a jump to *iterate_real unless that returned non-zero. */
int iterate_with_us(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data);

int iterate_show_us(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data) __attribute__((visibility("hidden")));

extern uintptr_t iterate_real __attribute__((visibility("hidden")));

#endif
