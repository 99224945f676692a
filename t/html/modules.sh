#!/bin/sh
# SPDX-License-Identifier: MIT
#
# modules.sh SOURCE FOLDER NPM: gets into FOLDER what the tests of the page use of npm: puppeteer-core, typescript and
# what the page is built with, as SOURCE/package-lock.json has them; from npm's cache, else from the network. Where that
# can't be done, it says so: those tests are skipped then.
set -u

source=$1 folder=$2 npm=$3
cmp -s "$source/package-lock.json" "$folder/installed" && exit 0
[ -n "$npm" ] && [ -n "$(command -v chromium)" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder" && cp "$source/package.json" "$source/package-lock.json" "$folder" || exit 1
if (cd "$folder" && timeout -k 5 240 "$npm" ci --prefer-offline --no-audit --no-fund --loglevel=error \
	--fetch-retries=1 --fetch-timeout=20000) >"$folder/said" 2>&1; then
	cp "$folder/package-lock.json" "$folder/installed"
else
	echo "tests of the page of xaudit html will be skipped: npm could not get what they use; see $folder/said" >&2
fi
