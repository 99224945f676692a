# SPDX-License-Identifier: MIT
#
# Probes: where they may be, and how they get there.
xaudit_SOURCES += tool/probe/places.h tool/probe/windows.h
