"""Run the steps of deploy/Dockerfile in a clean Debian root, where no container engine runs.

    debootstrap --variant=minbase --include=ca-certificates bookworm ROOT MIRROR
    sudo python scripts/try_dockerfile.py ROOT [--lend /etc/pip.conf …] [--then 'drac --version']

ARG, ENV, RUN, COPY, USER and WORKDIR do in ROOT (by chroot) what they do in a build; the image that FROM
names is the root itself. `--lend` puts files and folders of this machine into the root under the same path
(settings of package registries, certificates), `--then` runs a command as the image's user at the end, with
its environment. Nothing of it is an image: it shows that the steps work on what they start from.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "PIP_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile in order, lines joined, comments out."""
    text = re.sub(r"^\s*#.*\n", "", dockerfile.read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [
        (kind.upper(), rest.strip()) for kind, _, rest in (s.strip().partition(" ") for s in lines) if kind
    ]


def main() -> None:
    """Run the steps; the first that fails ends the program with its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--lend", nargs="*", default=[])
    parser.add_argument("--then", action="append", default=[])
    given = parser.parse_args()
    for path in given.lend:
        lend(Path(path), given.root)
    own = {k: v for k, v in os.environ.items() if k.startswith(KEPT)}
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **own}
    user, folder = "root", "/"
    for kind, rest in instructions(ROOT / "deploy" / "Dockerfile"):
        if kind in ("ARG", "ENV"):
            for word in shlex.split(rest):
                name, _, value = word.partition("=")
                env[name] = re.sub(r"\$\{?(\w+)\}?", lambda m: env.get(m[1], ""), value)
        elif kind == "RUN":
            began = time.monotonic()
            print(f"RUN {rest[:100]}", flush=True)
            run(given.root, rest, env, user, folder)
            print(f"    {time.monotonic() - began:.0f} s", flush=True)
        elif kind == "COPY":
            *sources, target = rest.split()
            for source in sources:
                copy(ROOT / source, given.root / target.lstrip("/"))
        elif kind == "USER":
            user = rest
        elif kind == "WORKDIR":
            folder = rest
    for command in given.then:
        print(f"THEN {command}", flush=True)
        run(given.root, command, env, user, folder)


def run(root: Path, command: str, env: dict[str, str], user: str, folder: str) -> None:
    """Run a command in the root, in mount and process name spaces of its own."""
    inner = f"cd {shlex.quote(folder)} && exec /bin/bash -o pipefail -c {shlex.quote(command)}"
    env = {**env, "HOME": home_of(root, user)}
    script = f"""set -e
mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; mount --bind /sys {root}/sys
exec chroot --userspec={user}:{user} {root} /bin/bash -c {shlex.quote(inner)}"""
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "bash", "-c", script], env=env)
    if done.returncode:
        sys.exit(done.returncode)


def home_of(root: Path, user: str) -> str:
    """The home of a user in the root."""
    for line in (root / "etc" / "passwd").read_text().splitlines():
        name, *_, home, _shell = line.split(":")
        if name == user:
            return home
    return "/"


def copy(source: Path, target: Path) -> None:
    """COPY: a folder's content, or a file into a folder."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def lend(path: Path, root: Path) -> None:
    """Put a file or folder of this machine into the root under its path."""
    target = root / str(path.resolve()).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(path, target)
    else:
        shutil.copy(path, target)


if __name__ == "__main__":
    main()
