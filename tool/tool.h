/* SPDX-License-Identifier: MIT */
/*
 * The subcommands of xaudit. Each gets the words from its own name on (argv[0] is "record", "report", ...) and returns the
 * exit status of the command. They may be called once per process.
 */
#ifndef XAUDIT_TOOL_H
#define XAUDIT_TOOL_H

int record_main(int argc, char **argv);
int report_main(int argc, char **argv);
int replay_main(int argc, char **argv);
int dump_main(int argc, char **argv);
int info_main(int argc, char **argv);
int list_main(int argc, char **argv);

#endif
