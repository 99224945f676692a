/* SPDX-License-Identifier: MIT */
/* A library that needs the plugin of t/check/check.t. */
int plugin_call(int n);
int user_call(int n);

int user_call(int n)
{
	return plugin_call(n);
}
