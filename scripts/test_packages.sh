#!/usr/bin/env bash
# Installs, upgrades, removes and purges the packages of make kit-packages below a
# directory of its own, with dpkg, in a chroot of Debian, and with rpm. What Muster kept and
# what an operator wrote has to stay.
#
#   NFPM=… scripts/test_packages.sh
set -euo pipefail
cd "$(dirname "$0")/.."

export SOURCE_DATE_EPOCH=1767225600 # the same twice
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "test_packages: $*" >&2; exit 1; }

for version in 1.0.0 1.1.0; do
  for format in deb rpm; do
    VERSION=$version GOARCH=$(go env GOARCH) \
      "$NFPM" package --config kit/packages/nfpm.yaml --packager $format --target "$dir/muster-$version.$format" >"$dir/said" || fail "$(cat "$dir/said")"
  done
done
VERSION=1.0.0 GOARCH=$(go env GOARCH) \
  "$NFPM" package --config kit/packages/nfpm.yaml --packager deb --target "$dir/again.deb" >"$dir/said" || fail "$(cat "$dir/said")"
cmp "$dir/muster-1.0.0.deb" "$dir/again.deb" || fail "the same package twice is not the same"

# An empty system of dpkg's, into which it runs the scripts with DPKG_ROOT.
root=$dir/debian
mkdir -p "$root"/var/lib/dpkg/{updates,info} "$root/etc"
touch "$root/var/lib/dpkg/status"
debian() { dpkg --root="$root" --force-script-chrootless --force-not-root --log=/dev/null "$@" 2>&1; }

said=$(debian -i "$dir/muster-1.0.0.deb") || fail "$said"
[[ $said = *'systemctl enable --now muster'* ]] || fail "an installation does not say how to go on"
grep -q '^muster:' "$root/etc/passwd" || fail "there is no account"
[ "$(stat -c %a "$root/etc/muster/environment")" = 600 ] || fail "the settings can be read by others"
cmp bin/muster "$root/usr/bin/muster" || fail "another program was installed"
for unit in muster muster-agent; do
  program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$root/usr/lib/systemd/system/$unit.service")
  [ -x "$root$program" ] || fail "$unit.service starts $program, which is not there"
done
echo 'MUSTER_PUBLIC_URL=https://muster.example.org' >>"$root/etc/muster/environment"
mkdir -p "$root/var/lib/muster" && echo key >"$root/var/lib/muster/secret.key"

said=$(debian -i "$dir/muster-1.1.0.deb") || fail "$said"
[[ $said != *'enable --now'* ]] || fail "an upgrade speaks like an installation"
# shellcheck disable=SC2016 # dpkg's own variables
[ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Abbrev}${Version}' muster)" = 'ii 1.1.0' ] || fail "it was not upgraded"
grep -q '^MUSTER_PUBLIC_URL' "$root/etc/muster/environment" || fail "an upgrade overwrote the settings"

said=$(debian -r muster) || fail "$said"
[[ $said = *'/var/lib/muster is kept'* ]] || fail "removing does not say what is kept"
[ ! -e "$root/usr/bin/muster" ] || fail "the program is still there"
grep -q '^MUSTER_PUBLIC_URL' "$root/etc/muster/environment" || fail "removing took the settings"
said=$(debian -P muster) || fail "$said"
[[ $said = *'/var/lib/muster is kept'* ]] || fail "purging does not say what is kept"
[ ! -e "$root/etc/muster/environment" ] || fail "purging left the settings"
[ -e "$root/var/lib/muster/secret.key" ] || fail "purging deleted the key"
echo 'dpkg: installed, upgraded, removed, purged; data kept'

# A Debian of its own, in which dpkg runs the scripts as on a machine: with its accounts
# and its systemd, which no chroot boots.
in_a_chroot() {
  local root=$dir/chroot suite site said
  # shellcheck disable=SC1091 # the machine's
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016 # apt's own variables
  site=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" 'Created-By: Packages' | head -n 1)
  debootstrap --variant=minbase --include=systemd "$suite" "$root" "$site" >"$dir/said" 2>&1 || fail "$(tail -n 5 "$dir/said")"
  machine() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" 2>&1; }
  muster() { machine setpriv --reuid muster --regid muster --clear-groups "$@"; }
  cp "$dir"/muster-1.?.0.deb "$root/"

  said=$(machine dpkg -i muster-1.0.0.deb) || fail "$said"
  [[ $said = *'systemctl enable --now muster'* ]] || fail "an installation in a chroot does not say how to go on"
  said=$(muster muster --help) || fail "the account that was made cannot run it: $said"
  [[ $said = *serve* ]] || fail "muster --help says $said"
  if said=$(muster cat /etc/muster/environment); then fail "the account can read the settings, which systemd reads for it"; fi
  said=$(machine systemd-analyze verify muster.service muster-agent.service) || fail "$said"
  said=$(machine systemctl enable muster) || fail "$said"
  echo 'MUSTER_PUBLIC_URL=https://muster.example.org' >>"$root/etc/muster/environment"
  machine install -d -o muster -g muster -m 700 /var/lib/muster
  muster sh -c 'echo key >/var/lib/muster/secret.key'

  said=$(machine dpkg -i muster-1.1.0.deb) || fail "$said"
  # shellcheck disable=SC2016 # dpkg's own variables
  [ "$(machine dpkg-query -W -f '${db:Status-Abbrev}${Version}' muster)" = 'ii 1.1.0' ] || fail "it was not upgraded in a chroot"
  [ "$(machine systemctl is-enabled muster)" = enabled ] || fail "an upgrade switched it off"
  grep -q '^MUSTER_PUBLIC_URL' "$root/etc/muster/environment" || fail "an upgrade in a chroot overwrote the settings"
  said=$(machine dpkg --verify muster) # the settings, which were edited
  [[ $said = *' c /etc/muster/environment' && $said != *$'\n'* ]] || fail "files are not those of the package: $said"

  said=$(machine dpkg -r muster) || fail "$said"
  [ ! -e "$root/usr/bin/muster" ] || fail "the program is still there"
  said=$(machine dpkg -P muster) || fail "$said"
  [[ $said = *'/var/lib/muster is kept'* ]] || fail "purging in a chroot does not say what is kept"
  [ ! -e "$root/etc/muster" ] || fail "purging left $(ls "$root/etc/muster")"
  [ "$(machine stat -c %U /var/lib/muster/secret.key)" = muster ] || fail "the key is nobody's any more"
  said=$(machine dpkg -i muster-1.1.0.deb) || fail "$said"
  [ "$(muster cat /var/lib/muster/secret.key)" = key ] || fail "an installation after a purge cannot read what was kept"
  echo "dpkg in a chroot of Debian's $suite: installed, upgraded, removed, purged, and installed again; data kept"
}
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
  in_a_chroot
else
  echo 'debootstrap is not installed, or this is not root: nothing was installed in a chroot'
fi

if ! command -v rpm >/dev/null; then
  echo 'rpm is not installed: its package was built and not tried'
  exit 0
fi
root=$dir/rpm
mkdir -p "$root"
# Its scripts would need a shell below the root; they are the ones that dpkg ran.
redhat() { rpm --root "$root" --nodeps --noscripts "$@" >"$dir/said" 2>&1 || fail "$(cat "$dir/said")"; }
redhat -i "$dir/muster-1.0.0.rpm"
[ -x "$root/usr/bin/muster" ] || fail "rpm installed no program"
echo 'MUSTER_PUBLIC_URL=https://muster.example.org' >>"$root/etc/muster/environment"
mkdir -p "$root/var/lib/muster" && echo key >"$root/var/lib/muster/secret.key"
redhat -U "$dir/muster-1.1.0.rpm"
[ "$(rpm --root "$root" -q --qf '%{VERSION}' muster 2>"$dir/said")" = 1.1.0 ] || fail "rpm did not upgrade it"
grep -q '^MUSTER_PUBLIC_URL' "$root/etc/muster/environment" || fail "rpm overwrote the settings"
[[ $(rpm -qp --scripts "$dir/muster-1.1.0.rpm" 2>&1) = *'is kept'* ]] || fail "the rpm has no scripts"
redhat -e muster
[ ! -e "$root/usr/bin/muster" ] || fail "rpm left the program"
[ -e "$root/var/lib/muster/secret.key" ] || fail "rpm deleted the key"
echo 'rpm: installed, upgraded, removed; data kept'
