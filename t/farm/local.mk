# SPDX-License-Identifier: MIT
#
# make farm.
EXTRA_DIST += t/farm/known.supp t/farm/programs.sh t/farm/run.sh t/farm/servers.sh
