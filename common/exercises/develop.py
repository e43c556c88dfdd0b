#!/usr/bin/env python3
"""For who adds an exercise: makes a new one, and says of each what is not as it should be.

    common/exercises/develop.py new STAGE NAME   a new exercise, in a stage or in a folder of your own, anywhere
    make -C STAGE exercises-check                all of STAGE, or one: EXERCISE=NAME (make at the top: all stages)

How an exercise is added, in 20 minutes:

1. new makes the folder STAGE/exercises/NAME with a small exercise that works, and its section at the end of
   exercises/README.md, and of README.zh.md if there is one. Move the sections to their place: their order is that of
   the exercises. A folder of your own gets a Makefile, so that make exercises, watch and hint work there as in a
   stage.
2. NAME.cu is the solution. The learner gets it without what is between "YOUR LINES, about 2: ..." and "END OF YOUR
   LINES"; there may be several such holes. Or it has a bug to be found: a line that is right, then " // was: " and the
   line that the learner finds. Each file that has one or the other is the solution's, and the learner's.
3. NAME_check.cu includes the solution and calls it, with several sizes and new numbers each time. wrong(where to look,
   what was expected and what was got instead) refuses it, and passed() ends the check. What the stand-in sees (bounds,
   races, leaks) needs no line. What checks share is in common/exercises: exercise.cuh, exercise.h for C, exercise.py. A
   check asks whether the kernel computes (expect_writes if each right answer writes an element once, as y *= b; y += x
   does not; else expect_kernel), with elements that 32 bits cannot count (expect_last_block), by threads that share the
   work (expect_shared), and what follows each failure (expect_each_failure). What matters comes in every run, and not
   by chance: negative numbers alone, a block without elements, NaN, a grid with fewer threads. A library that is given
   is libNAME.cu. For an exercise in C, Python or Cython, take the files of one in stage 02 or 03.
4. answers.txt has the mistakes that learners make. Each has a line "what it is -> what the refusal has to say" (a
   regular expression), or "-> passed" for an answer in another style. Below it stand lines of the solution, each after
   "- ", and what takes their place, after "+ ". Without "- " that is the first hole, or the lines with a bug. An empty
   line ends the answer.
5. The lesson's table of exercises gets a line with a link to the section, in each language.
6. make exercises-check has to have nothing to say. It asks for all of this: the unsolved files are refused, the
   solution passes, each answer passes or is refused for its cause; the sections have a goal, the names of the files,
   hints and what has been learned, and a lesson links to them; no TODO is left. SHARE=0.1: only a tenth of the
   answers, drawn.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import sys
import tempfile

import exercises

SOLUTION = """\
// Exercise NAME: TODO: what it is about, in a few words.
// Check: make exercises EXERCISE=NAME

const int THREADS = 256; // a block

// TODO: what the kernel does.
__global__ void Double(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 2: TODO: what these lines have to do.
    if (i < n)
        x[i] = 2 * x[i];
    // END OF YOUR LINES
}

void double_all(float *x, int n)
{
    Double<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, n);
}
"""
CHECK = """\
// TODO: what is tried.
#include "NAME.cu"

#include "exercise.cuh"

int main(void)
{
    for (int n : {256, 1000, 1, random_number(300, 5000)}) {
        std::vector<float> h = random_numbers<float>(n, 1, 1000), expected = h;
        for (float &element : expected)
            element *= 2;
        Array<float> x("x", h);
        auto seen = see([&] { double_all(x.data, n); });
        x.expect(expected, "TODO: where to look if an element is not written", "TODO: or is wrong");
        expect_writes(seen, n, "double_all"); // not the host, and each element once; else expect_kernel
        expect_shared(seen, 2, "double_all"); // no thread has more to do than one reading and one writing
    }
    return passed();
}
"""
ANSWERS = """\
no guard -> out of bounds
- if (i < n)

TODO: a mistake that learners make -> TODO: where to look|or is wrong
- 2 * x[i]
+ 3 * x[i]

one thread for all -> each thread has its own part
+     for (int k = 0; i == 0 && k < n; k++)
+         x[k] = 2 * x[k];

an early return -> passed
+     if (i >= n)
+         return;
+     x[i] += x[i];
"""
ENGLISH = """
## NAME: TODO: the title

**Goal:** TODO: one sentence. File: `NAME.cu`, about 2 lines.

TODO: the task

<details><summary>Hint</summary>

TODO: a question that leads on

</details>
<details><summary>Bigger hint</summary>

TODO: nearly the lines

</details>

**You have learned:** TODO: one sentence
"""
CHINESE = """
## NAME：TODO：标题

**目标：** TODO：一句话。文件：`NAME.cu`，约 2 行。

TODO：题目

<details><summary>提示</summary>

TODO：一个引导思路的问题

</details>
<details><summary>进一步提示</summary>

TODO：接近答案的提示

</details>

**你学到了：** TODO：一句话
"""


def new(stage, name):
    """The folder of a new exercise, its sections, and in a new stage a Makefile."""
    stage = pathlib.Path(stage)
    folder = stage / "exercises" / name
    if not re.fullmatch(r"[a-z]\w*", name, re.ASCII):
        sys.exit(f"{name}: a name has small letters, digits and _, as it becomes that of a program and a module")
    if folder.exists():
        sys.exit(f"{folder} is there already")
    folder.mkdir(parents=True)
    if not (stage / "Makefile").exists():
        common = os.path.relpath(exercises.COMMON, stage.resolve())
        (stage / "Makefile").write_text(f"COMMON := {common}\ninclude $(COMMON)/stage.mk\n")
    if not (folder.parent / "README.md").exists():
        (folder.parent / "README.md").write_text("# Exercises\n")
    for file, text in (f"{name}.cu", SOLUTION), (f"{name}_check.cu", CHECK), ("answers.txt", ANSWERS):
        (folder / file).write_text(text.replace("NAME", name))
    for page, text in ("README.md", ENGLISH), ("README.zh.md", CHINESE):
        if (folder.parent / page).exists():
            with open(folder.parent / page, "a", encoding="utf-8") as file:
                file.write(text.replace("NAME", name))
    print(f"{folder} and its section in the page: fill in each TODO, until this has nothing to say:")
    print(f"make -C '{stage}' exercises-check EXERCISE={name}")


# ---- The answers


BUGGY = re.compile(r"(?:.* (?://|#) was: .*\n)+")  # lines that have a bug


def answers_of(folder):
    """(what it is, what the refusal has to say or "passed", {file: text}) for each answer in answers.txt."""
    file = folder / "answers.txt"
    for block in re.split(r"\n{2,}", file.read_text(encoding="utf-8").strip()) if file.exists() else []:
        found = re.fullmatch(r"(.*) -> (.+)\n((?:[-+].*\n)+)", block + "\n")
        if not found:
            raise ValueError(f'no "what it is -> what is said", then lines with - and +:\n{block}')
        texts = {path.name: path.read_text() for path in exercises.solutions(folder)}
        for change in re.finditer(r"((?:-.*\n)*)((?:\+.*\n)*)", found[3]):
            old, new = ("\n".join(line[2:] for line in lines.splitlines()) for lines in change.groups())
            if new and not old:
                hole = next(filter(None, (exercises.HOLE.search(text) for text in texts.values())), None)
                bug = next(filter(None, (BUGGY.search(text) for text in texts.values())), None)
                old, new = hole[2] if hole else bug[0], new + "\n"
            if not any(old in text for text in texts.values()):
                raise ValueError(f"{found[1]}: the solution has no\n{old}")
            texts = {name: text.replace(old, new) for name, text in texts.items()}
        yield found[1], found[2], texts


def fault_of(what, says, said):
    """What is wrong with the check's answer, as a text; empty if it is as it should be."""
    if says == "passed":
        return said and f"{what}: it has to pass, but\n{said}"
    if not said:
        return f"{what}: it passes, but has to be refused"
    is_other = says and "does not compile" in said and "compile" not in says
    if is_other or not re.search(says, said):
        return f"{what}: the refusal does not say {says}, but\n{said}"
    same = re.search(r"expected (\S+), got \1(?!\S)", said)
    return f"{what}: the refusal says {same[0]}" if same else ""


def faults_of_answers(folder, answers):
    """Tries the solution, and these answers in a folder of their own: what an answer does not change is built once."""
    if not exercises.solutions(folder):
        return ["no file has a hole (YOUR LINES, about ...) or a bug (// was: ...)"]
    if not [path for path in exercises.sources(folder) if path.stem == f"{folder.name}_check"]:
        return [f"there is no check, {folder.name}_check.cu, .c or .py"]
    solution = [line for backend in exercises.backends() for line in exercises.attempt(folder, folder, backend)]
    found = [fault_of("the solution", "passed", "\n".join(solution))]
    with tempfile.TemporaryDirectory() as room:
        for what, says, texts in answers:
            for name, text in texts.items():
                pathlib.Path(room, name).write_text(text)
            found.append(fault_of(what, says, "\n".join(exercises.attempt(folder, pathlib.Path(room)))))
    return found


# ---- The pages


def faults_of_pages(folder):
    stage = exercises.stage_of(folder)
    for page in [folder.parent / "README.md", *folder.parent.glob("README.zh.md")]:
        text = exercises.section(folder, page)
        if not text:
            yield f"{page.name}: there is no section ## {folder.name}: ..."
            continue
        if not re.search(r"^\*\*(Goal|目标)[:：]\*\*", text, re.M):
            yield f"{page.name}: there is no goal, **Goal:** or **目标：**"
        for path in exercises.solutions(folder):
            if f"`{path.name}`" not in text:
                yield f"{page.name}: the file `{path.name}` is not named"
        if not exercises.hints_of(text):
            yield f"{page.name}: there is no hint, <details><summary>Hint</summary>"
        if not exercises.learned(text):
            yield f"{page.name}: there is no lesson, **You have learned:** or **你学到了：**"
        anchor = re.sub(r"[^\w -]", "", text.splitlines()[0].removeprefix("## ").lower()).replace(" ", "-")
        is_chinese = page.name.endswith(".zh.md")
        lessons = [path for path in stage.rglob("*.md") if path.name.endswith(".zh.md") == is_chinese]
        lessons = [path.read_text(encoding="utf-8") for path in lessons if path.parent != stage / "exercises"]
        if lessons and not any(f"exercises/{page.name}#{anchor})" in lesson for lesson in lessons):
            yield f"{page.name}: no lesson has a link to exercises/{page.name}#{anchor}"


def what_is_to_do(folder):
    """Each TODO that new has left."""
    texts = {path.name: path.read_text() for path in [*exercises.sources(folder), *folder.glob("answers.txt")]}
    texts |= {page.name: exercises.section(folder, page) for page in folder.parent.glob("README*.md")}
    for name, text in texts.items():
        yield from (f"{name}: {todo}" for todo in re.findall(r"TODO[:：].*", text))


# ---- All of it


def folders_of(stage):
    """The exercises in their order, and after them the folders that the page does not name."""
    page = stage / "exercises/README.md"
    named = [page.parent / name for name in exercises.names_in(page)]
    return named + sorted({check.parent for check in page.parent.glob("*/*_check.*")} - set(named))


def faults_of(folder):
    """(how many answers were tried, what is not as it should be)"""
    if not folder.is_dir():
        return 0, ["README.md has this section, but there is no such folder"]
    share, answers = float(os.environ.get("SHARE") or 1), []
    try:
        unsolved = {path.name: exercises.at_first(path) for path in exercises.solutions(folder)}
        answers = [("the unsolved file", "", unsolved), *answers_of(folder)]
        answers = [one for one in answers if random.random() < share]
        found = faults_of_answers(folder, answers)
    except (ValueError, re.error) as error:
        found = [f"answers.txt: {error}"]
    return len(answers), [fault for fault in [*found, *faults_of_pages(folder), *what_is_to_do(folder)] if fault]


def check(*stages):
    stages = [pathlib.Path(stage) for stage in stages]
    only = os.environ.get("EXERCISE", "")
    todo = [folder for stage in stages for folder in folders_of(stage) if only in ("", folder.name)]
    if not todo:
        sys.exit(f"no such exercise: {only}" if only else "there are no exercises here")
    faults, tries = [], 0
    for stage in stages:
        english, chinese = (exercises.names_in(stage / "exercises" / page) for page in ("README.md", "README.zh.md"))
        if english != chinese and sorted(english) == sorted(chinese):
            faults.append(f"{stage.resolve().name}: README.zh.md has another order than README.md")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, (tried, found) in zip(todo, pool.map(faults_of, todo)):
            place = f"{exercises.stage_of(folder).name}, {folder.name}"
            print(f"{'wrong' if found else 'well':7}  {place}, {tried} answers", flush=True)
            faults += [f"{place}: {fault}" for fault in found]
            tries += tried
    print("", *faults, sep="\n")
    print(f"{len(todo)} exercises, {tries} answers, {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == ["check"]:
            sys.exit(check(*sys.argv[2:]))
        sys.exit(new(*sys.argv[2:]) if sys.argv[1:2] == ["new"] and len(sys.argv) == 4 else __doc__)
    except KeyboardInterrupt:
        exercises.end_all()
