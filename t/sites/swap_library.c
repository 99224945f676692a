/* SPDX-License-Identifier: MIT */
/* The library that the auditor of t/sites/files.t needs. */
int counted_by_auditor(void)
{
	static volatile int n;

	return ++n;
}
