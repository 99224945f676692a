/* SPDX-License-Identifier: MIT */
/* A library that t/loader/loader.t's program needs from the start; what it calls comes by dlopen(RTLD_GLOBAL). */
int glob_work(int n);

int start_glob(int n)
{
	return glob_work(n) + 1;
}
