"""Prints CONTRACT.md: what the stand-in has and what it refuses, from its own headers, tables and messages."""

import ast
import pathlib
import re
import runpy
import subprocess

import cuda_to_cpp

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE / "include"
HAS = runpy.run_path(str(HERE / "nvcc"))
SAID = {file: (HERE / file).read_text() for file in ("nvcc", "cuda_to_cpp.py", "sides.py", "calls.py")}
HEAD = """# What the stand-in has

The command `python3 contract.py > CONTRACT.md` in this folder writes this page, from the stand-in's own headers, tables
and messages; a test says when it is stale. What is not here does not compile. Braces are as in a shell:
`atomicAdd{,_block,_system}` are three names. What it finds in a program is in the [README](README.md).

| what | names |
|---|---|"""
ENDS = ["_rn _rz _ru _rd", "1 2 3 4", " _block _system", " f", " 2", " Async"]  # of names that are alike
OWN = re.compile(
    "(cpu|CPU|_GLIBCXX.*)_|lanes_|__(as|built).*|.*_H_*$|(lane_of|packed|number|enum|struct|union|sizeof|message)?$"
)
DECLARED = re.compile(
    r"(?:template <[^>]*> ?)*(?:(?:struct|class|enum) (\w+)(?: :.*)?$|typedef [^(]*?(\w+)$|extern.*const uint3 (.*)"
    r"|static const int (\w+)|(?!.*operator)(?:[^(]*\(\*(\w+)\)|[^(]*[ *&](\w+) ?\()|(\w+)$)"
)


def row(what, names):
    """A row of the table, in which names that are alike are one word."""
    left = list(dict.fromkeys(names))
    for ends in (one.split(" ") for one in ENDS):
        for stem in [n[: len(n) - len(ends[0])] for n in left if n.endswith(ends[0])]:
            if {stem + end for end in ends} <= {*left}:
                left[left.index(stem + ends[0])] = f"{stem}{{{','.join(ends)}}}"
                left = [n for n in left if n not in [stem + end for end in ends]]
    print(f"| {what} | {' '.join(f'`{n}`' for n in left) or 'what it includes'} |")


def names_in(header):
    """Types, functions, macros and constants of a header."""
    files = [INCLUDE / header, *INCLUDE.glob("cpu_[mw]*.h" if header == "cuda_runtime.h" else "-")]
    command = ["g++", "-E", "-dD", "-x", "c++", "-D__CUDACC__", "-I", INCLUDE, files[0]]
    parts = re.split(r'^# \d+ "(.*?)".*\n', subprocess.run(command, capture_output=True, text=True).stdout, flags=re.M)
    text = "".join(part for file, part in zip(parts[1::2], parts[2::2]) if pathlib.Path(file) in files)
    macros = re.findall(r"^#define (\w+)", text, re.M)
    text = re.sub(r"^#.*\n|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)|public:|protected:", "", text, flags=re.M)
    bodies = 1
    while bodies:  # of functions, from the innermost block on
        text, bodies = re.subn(r"(\)|const|return|else|do|[=,(])\s*{[^{}]*}", r"\1;", text)
    text = re.sub(r"namespace cpu_cuda\s*{(?:[^{}]|{(?:[^{}]|{[^{}]*})*})*}", "", text)
    found = [DECLARED.match(re.sub(r"\s+", " ", one).strip()) for one in re.split("[;{}]", text)]
    names = [name for match in filter(None, found) for name in "".join(filter(None, match.groups())).split(", ")]
    names += re.findall(r"[{,]\s*(\w+)", " ".join(re.findall(r"enum\s*\w*\s*({[^}]*})", text))) + macros
    return [n for n in names if not OWN.match(n)]


print(HEAD)
for file in sorted(f.relative_to(INCLUDE).as_posix() for f in INCLUDE.rglob("*.h") if not f.name.startswith("cpu_")):
    row(f"`{file}`", names_in(file))
row("headers as `cuda_runtime.h`", [f"{name}.h" for name in HAS["OTHER_HEADERS"]])
parse = SAID["nvcc"].split("\ndef parse")[1].split("\ndef ")[0]
known = [*HAS["WITH_VALUE"], *re.findall(r'"(--?[A-Za-z][\w-]*)"', parse), *HAS["IGNORED"], *HAS["IGNORED_WITHOUT"]]
used = {word.lstrip("-") for text in SAID.values() for word in re.findall(r'"(-{0,2}[A-Za-z][\w-]*)"', text)}
ignored = [o for o in known if o not in HAS["WITH_VALUE"] and o.lstrip("-") not in used]
row("nvcc's options", [o for o in known if o not in ignored])
row("nvcc's options that change nothing here", ignored)
row("longer names of options", [f"-{name}" for name in HAS["LONG"]])
row("NVRTC's options", HAS["OF_NVRTC"] + HAS["OF_NVRTC_ALONE"])
row("`sm_`, `compute_`, and with `--cuda-12`", [*HAS["ARCHITECTURES"].split(), *HAS["OF_CUDA_12"].split()])
for what, pattern in cuda_to_cpp.NEEDS_GPU.items():
    row(f"{what}: a GPU is needed", re.sub(r"\([^)]*\)", "…", pattern.replace(r"\w*", "*")).split("|"))
row("options: a GPU is needed", HAS["FOR_GPUS"])
row("libraries: a GPU is needed", HAS["LIBRARIES"].values())
row("CUDA 13 has dropped it", [*cuda_to_cpp.DROPPED, *cuda_to_cpp.DROPPED_MEMBERS])
calls = [node for text in SAID.values() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
texts = [a for call in calls if ast.unparse(call.func).endswith("stop") for a in call.args if hasattr(a, "values")]
texts = ["".join(getattr(part, "value", "…") if hasattr(part, "kind") else "…" for part in a.values) for a in texts]
texts += [a.value for call in calls if ast.unparse(call.func).endswith("stop") for a in call.args if hasattr(a, "kind")]
row("refused, in these words", sorted(text for text in texts if len(str(text)) > 20))
