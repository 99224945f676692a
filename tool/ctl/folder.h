/* SPDX-License-Identifier: MIT */
/*
 * The commands of `xaudit ctl` that need only the folder of a process: they read files, stop no thread, and also work
 * when the process has ended.
 *
 * pid: of the (first) process, 0 if a trace was named in its place. argv[0] is the command's own word. They return the
 * exit status: 0, 1 after saying why, 2 for wrong usage.
 */
#ifndef XAUDIT_TOOL_CTL_FOLDER_H
#define XAUDIT_TOOL_CTL_FOLDER_H

#include <stdint.h>

/* Where the trace of a process is; as show_trace_process() (tool/show/show_trace.h) takes it. */
struct ctl_trace {
	char *path;
	uint32_t place;
};

/* Their messages about options, which begin those about values. */
#define CTL_WORDING(word)                                                                                              \
	{                                                                                                              \
		.no_value = "a value is missing behind the option '%o'; `xaudit ctl PID " word                         \
			    " --help` lists what there is",                                                            \
		.unknown = "there is no option '%o'; `xaudit ctl PID " word " --help` lists what there is",            \
		.wrong = "%l can't be '%v'; it is %a",                                                                 \
	}

#endif
