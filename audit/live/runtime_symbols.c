/* SPDX-License-Identifier: MIT */
#include "audit/runtime_symbols.h"
#include "audit/live/xray.h"

uint64_t runtime_symbols_handlers[4];

int32_t runtime_symbols_register(const void *start)
{
	return xray_number_at((uint64_t)(uintptr_t)start);
}

uint8_t runtime_symbols_deregister(int32_t number)
{
	return number > 0 && xray_max_id(number);
}
