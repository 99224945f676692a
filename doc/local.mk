# SPDX-License-Identifier: MIT
#
# Man pages go into dist_man_MANS, other documents into EXTRA_DIST.
