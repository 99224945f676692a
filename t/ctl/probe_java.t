#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A thousand probes set and taken away in java: see t/lib/thousand.sh.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/thousand.sh"
need java javac
java=$(readlink -f "$(command -v java)")
is_for_us "$java" || skip_all 'java is a script here'

javac -d . "$beside/probe_load.java" 2>err || bail "javac: $(cat err)"
home=$(dirname "$(dirname "$java")")
places 500 "$home/lib/server/libjvm.so"
places 100 "$home/lib/libjava.so"
places 100 "$home/lib/libzip.so"
places 200 "$(of_library "$java" libc.so)"
places 100 "$(of_library "$home/lib/libzip.so" libz)"
rules "output = $tmp/d" 'mode = stream'
begin "$java" -Xmx64m -cp . Load $threads
pids=$pid
soak java Java_java_util_zip_Deflater_deflateBytesBytes Java_java_util_zip_Inflater_inflateBytesBytes 100000
finish
is "$status $(cat err)" '0 ' 'java: it noticed nothing'
counted java
done_testing
