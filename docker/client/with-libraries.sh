#!/bin/sh
# A recipe's program with the loader and the libraries of the host that made it: whatever C library this image has, it is not
# asked.
for loader in /recipe/.zooquake/lib/ld-*; do
    exec "$loader" --library-path /recipe/.zooquake/lib "$0.bin" "$@"
done
