// SPDX-License-Identifier: MIT
// The library of t/export/app.cc.
#ifndef APP_H
#define APP_H

#include <xaudit.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

extern "C" {
int shop_greet(const char *name);
long shop_measure(int number, double real, unsigned char small, unsigned long large);
}

namespace shop {

typedef void function();

// Calls itself twice, `depth` levels deep.
template <typename T> struct tree {
	static int walk(int depth);
};
int walk(int depth);

int attempt(int depth); // catches what dig() throws
void dig(int depth);
void work(int number); // calls leaf() twice
int leaf(int number);
int spawn(int number);	// fork()
void child(int number); // calls leaf() seven times
void co_body(function *yield, int steps);
void co_step(function *yield); // yields twice
void resume(function *go);
void take(const void *data, size_t size, int type); // makes an event
void stay(function *wait);
void call_odd_names();

}

#endif
