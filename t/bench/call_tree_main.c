/* SPDX-License-Identifier: MIT */
/* call_tree CALLS: the program to call_tree.c. */
#include <stdlib.h>

void tree(long calls);

int main(int argc, char **argv)
{
	tree(argc > 1 ? atol(argv[1]) : 1000);
	return 0;
}
