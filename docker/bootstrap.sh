#!/bin/sh
# Writes the file system of a minimal Debian as a tar to stdout: the base image for where no registry can be reached.
#
#   docker/bootstrap.sh bookworm | docker import - zooquake-base:bookworm
#
# Wants mmdebstrap. Where it is missing, and for root with apt alone, its packages are unpacked into a folder that goes
# with the script: nothing is installed on the host. Uses the mirror and the proxy that the host's own apt uses. With
# --until-eof it also stops when its stdin ends, that is when its parent is gone.
set -eu
until_eof=
if [ "${1:-}" = --until-eof ]; then
    until_eof=yes
    shift
fi
suite=${1:?usage: bootstrap.sh [--until-eof] SUITE, for example bookworm}

# A proxy of apt's own configuration is not seen by mmdebstrap, which runs apt with a configuration of its own.
if command -v apt-config > /dev/null; then
    eval "$(apt-config shell apt_http Acquire::http::Proxy apt_https Acquire::https::Proxy)"
    [ "${apt_http:-DIRECT}" = DIRECT ] || export http_proxy="${http_proxy:-$apt_http}"
    [ "${apt_https:-DIRECT}" = DIRECT ] || export https_proxy="${https_proxy:-$apt_https}"
fi

work=$(mktemp -d)
clean() {
    # Never into a file system that is mounted there, and again for as long as something dying still writes.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -rf --one-file-system "$work" 2> /dev/null && return
        sleep 0.3
    done
    echo "bootstrap.sh: $work could not be removed" >&2
}
trap clean EXIT
# mmdebstrap drops its rights where it can, and then has to enter the folder.
chmod 755 "$work"
# Programs and modules are found in that folder, and what a script names by its whole path in the host's /usr below it.
tools=
if ! command -v mmdebstrap > /dev/null; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
        echo "mmdebstrap is missing, and fetching it needs root and apt" >&2
        exit 69
    fi
    tools=$work/tools
    mkdir -p "$work/debs/partial" "$tools/usr"
    apt-get update >&2
    apt-get install --download-only -y --no-install-recommends -o Dir::Cache::archives="$work/debs" \
        mmdebstrap debian-archive-keyring >&2
    for folder in bin sbin lib lib64; do
        [ ! -L "/$folder" ] || { mkdir -p "$tools/usr/$folder" && ln -s "usr/$folder" "$tools/$folder"; }
    done
    for deb in "$work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$tools"
    done
    rm -r "$work/debs"
    export PATH="$tools/usr/bin:$tools/usr/sbin:$PATH"
    export PERL5LIB="$tools/usr/share/perl5"
fi

# Sources of the host, for the suite wanted: its mirror may be the only one that can be reached. Third parties that name
# their release like Debian's are told apart by origin or, before the first `apt-get update`, by the end of the address.
. /etc/os-release
sources=
if command -v apt-get > /dev/null && [ -n "${VERSION_CODENAME:-}" ]; then
    sources=$(apt-get indextargets --format '$(IDENTIFIER)|$(COMPONENT)|$(RELEASE)|$(REPO_URI)|$(ORIGIN)' 2> /dev/null \
        | awk -F'|' -v code="$VERSION_CODENAME" -v suite="$suite" '
            $1 == "Packages" && $2 == "main" && index($3, code) == 1 && $4 ~ /^https?:/ &&
            ($5 == "Debian" || ($5 !~ /^[A-Za-z]/ && $4 ~ /\/debian(-security)?\/?$/)) {
                print "deb " $4 " " suite substr($3, length(code) + 1) " main"
            }' | sort -u)
    # Without the suite itself (only its updates, say) the list is of no use.
    echo "$sources" | grep -q " $suite main\$" || sources=
fi

set -- --variant=minbase --aptopt='Acquire::Languages "none"'
for option in Check-Valid-Until Check-Date; do
    value=
    command -v apt-config > /dev/null && eval "$(apt-config shell value Acquire::$option)"
    [ "$value" != false ] || set -- "$@" --aptopt="Acquire::$option \"false\""
done
# Manuals and translations are two fifths of the size. Copyright notices stay.
set -- "$@" --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/info/*'
# With /usr merged from the start a package that would merge it, and all of Perl with it, stays away.
hooks=$tools/usr/share/mmdebstrap/hooks/maybe-merged-usr
[ ! -d "$hooks" ] || set -- "$@" --hook-dir="$hooks"
# That of the host is found by mmdebstrap itself.
keyring=$tools/usr/share/keyrings/debian-archive-keyring.gpg
[ -z "$tools" ] || [ ! -e "$keyring" ] || set -- "$@" --keyring="$keyring"
case "$sources" in
    *https:*)
        # The image must be able to read its mirror too, with the certificates that the host trusts.
        set -- "$@" --include=ca-certificates \
            --customize-hook='copy-in /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs'
        ;;
esac

# mmdebstrap as root mounts /proc, /sys and /dev below its folder, and stops only after the step that it is in. In
# namespaces of its own its mounts are out of everybody's way, and all of it dies with the process that we know.
box=
stop=TERM
if [ "$(id -u)" = 0 ] && unshare --mount --pid --fork --kill-child true 2> /dev/null; then
    box="unshare --mount --pid --fork --kill-child --mount-proc"
    # The one signal that unshare does not ignore while it waits.
    stop=KILL
fi

exec 3<&0
if [ -n "$sources" ]; then
    echo "$sources" > "$work/sources.list"
    set -- "$@" "$suite" - "$work/sources.list"
else
    set -- "$@" "$suite" -
fi

# Where more than mmdebstrap itself was missing (Perl, Python), it is seen at its usual place, in these namespaces alone.
if [ -n "$tools" ] && [ -n "$box" ]; then
    see='mount -t overlay -o "lowerdir=$0/usr:/usr" overlay /usr 2> /dev/null || true; exec "$@"'
    set -- sh -c "$see" "$tools" mmdebstrap "$@"
else
    set -- mmdebstrap "$@"
fi

# Messages go to a file where nobody may be left to read them: writing to nobody would kill before the cleaning up.
watcher=
if [ -n "$until_eof" ]; then
    TMPDIR=$work $box "$@" < /dev/null 2> "$work/log" &
    pid=$!
    { cat <&3; kill -$stop $pid; } > /dev/null 2>&1 &
    watcher=$!
    # The shell's own word about a process that was killed would find no reader either.
    trap '' PIPE
else
    TMPDIR=$work $box "$@" < /dev/null &
    pid=$!
fi
trap 'kill -$stop $pid 2> /dev/null || true; wait $pid || true; exit 130' INT TERM HUP
code=0
wait $pid || code=$?
[ -z "$watcher" ] || kill $watcher 2> /dev/null || true
[ "$code" = 0 ] || [ -z "$until_eof" ] || tail -n 15 "$work/log" >&2
exit $code
