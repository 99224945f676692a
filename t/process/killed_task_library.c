/* SPDX-License-Identifier: MIT */
/* What killed_task.c calls. */
void victim(void), mine(void), threads(void), childs(void);

void victim(void)
{
}

void mine(void)
{
}

void threads(void)
{
}

void childs(void)
{
}
