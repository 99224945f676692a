/* SPDX-License-Identifier: MIT */
/* Functions with several names, as libc's; and one name of two functions. */

/* The best is `put`: exported, without a leading '_', the shorter one. */
__attribute__((noipa)) int __lib_put(int x)
{
	return x + 1;
}
int put(int x) __attribute__((weak, alias("__lib_put")));
int put_quickly(int x) __attribute__((weak, alias("__lib_put")));

/* The best is `verb_today`: `verb` is an old version of it. */
__attribute__((noipa)) int verb_today(int x)
{
	return x + 2;
}
int __verb_old(int x) __attribute__((alias("verb_today")));
__asm__(".symver __verb_old, verb@V1");

/* `verb`, as programs are linked with it. */
__attribute__((noipa)) int __verb_new(int x)
{
	return x + 3;
}
__asm__(".symver __verb_new, verb@@V2");

/* A mangled name is no internal one, though it is longer. */
__attribute__((noipa)) int _Z6mangleiii(int x, int y, int z)
{
	return x + y + z;
}
int __mangle(int x, int y, int z) __attribute__((alias("_Z6mangleiii")));
