// SPDX-License-Identifier: MIT
// The plugin of t/export/app.cc.
static volatile int spent;

namespace plugin {
struct filter {
	__attribute__((noipa)) int operator()(int number) const
	{
		for (int i = 0; i < 10; i++)
			spent = spent + number;
		return number + 1;
	}
};
}

extern "C" int plugin_apply(int number);
int plugin_apply(int number)
{
	plugin::filter filter;
	int result = filter(number);

	spent = spent + result;
	return result;
}
