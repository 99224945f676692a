# SPDX-License-Identifier: MIT
#
# xaudit export, and the tools that read what it writes.
