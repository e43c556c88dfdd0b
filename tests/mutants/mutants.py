"""Puts the bugs of table.py in, one at a time, and looks whether the stage's tests notice: mutants.py [STAGE]...

Each is put into a copy of this repository, which has to be built, and the stage's tests run until the first that fails.
Ends with exit status 1 if a bug passes all tests, does not build or cannot be put in any more.
ONLY: an expression for the bugs that are wanted. DRAW=20: so many of them, drawn with SEED, a number.
"""

import concurrent.futures
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from table import MUTANTS

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = {"cuda_index.cu": "libcuda_index.so", "gather.cu": "libgather.so", "memory.cu": "libgather.so"}
SECONDS = 600  # then the tests hang


def run(command, folder, end=None):
    """Exit status and output of a command, which is stopped after the first line that begins with `end`."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with subprocess.Popen(command, cwd=folder, start_new_session=True, **options) as process:
        timer = threading.Timer(SECONDS, os.killpg, [process.pid, signal.SIGKILL])
        timer.start()
        output = ""
        for line in process.stdout:
            output += line
            if end and line.startswith(end):
                os.killpg(process.pid, signal.SIGKILL)
                break
        timer.cancel()
        return process.wait(), output


def copies_in(folder):
    """Two copies of the repository with what was built in it: one for bugs, and one that stays as it is."""
    copy, kept = pathlib.Path(folder, "copy"), pathlib.Path(folder, "kept")
    shutil.copytree(TOP, kept, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", ".tried", "offline"))
    for note in kept.glob("0*/**/.built-for"):  # make takes it for built in `copy`
        note.write_text(note.read_text().replace(str(TOP), str(copy)))
    shutil.copytree(kept, copy, symlinks=True)
    if (TOP / ".venv").exists():
        (copy / ".venv").symlink_to(TOP / ".venv")
    return copy, kept


def attempt(copy, stage, file, old, new):
    """(True if the tests notice, what happened)."""
    path = copy / stage / file
    text = path.read_text()
    if text.count(old) != 1:
        return False, f"stands there {text.count(old)} times, not once: {old!r}"
    path.write_text(text.replace(old, new))
    # of a library only itself: the modules that are linked with it stay what they are
    target = LIBRARY.get(file) or re.sub(r"^(lib\w+)\.cu$", r"\1.so", file)
    status, output = run(["make", "-s", "-C", stage, target if target.endswith(".so") else "build"], copy)
    if status != 0:
        return False, f"does not build:\n{output}"
    for tests in dict.fromkeys((stage.replace("/", "-"), stage.split("/")[0])):  # of a room also those of its stage
        status, output = run(["tests/run", tests], copy, end="not ok ")
        failed = re.search("^not ok [0-9]+ (.*)$", output, re.M)
        if failed:
            return True, failed[1]
        if status != 0:
            return False, f"the tests gave no result:\n{output}"
    return False, "PASSES ALL TESTS"


def main(stages):
    rows = [(stage, *row) for stage in stages or MUTANTS for row in MUTANTS[stage]]
    if not (TOP / "04-gather/many/many_c").exists():
        print("04-gather/many is not built: its bugs are left out")
        rows = [row for row in rows if row[0] != "04-gather/many"]
    rows = [row for row in rows if re.search(os.environ.get("ONLY", ""), row[4])]
    todo = [row for row in rows if len(row) == 5]
    print(f"{len(todo)} bugs, and {len(rows) - len(todo)} that make no difference", flush=True)
    if os.environ.get("DRAW"):
        seed = int(os.environ.get("SEED") or time.time())
        print(f"{os.environ['DRAW']} of them, drawn with SEED={seed}", flush=True)
        todo = random.Random(seed).sample(todo, int(os.environ["DRAW"]))
    # asked once, for all makes
    os.environ["DOCTOR"] = subprocess.check_output([os.environ.get("PYTHON") or "python3", TOP / "common/doctor.py", "make"], text=True)
    workers = os.cpu_count() if os.environ.get("BACKEND") != "cuda" else 1
    copies = queue.Queue()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers) as pool:
        os.environ["TMPDIR"] = folder  # what the stopped tests leave goes with it
        for n in range(workers):
            copies.put(copies_in(f"{folder}/{n}"))

        def work(row):
            stage, file, old, new, what = row
            (copy, kept), start = copies.get(), time.time()
            try:
                noticed, said = attempt(copy, stage, file, old, new)
            finally:
                for part in stage, "common":  # as it was, with the times
                    shutil.rmtree(copy / part)
                    shutil.copytree(kept / part, copy / part, symlinks=True)
                copies.put((copy, kept))
            word = "caught" if noticed else "NOT CAUGHT"
            print(f"{word:10} {time.time() - start:3.0f} s  {stage}/{file}: {what}\n{'':17}{said}", flush=True)
            return noticed

        noticed = list(pool.map(work, todo))
    print(f"{noticed.count(True)} of {len(todo)} bugs are caught")
    sys.exit(not todo or not all(noticed))


if __name__ == "__main__":
    main(sys.argv[1:])
