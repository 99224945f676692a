/* SPDX-License-Identifier: MIT */
#ifndef XAUDIT_T_API_EVENT_VALUES_PART_H
#define XAUDIT_T_API_EVENT_VALUES_PART_H

double ev_mixed(int number, unsigned long wide, const char *text, double real, float single);
long ev_many(long a, long b, long c, long d, long e, long f, long on_stack, const char *text);
int ev_fails(int with);
void ev_writes(char *out, int size);

#endif
