/* SPDX-License-Identifier: MIT */
/* A library with each of eight functions in a page of its own, for t/sites/wx.t. */
#define PAGE(name)                                                                                                     \
	__attribute__((aligned(4096), noinline)) int name(int n)                                                       \
	{                                                                                                              \
		__asm__ volatile("" : "+r"(n));                                                                        \
		return n + 1;                                                                                          \
	}

PAGE(page_0)
PAGE(page_1)
PAGE(page_2)
PAGE(page_3)
PAGE(page_4)
PAGE(page_5)
PAGE(page_6)
PAGE(page_7)
