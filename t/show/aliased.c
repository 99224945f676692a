/* SPDX-License-Identifier: MIT */
/* Calls the functions of aliased_library.c: put 3 times, 2 of them by another name; verb 4 times, 1 by its old name. */
int put(int x);
int put_quickly(int x);
int verb_today(int x);
int verb(int x);
int __mangle(int x, int y, int z);

int main(void)
{
	int x = put(1);

	x = put_quickly(put_quickly(x));
	x = verb(verb(verb(x)));
	x = verb_today(x);
	x = __mangle(x, 1, 1);
	return x != 17;
}
