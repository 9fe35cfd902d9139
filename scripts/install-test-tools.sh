#!/bin/sh
# Installs what a few tests use when it is there and skip when it is not: a Redis server and a Chromium browser.
# Debian or Ubuntu, as root; may be run again.
set -eu

missing=
command -v redis-server >/dev/null || missing=redis-server
command -v chromium >/dev/null || missing="$missing chromium"
[ -n "$missing" ] || exit 0

[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || {
  echo "install-test-tools: not root on a machine with apt-get; without$missing the tests that use it are skipped." >&2
  exit 1
}
apt-get update >&2
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >&2
