/* SPDX-License-Identifier: MIT */
#ifndef XAUDIT_TOOL_CTL_HELP_H
#define XAUDIT_TOOL_CTL_HELP_H

static const char ctl_help[] =
	"Usage: xaudit ctl [OPTION]... PID... COMMAND [ARGUMENT]...\n"
	"Looks into processes that run under libxaudit.so, and changes what is traced there.\n"
	"\n"
	"Options, before the command, in place of PID or beside:\n"
	"  --tree=PID      the process and all that descend from it\n"
	"  --name=PATTERN  processes of that name, or whose program has it\n"
	"\n"
	"Commands:\n"
	"  status                what is traced, what that costs; PID may be a trace folder, too\n"
	"  enable RULE...        switch sites on: [KIND:]FUNCTION[@LIBRARY], each a pattern\n"
	"  disable RULE...       switch sites off\n"
	"  start                 record again\n"
	"  stop                  record nothing\n"
	"  mode stream|ring|count\n"
	"                        record in another way\n"
	"  snapshot              copy the newest events to a trace folder; PID may be a folder\n"
	"  top                   functions by calls and self time, again and again; PID may be a folder\n"
	"\n"
	"Options, behind the command:\n"
	"  --format=FORMAT      of status: table (default) or json\n"
	"  -o, --output=DIR     of snapshot: the folder (default: xaudit.snapshot.PID)\n"
	"  -b, --batch          of top: screens as text, one after another\n"
	"  -n, --count=COUNT    of top: end after so many screens\n"
	"  -d, --delay=SECONDS  of top: time between screens (2)\n"
	"  --help               this text\n";

#endif
