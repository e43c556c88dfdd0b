#!/usr/bin/env python3
"""Fills ../offline with what the README's two commands fetch, for a room without a network: make offline calls this.

    offline/deb    an apt repository: the packages of the README's first command, and all that they need
    offline/pypi   the Python packages

For machines with the Debian or Ubuntu, the Python and the processor of this one. Needs a network, and no root.
"""

import hashlib
import pathlib
import re

import install

COMMON = pathlib.Path(__file__).resolve().parent
OFFLINE = COMMON.parent / "offline"


def run(*command):
    return install.run(command, f"{command[0]} failed")


def fetch_debs(folder):
    """As if nothing were installed here: the other machine may have nothing."""
    names = re.search(r"apt-get install -y (.*?) &&", (COMMON.parent / "README.md").read_text())[1].split()
    (folder / "partial").mkdir(parents=True, exist_ok=True)
    options = [f"Dir::Cache::archives={folder}/", "Dir::State::status=/dev/null", "Debug::NoLocking=1"]
    options += ["APT::Sandbox::User=", "APT::Install-Recommends=1"]
    run("apt-get", *(f"-o{o}" for o in options), "--download-only", "--reinstall", "-y", "-q", "install", *names)
    (folder / "partial").rmdir()
    index = ""
    for deb in sorted(folder.glob("*.deb")):
        index += run("dpkg-deb", "--field", deb).rstrip("\n")
        index += f"\nFilename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {hashlib.sha256(deb.read_bytes()).hexdigest()}\n\n"
    (folder / "Packages").write_text(index)


def fetch_wheels(folder):
    folder.mkdir(parents=True, exist_ok=True)
    makefile = (COMMON.parent / "04-gather/template/Makefile").read_text()
    tools = re.search(r"install (scikit-build-core [\w -]+)", makefile)[1].split()  # for what make new makes
    for packages in ["-r", COMMON / "requirements.txt"], ["-r", COMMON / "requirements-nvcc.txt"], tools:
        pip = [COMMON.parent / ".venv/bin/python", "-m", "pip", "download", "--disable-pip-version-check", "-q"]
        run(*pip, "--only-binary=:all:", "-d", folder, *packages)


if __name__ == "__main__":
    fetch_debs(OFFLINE / "deb")
    fetch_wheels(OFFLINE / "pypi")
    size = sum(f.stat().st_size for f in OFFLINE.rglob("*"))
    print(f"{OFFLINE}: {size / 1e6:.0f} MB. The other machine: see common/WORKSHOP.md, a room without a network")
