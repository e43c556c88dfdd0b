"""The pages: what they show is what comes.

    pages.py run PAGE           runs the commands of a page, in its folder, and compares what they print
    pages.py look PAGE...       links, sections, quoted code, quoted messages, both languages
    pages.py rows PAGE HEAD     the tables with this head: of each row the first cell, and all cells that are `code` as
                                regular expressions, in which … is .*; with a tab between them

In a page, a block ```console holds commands, each after "$ ", and what they print on a terminal, both stdout and
stderr. A line … stands for any lines, a … within a line for anything. ```console gpu and ```console no-gpu: only where
there is one, or none; with another word, such as torch, only if MORE_KINDS has that word. A block ```sh holds commands
without their output; they have to succeed. The line of the CPU stand-in that says that it is one is not in the pages.
Blocks in C, CUDA, Cython and Python quote code: each of their lines is in a source file; ```text is no such thing, but
what it shows of our messages is in one; ```python run is run by a test of its own. Both languages of a page have the
same blocks, but in Chinese a comment in code may be Chinese, and so may a line of ```text, such as pseudo-code. Prints
what is not so; the last line counts.
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
    "make doctor": "doctor.bats",
    "make offline": "it needs the network",
    'echo "deb': "it is for another machine",
    "mkdir -p ~/my-project": "each stage's .bats, which copies it out",
    "make exercises": "exercises.bats",
    "make watch": "exercises.bats",
    "compute-sanitizer": "make sanitize, on a GPU",
}
# Pages that are for maintainers or to look something up
ENGLISH_ONLY = ("common/cpu/CONTRACT.md", "common/cpu/HOW.md", "tests/", "common/CONTRIBUTING.md",
                "04-gather/fast/WHAT_CAN_GO_WRONG.md", "04-gather/fast/bench/")  # fmt: skip
CODE = {"c", "cuda", "cython", "python"}
FENCE = re.compile(r"^```(\S*)[ ]?(.*)\n((?:(?!```).*\n)*?)```$", re.M)
CHINESE = re.compile("[\u4e00-\u9fff]")


def pattern_of_line(shown):
    """What a page shows as an expression, also of grep -E: … stands for what varies."""
    return re.escape(shown).replace("…", ".*")


def pattern_of(shown):
    """As pattern_of_line, of several lines: a line … stands for any lines."""
    lines = ["(?s:.*?)" if line == "…" else pattern_of_line(line) + "\n" for line in shown.splitlines()]
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


def rows_of(text, head):
    """The cells of each row of the tables with this head. Ends if there is none, or a line of it is no row."""
    rows, width = [], len(cells_of(head))
    for table in re.findall(rf"^{re.escape(head)}\n\|[-|]+\|\n((?:\|.*\n)*)", text, re.M):
        rows += [cells_of(line) for line in table.splitlines()]
    if not rows or any(len(row) != width for row in rows):
        sys.exit(f"{head}: no table, or a line of it has more or fewer cells")
    return rows


def cells_of(line):
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code_of(cell):
    """What stands in a cell that is `code`; else None."""
    return cell[1:-1] if re.fullmatch("`[^`]+`", cell) else None


def print_rows(page, head):
    for row in rows_of(page.read_text(), head):
        print(row[0].strip("`"), *[pattern_of_line(code) for code in map(code_of, row) if code], sep="\t")


def run(page):
    faults, count = [], 0
    device = "gpu" if os.environ["TEST_BACKEND"] == "cuda" else "no-gpu"
    for language, more, text in blocks_of(page):
        if language not in ("console", "sh") or more not in ("", device, *os.environ.get("MORE_KINDS", "").split()):
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
    """The lines of all sources; and what stands in their texts between the parts that vary."""
    kinds = (".cu", ".cuh", ".h", ".c", ".pyx", ".pxd", ".py", ".bats")
    folders = [TOP / "common", TOP / "tests", *TOP.glob("0*")]
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in kinds]
    files = [file for file in files if file.suffix != ".c" or not file.with_suffix(".pyx").exists()]  # not Cython's
    texts = {file: file.read_text(errors="replace") for file in files}
    said = {
        part for file, text in texts.items() if "tests" not in file.relative_to(TOP).parts for part in parts_of(text)
    }
    return {line.strip() for text in texts.values() for line in text.splitlines()}, sorted(said, key=len, reverse=True)


def without_comment(line):
    return re.sub(r"(^|\s+)(//|#) .*", "", line).rstrip()


def parts_of(text):
    """The words of texts in C and Python, of which at least two stand together."""
    for said in re.findall(r'"((?:[^"\\\n]|\\.)+)"', re.sub(r'"\s*"', "", text)):
        yield from (part.strip() for part in re.split(r"%[-.*0-9]*[a-z]+|\{[^}]*\}", said) if " " in part.strip())


def words_of_nobody(message, said):
    """Three words of a message or more that stand together, and in no source. (One alone may be a name, or vary.)"""
    message = re.sub(r"(block|thread) [\d,]+", "0", message)
    for part in said:
        message = message.replace(part, " 0 ")
    return re.findall(r"(?<!\S)(?:[a-z]+ ){2,}[a-z]+(?!\S)", message)


def faults_of_code(page, lines, said):
    without_comments = {without_comment(line) for line in lines}
    for language, more, text in blocks_of(page):
        if more == "run":
            continue
        if language == "text":
            for line in re.findall(r"^(?:CPU stand-in: |\S*Error\b).*", text, re.M):
                if words := words_of_nobody(line, said):
                    yield f"no source says {words[0]!r}, of: {line}"
        if language in CODE:
            for line in text.splitlines():
                code = without_comment(line.strip())
                if line.strip() not in lines | {"", "…"} and not (CHINESE.search(line) and code in without_comments):
                    yield f"no source has this line: {line}"
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


def is_same(english, chinese):
    """Whether a part of the shape is: in Chinese, a comment in code may be Chinese, and a line of ```text."""
    fence = FENCE.match(english)
    may_differ = {"text": lambda line: ""} | dict.fromkeys(CODE, without_comment)
    bare = may_differ.get(fence and fence[1], str)
    lines = zip(english.splitlines(), chinese.splitlines())  # each block ends with a line ```
    return all(a == b or CHINESE.search(b) and bare(a) == bare(b) for a, b in lines)


def targets(page):
    """The files that a page links to, the English one of two."""
    links = re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", text_of(page))
    return {link.replace(".zh.", ".") for link in links} - {page.name.replace(".zh.", ".")}


def faults_of_translation(page):
    other = page.with_suffix(".zh.md")
    if not other.exists():
        if ".zh" not in page.suffixes and not str(page.relative_to(TOP)).startswith(ENGLISH_ONLY):
            yield f"there is no {other.name}"
        return
    if alone := targets(page) ^ targets(other):
        yield f"only one of {page.name} and {other.name} links to {sorted(alone)}"
    one, two = shape(page), shape(other)
    for a, b in zip(one, two):
        if not is_same(a, b):
            yield f"in {other.name} it is\n{b}\nwhere {page.name} has\n{a}"
            return
    if len(one) != len(two):
        yield f"{page.name} has {len(one)} sections, blocks and rows, {other.name} {len(two)}"


def linked(page):
    """The files that a page links to."""
    links = re.findall(r"(?:\]\(|href=\")([^)\s#\"]+)", text_of(page))
    return {(page.parent / link).resolve() for link in links}


def look(pages):
    (lines, said), faults = sources(), []
    reached = set().union(*map(linked, pages), {TOP / "README.md"})
    for page in pages:
        of_page = [*faults_of_links(page), *faults_of_code(page, lines, said), *faults_of_translation(page)]
        of_page += [] if page in reached else ["no page links to it"]
        faults += [f"{page.relative_to(TOP)}: {fault}" for fault in of_page]
    print(*faults, f"{len(pages)} pages, {len(faults)} faults", sep="\n")


if __name__ == "__main__":
    what, *names = sys.argv[1:]
    if what == "rows":
        print_rows(pathlib.Path(names[0]), names[1])
    else:
        pages = [pathlib.Path(name).resolve() for name in names]
        run(*pages) if what == "run" else look(pages)
