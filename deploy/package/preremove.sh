#!/bin/sh
# dpkg says remove, rpm says that none is left; for an upgrade there is nothing to do.
set -e
[ "$1" = remove ] || [ "$1" = 0 ] || exit 0
[ -d /run/systemd/system ] || exit 0
systemctl disable --now c3po.service
