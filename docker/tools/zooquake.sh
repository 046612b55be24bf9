#!/bin/sh
# zooquake with the loader and the libraries that it was started with on its host: whatever C library this image
# has, it is not asked. A statically linked zooquake comes without a loader.
for loader in /zooquake/lib/ld-*; do
    [ -e "$loader" ] || break
    exec "$loader" --library-path /zooquake/lib /zooquake/bin/zooquake.bin "$@"
done
exec /zooquake/bin/zooquake.bin "$@"
