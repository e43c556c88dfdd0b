"""The pages: what they show is what comes.

    pages.py run PAGE           runs the commands of a page, in its folder, and compares what they print
    pages.py look PAGE...       links, sections, quoted code, both languages

In a page, a block ```console holds commands, each after "$ ", and what they print on a terminal, both stdout and
stderr. A line … stands for any lines, a … within a line for anything. ```console gpu and ```console no-gpu: only where
there is one, or none. A block ```sh holds commands without their output; they have to succeed. The line of the CPU stand-in
that says that it is one is not in the pages. Blocks in C, CUDA, Cython and Python quote code: each of their lines is in
a source file; ```text is no such thing, and ```python run is run by a test of its own. Prints what is not so; the last
line counts.
"""

import html
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
STAND_IN = "CPU stand-in: this program runs on the CPU, not on a GPU\n"
SECONDS = 120
# Commands that do not run here, and where they do.
ELSEWHERE = {
    "sudo apt-get": ".ci/run",
    "make test": ".ci/run, with these tests in it",
    "make doctor": "common.bats",
    "make offline": "it needs the network",
    'echo "deb': "it is for another machine",
    "mkdir -p ~/my-project": "each stage's .bats, which copies it out",
    "make exercises": "exercises.bats",
    "make watch": "exercises.bats",
    "compute-sanitizer": "make sanitize, on a GPU",
}
CODE = {"c", "cuda", "cython", "python"}
FENCE = re.compile(r"^```(\S*)[ ]?(.*)\n((?:(?!```).*\n)*?)```$", re.M)


def pattern_of(shown):
    """What a page shows as an expression: a line … stands for lines, … in a line for what varies."""
    lines = ["(?s:.*?)" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.splitlines()]
    text = re.sub(
        r"(block|thread)\\ \d+,\d+,\d+", r"\1 \\d+,\\d+,\\d+", "".join(lines)
    )  # which of them is first told varies
    return re.compile(text + r"\s*")


def is_whole(command):
    """Whether the shell does not wait for more lines."""
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode == 0


def commands_of(block):
    """[command, what it prints] of a block ```console."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ ") and (not found or is_whole(found[-1][0])):
            found.append([line[2:], ""])
        elif found and not is_whole(found[-1][0]):
            found[-1][0] += "\n" + line
        else:
            found[-1][1] += line + "\n"
    return found


def on_a_terminal(command, folder):
    """What a command prints on a terminal; and its exit status."""
    printed = []
    with tempfile.TemporaryDirectory() as home:
        settings = {k: v for k, v in os.environ.items() if k not in ("LIBRARY_PATH", "PYTHONUNBUFFERED", "MAKEFLAGS")}
        settings |= {"BACKEND": os.environ["TEST_BACKEND"], "HOME": home, "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        settings["PATH"] = f"{pathlib.Path(sys.executable).parent}:{settings['PATH']}"  # as if .venv were activated
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as a shell has it: head ends who writes on
            os.execvpe("timeout", ["timeout", "--foreground", str(SECONDS), "bash", "-c", command], settings)
        while True:
            try:
                text = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                text = b""
            if not text:
                break
            printed.append(text)
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return b"".join(printed).decode(errors="replace").replace("\r\n", "\n").replace(STAND_IN, ""), status


def blocks_of(page):
    """(language, more words, text) of each block."""
    return [match.groups() for match in FENCE.finditer(page.read_text())]


def run(page):
    faults, count = [], 0
    device = "gpu" if os.environ["TEST_BACKEND"] == "cuda" else "no-gpu"
    for language, more, text in blocks_of(page):
        if language not in ("console", "sh") or more not in ("", device):
            continue
        todo = commands_of(text) if language == "console" else [[text, None]]
        for command, shown in todo:
            is_missing = command.startswith("gdb ") and not shutil.which("gdb")  # the only program that nobody needs
            if is_missing or any(command.startswith(start) for start in ELSEWHERE):
                continue
            count += 1
            printed, status = on_a_terminal(command if shown is not None else f"set -e\n{command}", page.parent)
            if shown is None and status != 0 or shown is not None and not pattern_of(shown).fullmatch(printed):
                faults.append(f"$ {command}\nprints, with exit status {status}:\n{printed}")
    print(*faults, f"{count} commands, {len(faults)} print something else", sep="\n")


# ---- Links, sections, quoted code


def text_of(page):
    return re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page.read_text())


def anchor_of(heading):
    """As GitHub makes it of a heading."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def headings_of(page):
    without_code = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
    return re.findall(r"^#+ (.*)", without_code, re.M)


def faults_of_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)|(?:src|href|srcset)=\"([^\"]+)\"", text_of(page)):
        target = "".join(target)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"no file {target}"
        elif anchor and html.unescape(anchor) not in map(anchor_of, headings_of(file)):
            yield f"no section {target}"


def sources():
    """The lines of all sources."""
    kinds = (".cu", ".cuh", ".h", ".c", ".pyx", ".pxd", ".py", ".bats")
    folders = [TOP / "common", TOP / "tests", *TOP.glob("0*")]
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in kinds]
    return {line.strip() for file in files for line in file.read_text(errors="replace").splitlines()}


def faults_of_code(page, lines):
    for language, more, text in blocks_of(page):
        if more == "run":
            continue
        if language in CODE:
            yield from (
                f"no source has this line: {x}" for x in text.splitlines() if x.strip() not in lines | {"", "…"}
            )
        elif language not in ("console", "sh", "text", "make", "diff"):
            yield f"a block of which language? ```{language}"
    if re.search(r"(?m)^(    |\t)\$ ", page.read_text()):
        yield "a command outside of ```console"


# ---- Two languages


def shape(page):
    """What both languages of a page share, in its order: levels of headings, code, tables' rows and columns."""
    text = page.read_text()
    found = [(m.start(), m[0]) for m in FENCE.finditer(text)]
    plain = re.sub(r"(?ms)^```.*?^```$", lambda m: " " * len(m[0]), text)
    found += [(m.start(), m[1]) for m in re.finditer(r"^(#+) ", plain, re.M)]
    found += [(m.start(), f"a row of {m[0].count('|') - 1} columns") for m in re.finditer(r"^\|.*\|$", plain, re.M)]
    found += [(m.start(), m[0].strip()) for m in re.finditer(r"<details>", plain)]
    return [what for _, what in sorted(found)]


def targets(page):
    """The files that a page links to, the English one of two."""
    links = re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", text_of(page))
    return {link.replace(".zh.", ".") for link in links} - {page.name.replace(".zh.", ".")}


def faults_of_translation(page):
    other = page.with_suffix(".zh.md")
    if not other.exists():
        return
    if alone := targets(page) ^ targets(other):
        yield f"only one of {page.name} and {other.name} links to {sorted(alone)}"
    one, two = shape(page), shape(other)
    for a, b in zip(one, two):
        if a != b:
            yield f"in {other.name} it is\n{b}\nwhere {page.name} has\n{a}"
            return
    if len(one) != len(two):
        yield f"{page.name} has {len(one)} sections, blocks and rows, {other.name} {len(two)}"


def look(pages):
    lines, faults = sources(), []
    for page in pages:
        for fault in [*faults_of_links(page), *faults_of_code(page, lines), *faults_of_translation(page)]:
            faults.append(f"{page.relative_to(TOP)}: {fault}")
    print(*faults, f"{len(pages)} pages, {len(faults)} faults", sep="\n")


if __name__ == "__main__":
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    run(*pages) if sys.argv[1] == "run" else look(pages)
