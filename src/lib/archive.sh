#!/bin/sh
# archive.sh ARCHIVE OBJCOPY AR LIBRARY... -- COMPILER... -- COMMAND...
# Makes a static library of others, in which only the names that the command prints are seen from outside.
set -eu
archive=$1 objcopy=$2 ar=$3
shift 3
libraries=
while [ "$1" != -- ]; do libraries="$libraries $1"; shift; done
shift
compiler=
while [ "$1" != -- ]; do compiler="$compiler $1"; shift; done
shift
"$@" >"$archive.names"
# shellcheck disable=SC2086  # lists of words without spaces
$compiler -nostdlib -r -o "$archive.o" -Wl,--whole-archive $libraries
"$objcopy" --keep-global-symbols="$archive.names" "$archive.o"
rm -f "$archive"
"$ar" rcs "$archive" "$archive.o"
rm -f "$archive.o" "$archive.names"
