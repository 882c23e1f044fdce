#!/usr/bin/env bash
# Make .venv ready and see to the system packages. Safe to call again; quick when nothing is missing.
#   scripts/setup.sh [EXTRA]     EXTRA: dev for what tests need
set -euo pipefail
cd "$(dirname "$0")/.."
extra=${1:-}
unset PYTHONDONTWRITEBYTECODE  # every start would compile Dagster again

say() { printf 'setup: %s\n' "$*" >&2; }

# What is missing: program, Debian packages that bring it, what cannot be done without it.
packages=()
lost=()
need() {
  local program=$1 brings=$2 without=$3 p
  for p in $program; do command -v "$p" >/dev/null 2>&1 && return 0; done
  # shellcheck disable=SC2206  # a list of words
  packages+=($brings)
  lost+=("$without")
}
need "soffice libreoffice" "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui" \
  "no DOCX, PPTX, XLSX and other office files"
need "chromium chromium-browser google-chrome" "chromium" "no HTML pages"
[ "$extra" != dev ] || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null 2>&1 \
  || { packages+=(postgresql); lost+=("no tests with PostgreSQL"); }
fc_match=$(fc-list 2>/dev/null | grep -ciE 'liberation|carlito|dejavu' || true)
[ "${fc_match:-0}" -gt 0 ] || { packages+=(fontconfig fonts-liberation fonts-dejavu-core); lost+=("office files in odd fonts"); }

python=
for p in "${PYTHON:-}" python3.12 python3.13 python3.11 python3 python3.14; do
  [ -n "$p" ] && command -v "$p" >/dev/null 2>&1 || continue
  "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { python=$p; break; }
done
if [ -z "$python" ] || { [ ! -x .venv/bin/python ] && ! "$python" -c 'import ensurepip, venv' 2>/dev/null; }; then
  packages+=(python3 python3-venv)
  lost+=("nothing at all: Python 3.11 or newer with venv is needed")
fi

if [ ${#packages[@]} -gt 0 ]; then
  sudo=
  may=no
  if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then may=yes
    elif sudo -n true 2>/dev/null; then may=yes; sudo="sudo -n"; fi
  fi
  if [ "$may" = yes ]; then
    say "installing ${packages[*]}"
    { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq \
        --no-install-recommends "${packages[@]}"; } >/dev/null 2>.setup.log \
      || { cat .setup.log >&2; say "could not install ${packages[*]}; without them: $(IFS=';'; echo "${lost[*]}")"; }
    rm -f .setup.log
    [ -n "$python" ] || python=python3
  else
    say "please install: ${packages[*]} (as root: apt-get install ${packages[*]}); without them: $(IFS=';'; echo "${lost[*]}")"
  fi
fi
[ -n "$python" ] || exit 1

stamp=.venv/.ready-${extra:-base}
if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  say "installing Python packages into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${extra:+[$extra]}"
  .venv/bin/python -m compileall -q drac_pipeline || true
  touch "$stamp"
fi
