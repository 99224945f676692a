/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/places.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define SPAN  ((uint64_t)1 << 32)
#define LARGE ((1u << 14) - 1) /* objects that have that; they begin there, and end at 2^46 */
#define SMALL ((uint64_t)1 << 26)
#define MOST  (LARGE + (1u << 20)) /* others fill the room up to 2^47 */

#define MADE_SIZE 16 /* of a function without a place */

/* What is above it in an object is for such functions. */
static uint64_t made_from(const struct places_object *object)
{
	return object->span - object->span / 16;
}

uint32_t places_object(struct places *places, const struct xaudit_read_object *object)
{
	uint32_t hash = hash_key((uintptr_t)object, 0);
	uint32_t number = HASH_FIND(i, &places->by_object, hash, places->object[i].object == object);

	if (number != HASH_NONE)
		return number;
	number = places->objects++;
	places->object = memory_grow(places->object, number, sizeof(*places->object));
	struct places_object own = { .object = object, .base = (number + 1) * SPAN, .span = SPAN };
	if (number >= LARGE) {
		own.base = (LARGE + 1) * SPAN + ((number < MOST ? number : MOST - 1) - LARGE) * SMALL;
		own.span = SMALL;
	}
	own.end = own.base;
	places->object[number] = own;
	memory_hash(&places->by_object, hash, number);
	return number;
}

static bool is_taken(const struct places *places, uint64_t address)
{
	uint32_t hash = hash_key(address, 1);

	return HASH_FIND(i, &places->by_address, hash, places->function[i].address == address) != HASH_NONE;
}

static uint64_t choose(const struct places *places, struct places_object *object, uint64_t offset)
{
	uint64_t address = object->base + offset;

	if (offset < made_from(object) && !is_taken(places, address))
		return address;
	do {
		address = object->base + made_from(object) + object->made;
		object->made += MADE_SIZE;
	} while (is_taken(places, address));
	return address;
}

const struct places_function *places_add(struct places *places, const struct xaudit_read_function *function)
{
	uint32_t number = function->number;

	if (number >= places->functions) {
		uint32_t room = number + 1 > places->functions * 2 ? number + 1 : places->functions * 2;

		places->function = memory_resize(places->function, room, sizeof(*places->function));
		memset(&places->function[places->functions], 0,
			(room - places->functions) * sizeof(*places->function));
		places->functions = room;
	}
	if (!places->function[number].function) {
		uint32_t owner = places_object(places, function->object);
		struct places_object *object = &places->object[owner];
		uint64_t address = choose(places, object, function->offset);

		places->function[number] = (struct places_function){ function, address, owner };
		memory_hash(&places->by_address, hash_key(address, 1), number);
		if (address >= object->end)
			object->end = address + MADE_SIZE;
		places->known++;
	}
	return &places->function[number];
}

static const struct places_function *sorted; /* for qsort */

static int by_address(const void *x, const void *y)
{
	uint64_t a = sorted[*(const uint32_t *)x].address, b = sorted[*(const uint32_t *)y].address;

	return a < b ? -1 : a > b;
}

const struct places_function *places_sorted(struct places *places, uint32_t number)
{
	if (!number) {
		uint32_t count = 0;

		places->order = memory_resize(places->order, places->known + 1, sizeof(*places->order));
		for (uint32_t i = 0; i < places->functions; i++)
			if (places->function[i].function)
				places->order[count++] = i;
		sorted = places->function;
		qsort(places->order, count, sizeof(*places->order), by_address);
	}
	return number < places->known ? &places->function[places->order[number]] : NULL;
}

void places_free(struct places *places)
{
	free(places->object);
	free(places->function);
	free(places->order);
	hash_free(&places->by_object);
	hash_free(&places->by_address);
	*places = (struct places){ 0 };
}
