/* SPDX-License-Identifier: MIT */
/*
 * Demangled names of C++ in a form that people read at once: std::string for std::basic_string of char, arguments of
 * the standard library's templates left out where they are the default ones, inline namespaces (std::__cxx11) and tags
 * of the ABI left out, >> for > >. All else stays, so the name of the function is whole.
 *
 * What is left out is no guess: an argument goes only if its text, made simple itself, is that of the template's
 * default. Two functions that differ in what is left out may get the same name all the same: names.h tells them apart.
 *
 * Each byte is read once, and compared at most once for each bracket around it, of which there are at most
 * CXX_TEXT_DEPTH. Pure; memory is the caller's to free.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_SIMPLE_H
#define XAUDIT_TOOL_SHOW_TERM_SIMPLE_H

/* The simple form; NULL: it is the same, or the name's brackets can't be told. */
char *simple_name(const char *name);

#endif
