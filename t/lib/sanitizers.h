/* SPDX-License-Identifier: MIT */
/* Is the test built with AddressSanitizer or ThreadSanitizer? gcc defines a macro, clang has a feature. */
#ifndef XAUDIT_T_LIB_SANITIZERS_H
#define XAUDIT_T_LIB_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif
#ifndef WITH_TSAN
#define WITH_TSAN 0
#endif

#endif
