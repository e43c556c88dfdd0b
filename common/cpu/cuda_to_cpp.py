"""CUDA C++ to C++, after the preprocessor and before the compiler: for nvcc, beside this file.

kernel<<<grid, block>>>(a);       (configure(..., grid, block), kernel(a));
__global__ void kernel(int a) {}  void kernel(int a) { launch([a = argument(a)] {}); }  notes it for later
__shared__ int x[9];              static __thread int x[9]; cpu_cuda_shared(&x, ...);  a core runs one block at a time
extern __shared__ int x[];        a pointer to the memory that the launch asked for
__device__ int x;                 a variable in a section that the runtime can lock

Every line keeps its number, so that messages are right.
"""

import re
import sys

NEEDS_GPU = {  # what it is: how it is called
    "groups of several blocks": r"cudaLaunchCooperativeKernel\w*",
    "textures": r"tex[123]D\w*|surf[123]D\w*|cudaTextureObject_t|cudaSurfaceObject_t",
    "tensor cores": r"nvcuda",
}
TOKEN = re.compile(
    r'(?P<skip>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\((?s:.*?)\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''  # string, character
    r"|^[ \t]*\#[^\n]*|\s+)"  # line marker, white space
    r"|[A-Za-z_]\w*|\d[\w.']*|<<[ ]?<|<<|>>[ ]?>|::|->|\.\.\.|.",
    re.M,
)
MARKER = re.compile(r'^# (\d+) "(.*)"(.*)\n', re.M)  # the preprocessor's: line, file, flags
CLOSING = {"(": ")", "[": "]", "{": "}"}
KEYWORDS = "else do return case goto throw if while for switch".split()
QUALIFIERS = "const volatile struct class typename ::".split()
TYPES = "unsigned signed long short int float double char bool".split()

# At the end of a source with device variables: they begin on a page, and only padding follows on it.
VARIABLES = """
__attribute__((section("{0}_z"), aligned(4096), used)) static char {0}_padding[4096];
__attribute__((section("{0}"), aligned(4096), used)) static char {0}_first;
extern "C" __attribute__((visibility("hidden"))) char __start_{0}[], __stop_{0}[];
[[maybe_unused]] static const bool {0}_added = (cpu_cuda_add_variables(__start_{0}, __stop_{0}, {1}), true);
"""


def stop(message, status=1):
    print(f"common/cpu/nvcc: {message}", file=sys.stderr)
    sys.exit(status)


def is_name(text):
    return re.match(r"[A-Za-z_]", text) is not None and text not in KEYWORDS


class Source:
    """A preprocessed source as tokens, and the edits that make C++ of it."""

    def __init__(self, text):
        self.text = text
        self.edits = []  # (from, to, order, new text)
        self.sections = set()  # of device variables
        self.markers = list(MARKER.finditer(text))
        own = {m[2] for m in self.markers if " 3" not in m[3]}  # all others are system headers
        ends = [m.start() for m in self.markers[1:]] + [len(text)]
        found = []
        for marker, end in zip(self.markers, ends):
            if marker[2] in own:
                found += [t for t in TOKEN.finditer(text, marker.end(), end) if t["skip"] is None]
        self.tokens = [t[0].replace("<< <", "<<<").replace(">> >", ">>>") for t in found] + [";"]
        self.starts = [t.start() for t in found] + [len(text)]
        self.ends = [t.end() for t in found] + [len(text)]

    def edit(self, start, end, new):
        self.edits.append((start, end, len(self.edits), new))

    def replace(self, first, last, new):
        self.edit(self.starts[first], self.ends[last], new)

    def before(self, i, new):
        self.edit(self.starts[i], self.starts[i], new)

    def after(self, i, new):
        self.edit(self.ends[i], self.ends[i], new)

    def specify(self, i, new):
        """In place of the word at i; alignas(...) has to stay in front."""
        self.replace(i, i, "")
        self.after(self.closing(i + 2) if self.tokens[i + 1] == "alignas" else i, new)

    def stop(self, i, message):
        marker = [m for m in self.markers if m.end() <= self.starts[i]][-1]
        line = int(marker[1]) + self.text.count("\n", marker.end(), self.starts[i])
        stop(f"{marker[2]}:{line}: {message}")

    # ---- Finding the way

    def closing(self, i):
        """The bracket that closes the one at i."""
        depth = 0
        for n in range(i, len(self.tokens)):
            depth += (self.tokens[n] in CLOSING) - (self.tokens[n] in CLOSING.values())
            if depth == 0:
                return n
        self.stop(i, "no closing bracket")

    def opening(self, i, left, right):
        """The bracket `left` that opens what the `right` at i closes."""
        depth = 0
        while i >= 0:
            text = self.tokens[i]
            if set(text) == {right}:
                depth += len(text)
            elif text == left:
                depth -= 1
                if depth == 0:
                    return i
            elif right == ">" and text == ")":
                i = self.opening(i, "(", ")")
            i -= 1
        stop(f"no '{left}' for a '{right}' in front of <<<")

    def statement(self, i):
        """Where the declaration with token i in it begins."""
        while i > 0 and self.tokens[i - 1] not in (";", "{", "}"):
            i -= 1
        return i

    def until(self, i, ends):
        """The first of some tokens from i on, outside brackets and attributes."""
        start = i
        while self.tokens[i] not in ends or self.tokens[i : i + 2] == ["[", "["]:
            if self.tokens[i] in ("__attribute__", "alignas", "decltype"):
                i = self.closing(i + 1)
            elif self.tokens[i] in CLOSING:
                i = self.closing(i)
            i += 1
            if i >= len(self.tokens):
                self.stop(start, f"a declaration or launch without {' or '.join(ends)}")
        return i

    def kernel_start(self, i):
        """Where the kernel's name that ends at i starts: k, ns::k, k<int>, (k), table[0], f()."""
        tokens = self.tokens
        while True:
            if tokens[i] == "]":
                i = self.opening(i, "[", "]") - 1
            elif tokens[i] == ")":
                i = self.opening(i, "(", ")")
                if not is_name(tokens[i - 1]) and tokens[i - 1] != ">":
                    return i
                i -= 1
            elif set(tokens[i]) == {">"}:
                i = self.opening(i, "<", ">") - 1
            elif not is_name(tokens[i]):
                self.stop(i, "no kernel name in front of <<<")
            elif tokens[i - 1] in (".", "->"):
                i -= 2
            elif tokens[i - 1] != "::":
                return i
            elif is_name(tokens[i - 2]) or tokens[i - 2] == ">":
                i -= 2
            else:
                return i - 1

    # ---- The edits

    def launch(self, i):
        """<<< at i"""
        start, end = self.kernel_start(i - 1), self.until(i + 1, (">>>",))
        if self.tokens[end + 1] != "(":
            self.stop(end, "a launch goes on after >>> with its arguments in brackets, or ()")
        kernel = self.text[self.starts[start] : self.starts[i]]
        configuration = self.text[self.ends[i] : self.starts[end]]
        name = " ".join(kernel.split()).replace("\\", "\\\\").replace('"', '\\"')
        place = f'"{name}", __builtin_FILE(), __builtin_LINE()'
        self.replace(start, end, f"(::cpu_cuda::configure({place}, {configuration}), {kernel}")
        self.after(self.closing(end + 1), ")")

    def parameters(self, start, end):
        """The names of a kernel's parameters, tokens start to end, as far as they can be told."""
        names = []
        while start < end:
            words, depth = [], 0
            while start < end and (self.tokens[start] != "," or depth):
                text = self.tokens[start]
                depth += (text in CLOSING or text == "<") - (
                    text in CLOSING.values() or text == ">"
                )
                words.append(text)
                start += 1
            start += 1
            if "..." in words:
                continue  # a pack, which C++17 cannot capture so
            words = words[: min(words.index(t) if t in words else len(words) for t in "=[")]
            has_type = any(w not in QUALIFIERS for w in words[:-1]) and words[-2] != "::"
            if has_type and is_name(words[-1]) and words[-1] not in TYPES and "(" not in words:
                names.append(words[-1])
        return names

    def kernel(self, i):
        """__global__ at i"""
        self.replace(i, i, "")
        body = self.until(i, ("{", ";"))
        if self.tokens[body] == ";":
            return
        right = max(n for n in range(i, body) if self.tokens[n] == ")")
        left = self.opening(right, "(", ")")
        for n in range(body, self.closing(body)):
            if self.tokens[n] in ("__func__", "__FUNCTION__"):
                self.replace(n, n, f'"{self.tokens[left - 1]}"')
        end, names = self.closing(body), self.parameters(left + 1, right)
        if "<<<" in self.tokens[body:end]:
            self.stop(i, "a kernel that launches a kernel needs a GPU, the CPU stand-in has none")
        captures = "".join(f", {name} = ::cpu_cuda::argument({name})" for name in names)
        self.after(body, f" ::cpu_cuda::launch([={captures}]() mutable {{ ")
        self.before(end, "}); " if end > body + 1 else "}, false); ")
        is_template = "template" in self.tokens[self.statement(i) : i]
        types = " ".join(self.tokens[left : right + 1])
        if not is_template and "=" not in types:
            name = "".join(self.tokens[self.kernel_start(left - 1) : left])
            kernel = f"static_cast<void (*){types}>(&{name})"
            added = f"static const bool cpu_cuda_kernel_{i} = ::cpu_cuda::add_kernel({kernel});"
            self.after(end, f" [[maybe_unused]] {added}")

    def device(self, i):
        """__device__, __constant__ or __managed__ at i: of a function or of a variable"""
        end = self.until(i, ("=", "[", ";", "{", "("))
        words = self.tokens[self.statement(i) : end]
        is_pointer = self.tokens[end : end + 2] == ["(", "*"]  # to a function
        is_function = (self.tokens[end] == "(" and not is_pointer) or "operator" in words
        is_constant = "const" in words and "*" not in words and not is_function
        if is_constant and (self.tokens[end] == "[" or self.tokens[i] == "__constant__"):
            is_constant = False  # it can be copied to, all the same
            n = self.statement(i) + words.index("const")
            self.replace(n, n, "")
        others = {"extern", "constexpr"}  # or the other word says it: __device__ __constant__
        if self.tokens[i] == "__device__":
            others |= {"__constant__", "__managed__"}
        if is_function or is_constant or others & set(words):
            self.replace(i, i, "")
        else:
            section = "cpu_cuda_managed" if "__managed__" in words else "cpu_cuda_device"
            static = "" if "static" in words else "static "  # each source has its own, as with nvcc
            self.specify(i, f' {static}__attribute__((section("{section}"), unused)) ')
            self.sections.add(section)

    def declared(self, begin, end):
        """The names that the declaration from begin to end declares: x and y of float x[2][3], y"""
        names, i = [], begin
        while i < end:
            i = self.until(i, (",", "[", ";"))
            names += [self.tokens[i - 1]] if is_name(self.tokens[i - 1]) else []
            i = self.until(i, (",", ";")) + 1
        return names

    def is_in_function(self, i):
        """True if what is at i is in the body of a function."""
        depth = 0
        while i > 0 and depth >= 0:
            i -= 1
            depth += (self.tokens[i] == "}") - (self.tokens[i] == "{")
        return depth < 0 and self.tokens[i - 1] in (")", "else", "do", ";", "{", "}", "const", "noexcept")

    def shared(self, i):
        """__shared__ at i"""
        begin, end = self.statement(i), self.until(i, (";",))
        words = self.tokens[begin:end]
        if self.tokens[self.until(i, ("=", ";", ","))] == "=":
            self.stop(i, "a __shared__ variable cannot be given a value where it is declared")
        left = self.until(i, ("[", ";", ","))
        name = self.tokens[left - 1]
        if "extern" not in words:
            self.specify(i, " __thread " if "static" in words else " static __thread ")
            what = f'"{name} is larger than the shared memory, 49152 bytes"'
            for name in self.declared(begin, end):
                self.after(end, f' ::cpu_cuda_shared(&{name}, sizeof {name}, "{name}");')
            gap = f"cpu_cuda_gap_{i}[64]"  # so that one step too far is not in the next variable
            self.before(begin, f"static __thread __attribute__((used)) char {gap}; ")
            if is_name(name):
                self.after(end, f" static_assert(sizeof({name}) <= 49152, {what});")
            return
        kind = " ".join(
            t for t in self.tokens[begin : left - 1] if t not in ("extern", "__shared__")
        )
        more = " ".join(self.tokens[self.closing(left) + 1 : end])  # of an array of arrays
        star, static = ("*", "") if self.is_in_function(begin) else ("*&", "static thread_local ")
        pointer = f"({star}{name}){more}" if more else f"{star}{name}"
        value = f"(decltype({name}))cpu_cuda_dynamic_shared"
        lines = "\n" * self.text.count("\n", self.starts[begin], self.starts[end])
        self.replace(
            begin, end, f"[[maybe_unused]] {static}{kind} {pointer} = {value};{lines}"
        )

    def check_name(self, i):
        if re.fullmatch(r"__shfl(_up|_down|_xor)?|__ballot|__any|__all", self.tokens[i]):
            self.stop(i, f"{self.tokens[i]}: CUDA 13 has shuffles and votes only with _sync at the end")
        for what, pattern in NEEDS_GPU.items():
            if re.fullmatch(pattern, self.tokens[i]):
                self.stop(i, f"{self.tokens[i]}: {what} need a GPU, the CPU stand-in has none")


def rewritten(text):
    """Preprocessed CUDA C++ in, C++ out."""
    source = Source(text)
    for i, token in enumerate(source.tokens):
        if token == "<<<" and source.tokens[i - 1] != "operator":
            source.launch(i)
        elif token == "__global__":
            source.kernel(i)
        elif token in ("__device__", "__constant__", "__managed__"):
            source.device(i)
        elif token == "__host__":
            source.replace(i, i, "")
        elif token == "__shared__":
            source.shared(i)
        elif token == "__noinline__" and source.tokens[i - 1] != "(":
            source.replace(i, i, "__attribute__((noinline))")
        elif token.startswith(("__", "tex", "surf", "coop", "cuda", "nvcuda")):
            source.check_name(i)
    for section in sorted(source.sections):
        is_managed = "true" if section == "cpu_cuda_managed" else "false"
        text += VARIABLES.format(section, is_managed)
    for start, end, _, new in sorted(source.edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
