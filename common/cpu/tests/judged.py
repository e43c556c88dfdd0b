"""What nvcc takes and what it refuses: ./judged.py COUNT SEED [NVCC]

Draws COUNT of the rows of judged.txt (+: taken, -: refused). The stand-in has to answer as the row says, and as NVCC,
the judge, if there is one: it also judges combinations of a caller and a callee, COUNT of them but at most 40.
Of +[nvrtc WORDS] NVRTC is the judge: of its options, and of name expressions.
"""

import ctypes
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
STAND_IN = HERE.parent / "nvcc"
SIDES = ["", "__host__", "__device__", "__host__ __device__", "constexpr", "__device__ constexpr", "static", "inline"]
CALLEES = {  # a declaration, and a call of it
    "function": ("SIDE int f(int x) { return x + 1; }", "f(p[0])"),
    "template": ("template <class T> SIDE T f(T x) { return x + 1; }", "f(p[0])"),
    "member": ("struct S { int x; SIDE int f() const { return x + 1; } };", "reinterpret_cast<S *>(p)->f()"),
    "static member": ("struct S { SIDE2 int f(int x) { return x + 1; } };", "S::f(p[0])"),
    "operator": ("struct S { int x; }; SIDE S operator+(S a, S b) { return {a.x + b.x}; }", "(S{p[0]} + S{p[1]}).x"),
    "constructor": ("struct S { int x; SIDE0 S(int a) : x(a + 1) {} };", "S(p[0]).x"),
    "conversion": ("struct S { int x; SIDE operator int() const { return x + 1; } };", "*reinterpret_cast<S *>(p)"),
    "variable": ("SIDE3 int v = 3;", "v"),
    "array": ("SIDE3 int v[2] = {1, 2};", "v[p[0]]"),
    "one of CUDA's": ("", "__popc(p[0]) + atomicAdd(p, 1)"),
}
CALLERS = {
    "kernel": "__global__ void k(int *p) { p[1] = CALL; }",
    "template kernel": "template <class T> __global__ void k(T *p) { p[1] = CALL; }\nvoid h(int *p) { k<<<1, 1>>>(p); }",
    "device": "__device__ int g(int *p) { return CALL; }",
    "host": "int g(int *p) { return CALL; }",
    "both": "__host__ __device__ int g(int *p) { return CALL; }",
    "member of both": "struct C { __host__ __device__ int g(int *p) { return CALL; } };\nint h(int *p) { return C().g(p); }",
    "lambda": "__global__ void k(int *p) { auto l = [=]() { return CALL; }; p[1] = l(); }",
}
VARIABLES = ["", "__device__", "__constant__", "__managed__", "const", "constexpr", "static const", "static __device__"]


def drawn(random_):
    """A combination."""
    side, kind, caller = random_.choice(SIDES), random_.choice(list(CALLEES)), random_.choice(list(CALLERS))
    if kind == "static member" or kind in ("member", "conversion") and side == "static":
        side = side.replace("static", "")
    declaration, call = CALLEES[kind]
    declaration = declaration.replace("SIDE0", side.replace("static", "")).replace("SIDE2", f"static {side}")
    declaration = declaration.replace("SIDE3", random_.choice(VARIABLES)).replace("SIDE", side)
    return None, [], declaration + "\n" + CALLERS[caller].replace("CALL", call)


def nvrtc_takes(nvcc, source, words):
    library = ctypes.CDLL(next(pathlib.Path(nvcc).resolve().parents[nvcc != STAND_IN].rglob("libnvrtc.so.13")))
    program, options = ctypes.c_void_p(), [word.encode() for word in words if word[0] == "-"]
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), None, 0, None, None)
    for word in words:
        word[0] == "-" or library.nvrtcAddNameExpression(program, word.encode())
    options = (ctypes.c_char_p * len(options))(*options)
    return library.nvrtcCompileProgram(program, len(options), options) == 0, ""


def takes(nvcc, source, options):
    if options[:1] == ["nvrtc"]:
        return nvrtc_takes(nvcc, source, options[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "judged.cu")
        path.write_text("#include <cstdlib>\n" + source + "\n")
        command = [nvcc, "-arch=sm_80", "--extended-lambda", *options, "-c", "-o", path.with_suffix(".o"), path]
        done = subprocess.run([sys.executable] * (nvcc == STAND_IN) + command, capture_output=True, text=True)
    return done.returncode == 0, done.stderr + done.stdout


def judge(case, nvcc):
    expected, options, source = case
    is_taken, said = takes(STAND_IN, source, options)
    answers = [expected] * (expected is not None)
    answers += [takes(nvcc, source, options)[0]] if nvcc else []
    if set(answers) <= {is_taken}:
        return True
    print(f"{source}\n    {'taken' if is_taken else 'refused'} by the stand-in, not so by nvcc: {said}")
    return False


def main():
    count, seed, nvcc = int(sys.argv[1]), int(sys.argv[2]), "".join(sys.argv[3:4])
    random_ = random.Random(seed)
    subprocess.run([sys.executable, STAND_IN, "--build-runtime"], check=True)
    rows = re.findall(r"^([+-])(?:\[(.*?)\])? (.*)", (HERE / "judged.txt").read_text(), re.M)
    rows = random_.sample(rows, min(count, len(rows)))
    cases = [(sign == "+", shlex.split(words), source.replace("\\n", "\n")) for sign, words, source in rows]
    cases += [drawn(random_) for _ in range(min(count, 40) if nvcc else 0)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        right = sum(pool.map(lambda case: judge(case, nvcc), cases))
    print(f"{right} of {len(cases)} as nvcc")
    sys.exit(right != len(cases))


main()
