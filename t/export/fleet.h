/* SPDX-License-Identifier: MIT */
/* What the hosts of t/export/fleet.t run: handle() calls parse() three times and query() once. */
#ifndef FLEET_H
#define FLEET_H

extern const int fleet_release;

void parse(unsigned n);
void query(unsigned n, int slow);
void handle(unsigned n, const char *secret, int slow);

#endif
