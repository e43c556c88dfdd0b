"""CUDA C++ to C++, after the preprocessor and before the compiler: for nvcc, beside this file.

kernel<<<grid, block>>>(a);       (configure(..., grid, block), kernel(a));
__global__ void kernel(int a) {}  void kernel(int a) { launch<&kernel>("kernel", [a = argument(a)] {}); }  notes it for later
__shared__ int x[9];              static __thread int x[9]; cpu_cuda_shared(&x, ...);  a core runs one block at a time
extern __shared__ int x[];        a pointer to the memory that the launch asked for
__device__ int x;                 a variable in a section that the runtime can lock

Every line keeps its number, so that messages are right.
"""

import os
import re
import sys

from calls import BOTH, DEVICE

NEEDS_GPU = {  # what it is: how it is called
    "textures": r"tex[123]D\w*|surf[123]D\w*|texture<|cuda\w*(Texture|Surface|Array|ChannelDesc)\w*",
    "graphs": r"cudaGraph\w*|cudaStream\w*Captur\w*",
    "tensor cores": r"nvcuda",
}
OF_DRIVER = "cuCtx cuDevice cuEvent cuFunc cuLaunch cuLink cuMem cuModule cuStream".split()  # how its calls begin
# What CUDA 13 has dropped, or one before it, and what takes its place: calls, and members of structs.
CUDA_12 = "nvcc --cuda-12, or CPU_CUDA_12=1 in the environment, takes it as CUDA 12 does"
DROPPED = "Synchronize SetLimit GetLimit SetCacheConfig GetCacheConfig".split()
DROPPED = {f"cudaThread{what}": f"cudaDevice{what}" for what in DROPPED}
DROPPED.update({f"__{what}": f"__{what}_sync" for what in "shfl shfl_up shfl_down shfl_xor any all ballot".split()})
DROPPED["cudaThreadExit"] = "cudaDeviceReset"
DROPPED_MEMBERS = {
    "clockRate": "cudaDeviceGetAttribute with cudaDevAttrClockRate",
    "memoryClockRate": "cudaDeviceGetAttribute with cudaDevAttrMemoryClockRate",
    "computeMode": "cudaDeviceGetAttribute with cudaDevAttrComputeMode",
    "kernelExecTimeoutEnabled": "cudaDeviceGetAttribute with cudaDevAttrKernelExecTimeout",
    "deviceOverlap": "asyncEngineCount",
    "maxTexture1DLinear": "cudaDeviceGetTexture1DLinearMaxWidth",
    "singleToDoublePrecisionPerfRatio": "cudaDeviceGetAttribute with cudaDevAttrSingleToDoublePrecisionPerfRatio",
    "cooperativeMultiDeviceLaunch": "cooperativeLaunch",
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
EXCEPTIONS = "device code does not support exception handling"
NOT_ON_DEVICE = {"throw": EXCEPTIONS, "try": EXCEPTIONS, "thread_local": "device code has no thread_local variables"}
NOT_ON_DEVICE.update({w: f"The operator '{w}' is not allowed in device code" for w in ("dynamic_cast", "typeid")})
# functions of the stand-in's headers that are CUDA's for the device alone
OF_DEVICE = re.compile(r"\b(__(?!builtin|attribute|atomic)\w+|atomic\w+|clock64)(?=\s*\()")
# g++ knows their values when it compiles, nvcc does not
MATH = re.compile(
    r"(a?(sin|cos|tan)h?|atan2|sqrt|cbrt|exp|exp2|log|log2|log10|pow|fabs|floor|ceil|round|fmod|fmin|fmax|make_\w+)f?$"
)
NUMBERS = "threadIdx blockIdx blockDim gridDim".split()
ASSIGNMENT = re.compile(r"(=|[-+*/%&|^]=|<<=|>>=)(?!=)|\+\+|--")
TYPES = "unsigned signed long short int float double char bool".split()
NO_FUNCTION = re.compile(r"(\bif|\))\s*(\bconstexpr\s+)?$")
OF_HOST_ALONE = '__attribute__((no_sanitize("thread", "undefined"))) '

# At the end of a source with device variables: they begin on a page, and so does what follows, the host's .bss.
VARIABLES = """
__attribute__((aligned(4096), used)) static char {0}_next[4096];
__attribute__((section("{0}"), aligned(4096), used)) static char {0}_first;
"""
ADD_DEVICE = """
extern "C" __attribute__((visibility("hidden"))) char __start_cpu_cuda_device[], __stop_cpu_cuda_device[];
[[maybe_unused]] static const bool cpu_cuda_added =
    (cpu_cuda_add_variables(__start_cpu_cuda_device, __stop_cpu_cuda_device, false, false), true);
"""
# A managed one is watched by itself, on pages of its own, as host and kernels share it.
ADD_MANAGED = """ [[maybe_unused]] static const bool cpu_cuda_added_{0} =
    (cpu_cuda_add_variables(reinterpret_cast<char *>(&{1}), reinterpret_cast<char *>(&{1} + 1), true, false), true);"""

IS_INSTALLED = os.path.basename(os.path.dirname(os.path.abspath(__file__))) == "cuda_stand_in"
NAME = "cpu-nvcc" if IS_INSTALLED else "common/cpu/nvcc"


def stop(message, status=1):
    print(f"{NAME}: {message}", file=sys.stderr)
    sys.exit(status)


def is_name(text):
    return text.isidentifier() and text not in KEYWORDS


class Source:
    """A preprocessed source as tokens, and the edits that make C++ of it."""

    def __init__(self, text, o):
        self.text = text
        self.is_debugged = "-G" in o["given"]
        self.is_relaxed = "-expt-relaxed-constexpr" in o["given"]
        # nvcc makes one instruction of a product and a sum; only of kernels, as the host's stay two
        self.fma = '__attribute__((target("fma"))) ' if o["has_fma"] else ""
        self.constinit = o["constinit"]
        self.edits = []  # (from, to, order, new text)
        self.sections = set()  # of device variables
        self.managed = {}  # variables by name: with their namespace; whether it is an array
        self.outside = {}  # shared variables that are in no function: by name, the call that makes each known
        self.markers = list(MARKER.finditer(text))
        own = {m[2] for m in self.markers if " 3" not in m[3]}  # all others are system headers
        ends = [m.start() for m in self.markers[1:]] + [len(text)]
        found, foreign, device = [], [], []
        for marker, end in zip(self.markers, ends):
            if marker[2] in own:
                found += [t for t in TOKEN.finditer(text, marker.end(), end) if t["skip"] is None]
            else:
                foreign.append(text[marker.end() : end])
                device += foreign[-1:] if marker[2].startswith(o["include"] + "/cuda_runtime.h") else []
                device += foreign[-1:] if marker[2].startswith(o["include"] + "/cpu_") else []
        self.foreign = "".join(foreign)
        # then what is of the host in a function of both may be its other branch
        self.asks_for_arch = o["asks_for_arch"]
        self.of_device = set(OF_DEVICE.findall("".join(device)))  # functions of the stand-in that the host has not
        self.bodies, self.bodies_of_both = [], []  # of device code: the tokens of { and }
        self.is_cuda_12 = o["is_cuda_12"]
        self.is_of_device = "-jit-default-device" in o["given"]  # NVRTC
        self.is_jit = self.is_of_device or "-jit" in o["given"]
        self.has_lambdas = bool({"-extended-lambda", "-expt-extended-lambda"} & o["given"])
        self.cuda_names = set(re.findall(r"\bcu(?:da)?[A-Z]\w*", self.foreign))  # that the stand-in has
        self.tokens = [t[0].replace("<< <", "<<<").replace(">> >", ">>>") for t in found] + [";"]
        self.is_rdc = o["is_rdc"]
        externs = (i for i, token in enumerate(self.tokens) if token == "extern" and self.is_in_function(i))
        self.externs = {self.tokens[self.until(i, (";", "[", "{", "(", "=")) - 1] for i in externs}
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
        stop(f"{marker[2].encode('latin-1').decode(errors='replace')}:{line}: {message}")

    # ---- Finding the way

    def closing(self, i):
        """The bracket that closes the one at i."""
        open_at = []
        for n in range(i, len(self.tokens)):
            token = self.tokens[n]
            if token in CLOSING:
                open_at.append(n)
            elif token in CLOSING.values():
                if token != CLOSING[self.tokens[open_at[-1]]]:
                    break
                open_at.pop()
            if not open_at:
                return n
        self.stop(open_at[-1], "no closing bracket")

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

    def closing_angle(self, i):
        """The > that closes the < at i."""
        depth = 1
        while depth:
            i += 1
            i = self.closing(i) if self.tokens[i] in CLOSING else i
            depth += (self.tokens[i] == "<") - (self.tokens[i] == ">")
        return i

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

    def scope(self, i):
        """The { of the block, class or namespace that i is in, or None."""
        depth = 0
        while i > 0:
            i -= 1
            depth += (self.tokens[i] == "}") - (self.tokens[i] == "{")
            if depth < 0:
                return i
        return None

    def path(self, i):
        """Of what is declared at i: ::a:: in a namespace a, nothing in a function."""
        brace = self.scope(i)
        if brace is None or self.is_in_function(i):
            return "::" * (brace is None)
        word, n = self.tokens[brace - 1], brace - 2
        while self.tokens[n] == "::":  # namespace a::b
            word, n = f"{self.tokens[n - 1]}::{word}", n - 2
        return self.path(brace) + f"{word}::" * (word not in ("namespace", "extern"))

    def is_object(self, left):
        """Whether the ( at left begins what an object is made of, and not a function's parameters."""
        return bool(re.match(r"\.?\d|[~!&{+-]|(true|false|nullptr)$", self.tokens[left + 1]))

    def is_in_class(self, i):
        brace = self.scope(i)
        if brace is None or not {"struct", "class", "union"} & set(self.tokens[self.statement(brace) : brace]):
            return False
        end = self.until(self.statement(brace), ("(", "{", ":"))
        while self.tokens[end - 1] in ("public", "private", "protected"):
            end = self.until(end + 1, ("(", "{", ":"))
        return self.tokens[end] != "("

    def is_in_function(self, i):
        """True if what is at i is in the body of a function."""
        brace = self.scope(i)
        if brace is None or self.is_in_class(i):
            return False
        head = self.tokens[self.statement(brace) : brace]
        return head != ["extern"] and "namespace" not in head[:2]

    # ---- The edits

    def mark(self, side, body):
        """The { at body may begin the body of a function of this side: for calls.py"""
        is_body = self.tokens[body - 1] in (")", "const", "noexcept", "override", "final", "mutable", "&")
        if is_body or "->" in self.tokens[self.statement(body) : body]:
            used = self.outside and set(self.tokens[body : self.closing(body)])
            shared = " ".join(call for name, call in self.outside.items() if name in used) if side == DEVICE else ""
            self.after(body, f" ::cpu_cuda::in<'{side}', {body}>(); {shared}")

    def device_code(self, side, body):
        """The { at body begins device code."""
        end = self.closing(body)
        self.bodies.append((body, end))
        self.bodies_of_both += [(body, end)] if side == BOTH else []
        self.mark(side, body)
        for i in range(body, end if side == DEVICE else body):  # nvcc takes a label at the end of a block, as C++23
            if self.tokens[i : i + 2] == [":", "}"]:
                self.after(i, ";")
        is_template = any(w == "template" for w in self.tokens[self.statement(body) : body])
        if is_template or (side == BOTH and self.asks_for_arch):
            return
        for i in range(body, end):
            if self.tokens[i] == "[" and self.tokens[self.closing(i) + 1] == "(" and not is_name(self.tokens[i - 1]):
                inner = self.closing(self.closing(i) + 1) + 1  # a lambda, or an index
                self.mark(side, inner) if self.tokens[inner] == "{" else None
            if self.tokens[i] in NOT_ON_DEVICE:
                self.stop(i, NOT_ON_DEVICE[self.tokens[i]])

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

    def pieces(self, start, end):
        """Parameters, tokens start to end: the words of each, without its default."""
        pieces, depth = [[]], 0
        for text in self.tokens[start:end]:
            depth += (text in CLOSING or text == "<") - (text in CLOSING.values() or text == ">")
            if text == "," and not depth:
                pieces.append([])
            else:
                pieces[-1].append(text)
        return [words[: words.index("=")] if "=" in words else words for words in pieces]

    def parameters(self, start, end):
        """The names of a kernel's parameters, tokens start to end, as far as they can be told; the words of each."""
        names = {}
        for words in self.pieces(start, end):
            if "..." in words:
                continue  # a pack, which C++17 cannot capture so
            words = words[: words.index("[")] if "[" in words else words
            has_type = any(w not in QUALIFIERS for w in words[:-1]) and words[-2] != "::"
            if has_type and is_name(words[-1]) and words[-1] not in TYPES and "(" not in words:
                names[words[-1]] = words
        return names

    def kernel(self, i):
        """__global__ at i"""
        self.replace(i, i, "")
        body = self.until(i, ("{", ";"))
        if self.is_in_class(i) and "friend" not in self.tokens[self.statement(i) : i]:
            self.stop(i, "a __global__ function cannot be a member function")
        left = self.until(i, ("(",))
        words = {*self.tokens[self.statement(i) : left]}
        if {"__host__", "__device__"} & words:
            self.stop(i, "a __global__ function is neither __host__ nor __device__")
        if "void" not in words and {*self.tokens[i + 1 : left - 1]} <= {*TYPES}:
            self.stop(i, "a __global__ function must have a void return type")
        if self.tokens[body - 1] == "noexcept":
            self.stop(i, "a __global__ function has no exception specification")
        if self.tokens[body] == ";":
            return
        right = max(n for n in range(i, body) if self.tokens[n] == ")")
        left = self.opening(right, "(", ")")
        for n in range(body, self.closing(body)):
            if self.tokens[n] in ("__func__", "__FUNCTION__"):
                self.replace(n, n, f'"{self.tokens[left - 1]}"')
        start = self.statement(i)
        result = self.tokens[self.closing_angle(start + 1) if self.tokens[start] == "template" else start : left]
        if set(result) & set(TYPES) and "void" not in result:
            self.stop(i, "a __global__ function must have a void return type")
        end, names = self.closing(body), self.parameters(left + 1, right)
        kernel = self.address(i, left, right, names)
        captures, objects = "", ""
        for name, words in names.items():
            if "&" in words:  # a reference is to the host's own
                captures += f", &{name} = {name}"
            elif {"*", *TYPES} & set(words) or "decltype" in self.tokens[body:end]:
                captures += f", {name} = ::cpu_cuda::argument({name})"
            else:  # perhaps an object
                captures += f", cpu_cuda_{name} = ::cpu_cuda::object({name})"
                objects += f"[[maybe_unused]] auto &{name} = cpu_cuda_{name}.value(); "
        for name, is_written in self.managed_in(body).items():
            path, const = self.managed[name][0], "" if is_written else "const "
            captures += (
                f", cpu_cuda_uses_{name} = ::cpu_cuda::argument(static_cast<{const}decltype({path}) *>(&{path}))"
            )
        start = f'::cpu_cuda::launch<{kernel}>("{self.tokens[left - 1]}", [={captures}]() mutable {self.fma}-> void {{ '
        start += objects
        stop = "}); " if end > body + 1 else "}, false); "
        count = len(self.pieces(left + 1, right)) if right > left + 1 else 0
        if self.is_debugged and len(names) == count:  # gdb is to find arguments and numbers as the kernel's own
            start += f"[&]({self.text[self.ends[left] : self.starts[right]]}) {self.fma}-> void {{ ".replace("\n", " ")
            start += "".join(f"[[maybe_unused]] const auto &{name} = ::{name}; " for name in NUMBERS)
            stop = f"}}({', '.join(names)}); {stop}"
        self.after(body, " " + start)
        self.device_code(DEVICE, body)
        self.before(end, stop)

    def managed_in(self, body):
        """Managed variables that are named by a kernel, whose body is at {, or by what it calls; and whether they are written."""
        found, todo = {}, [body] if self.managed else []
        called = {
            self.tokens[self.opening(b - 1, "(", ")") - 1]: b for b, _ in self.bodies if self.tokens[b - 1] == ")"
        }
        for begin in todo:
            for i in range(begin, self.closing(begin)):
                name, n = self.tokens[i], i + 1
                todo += [called[name]] if called.get(name, begin) not in todo else []
                if name not in self.managed or self.tokens[i - 1] in (".", "->"):
                    continue
                _, is_array = self.managed[name]
                while self.tokens[n] == "." or (self.tokens[n] == "[" and is_array):
                    n = self.closing(n) + 1 if self.tokens[n] == "[" else n + 2
                before = self.tokens[i - 2]
                is_address = self.tokens[i - 1] == "&" and not (is_name(before) or before in ")]&")
                is_written = bool(ASSIGNMENT.match("".join(self.tokens[n : n + 4]))) or is_address
                is_written |= self.tokens[i - 2 : i] in (["+", "+"], ["-", "-"])
                found[name] = found.get(name, False) or is_written or (is_array and n == i + 1)
        return found

    def address(self, i, left, right, names):
        """What stands for the address of the kernel at i: of a template, that of this instance; nullptr if unsure."""
        types = ", ".join(" ".join(words) for words in self.pieces(left + 1, right))
        name = "".join(self.tokens[self.kernel_start(left - 1) : left])
        start = self.statement(i)
        if self.tokens[start : start + 2] == ["template", "<"] and not name.endswith(">"):
            arguments = self.pieces(start + 2, self.closing_angle(start + 1))
            if any(len(words) < 2 or words[-1] in TYPES or "<" in words for words in arguments):
                return "nullptr"
            # of a function, T (*name)(T, T), it stands in the middle
            named = [words[words.index("*") + 1] if words[-1] == ")" else words[-1] for words in arguments]
            name += f"<{', '.join(n + '...' * ('...' in words) for n, words in zip(named, arguments))}>"
        return "nullptr" if name in names else f"static_cast<void (*)({types})>(&{name})"

    def device(self, i):
        """__device__, __constant__ or __managed__ at i: of a function or of a variable"""
        end = self.until(i, ("=", "[", ";", "{", "("))
        words = self.tokens[self.statement(i) : end]
        if "__shared__" in words:  # __device__ __shared__ int x: the other word says it; extern, it is written anew
            return None if "extern" in words else self.replace(i, i, "")
        is_pointer = self.tokens[end : end + 2] == ["(", "*"]  # to a function
        is_function = (self.tokens[end] == "(" and not (is_pointer or self.is_object(end))) or "operator" in words
        is_lambda = self.tokens[i - 1] == "]" or self.tokens[i - 2 : i] == ["]", "__host__"]
        if is_function or is_lambda:
            body = self.until(end, ("{", ";"))
            is_both = "__host__" in (self.tokens[i - 1 : i + 2] if is_lambda else words)
            if self.tokens[body] == "{":
                self.device_code(BOTH if is_both else DEVICE, body)
            if is_lambda and self.bodies and not self.is_in_device(i):
                if not self.has_lambdas:
                    self.stop(i, "a lambda with __device__ needs the option --extended-lambda")
                start = self.opening(i - 1 if self.tokens[i - 1] == "]" else i - 2, "[", "]")
                if any(self.tokens[n] in "[," and self.tokens[n + 1] == "&" for n in range(start, i)):
                    self.stop(i, "an extended __device__ lambda cannot capture variables by reference")
                self.before(start, "::cpu_cuda::extended{")
                self.after(self.closing(body), "}")
        elif not self.is_in_class(i) or "static" in words:
            self.check_variable(i, end, words)
        others = {"extern", "constexpr"}  # or the other word says it: __device__ __constant__
        if self.tokens[i] == "__device__":
            others |= {"__constant__", "__managed__"}
        if is_pointer:
            words += self.tokens[end : self.closing(end)]
        star = len(words) - words[::-1].index("*") if "*" in words else 0
        is_constant = "const" in words[star:]
        is_number = not star and self.tokens[end] != "[" and self.tokens[i] != "__constant__"
        if is_function or others & set(words) or (is_constant and is_number):
            self.replace(i, i, "")
        elif words[0] == "template":  # cannot be put into a section: each use of it adds it to those that there are
            self.replace(i, i, "")
            name = self.tokens[end - 1]
            for n in range(end, len(self.tokens)):
                if self.tokens[n : n + 2] == [name, "<"] and self.tokens[self.statement(n)] != "template":
                    self.before(n, "::cpu_cuda::variable<")
                    self.after(self.closing_angle(n + 1), ">()")
        else:
            if is_constant:  # it can be copied to, all the same
                n = self.statement(i) + words.index("const", star)
                self.replace(n, n, "")
            section = "cpu_cuda_managed" if "__managed__" in words else "cpu_cuda_device"
            # each source has its own, as with nvcc, unless another one may ask for it
            is_asked_for = self.is_rdc or self.tokens[end - 1] in self.externs
            static = "__attribute__((weak)) " if is_asked_for else "static "
            static = "" if "static" in words or self.is_jit else static
            aligned = ", aligned(4096)" if "__managed__" in words else ""
            self.specify(i, f' {static}__attribute__((section("{section}"), used{aligned})) ')
            self.sections.add(section)
            begin, end = self.statement(i), self.until(i, (";",))
            for name, stop in self.declared(begin, end) if aligned else []:
                path = self.path(i) + name
                at = next(n for n in range(stop - 1, begin, -1) if self.tokens[n] == name)
                self.managed[name] = path, self.tokens[at + 1] == "["
                self.after(end, ADD_MANAGED.format(f"{i}_{name}", path).replace("\n", ""))

    def is_in_device(self, i):
        return any(start < i < end for start, end in self.bodies)

    def check_variable(self, i, end, words):
        """Refuses a variable of the device, __device__ or the like at i, where nvcc does."""
        what, begin = self.tokens[i], self.statement(i)
        if self.is_in_class(i):
            self.stop(i, f"{what} on a data member is not allowed")
        is_template = any(self.tokens[self.statement(b)] == "template" for b, e in self.bodies if b < i < e)
        if self.is_in_function(begin) and "extern" not in words and not is_template:
            if not self.is_in_device(i):
                self.stop(i, f"a {what} variable is not allowed inside a function of the host")
            if not {"static", "__shared__"} & set(words):
                self.stop(i, f"an automatic {what} variable is not allowed inside a function: static is missing")
        for n in range(end, self.until(end, (";",))):
            if self.tokens[n - 1] not in ("(", ".", "sizeof") and self.sides.is_address_of_host(n):
                self.sides.refuse_variable(n, self.tokens[n])
            if self.tokens[n + 1] == "(" and MATH.match(self.tokens[n]) and not self.is_own(self.tokens[n]):
                self.stop(n, f"dynamic initialization is not supported for a {what} variable")

    def declared(self, begin, end):
        """The names that are declared from begin to end, x and y of float x[2][3], y; and where each of them ends."""
        names, i = [], self.until(begin, ("<", ",", "[", ";"))
        i = self.closing_angle(i) if self.tokens[i] == "<" else begin
        while i < end:
            at = i = self.until(i, (",", "[", ";", "="))
            if self.tokens[at - 1] == ")":  # int x __attribute__((aligned(32)))
                at = self.opening(at - 1, "(", ")") - 1
            elif self.tokens[at - 1] == "}":  # int x{7}
                at = self.opening(at - 1, "{", "}")
            i = self.until(i, (",", ";"))
            names += [(self.tokens[at - 1], i)] if is_name(self.tokens[at - 1]) else []
            i += 1
        return names

    def shared(self, i):
        """__shared__ at i"""
        begin, end = self.statement(i), self.until(i, (";",))
        words = self.tokens[begin:end]
        if self.tokens[self.until(i, ("=", ";", ","))] == "=":
            self.stop(i, "a __shared__ variable cannot be given a value where it is declared")
        left = self.until(i, ("[", ";", ","))
        name = self.tokens[left - 1]
        is_both = any(self.tokens[b - 1] == ")" and b < i < e for b, e in self.bodies_of_both)
        is_local = self.is_in_function(begin)
        if is_local and (is_both or not self.is_in_device(i)):
            self.stop(i, "a __shared__ variable is not allowed inside a function of the host")
        if "extern" not in words:
            self.specify(i, (" " if "static" in words else " static ") + self.constinit + " __thread ")
            gap = f"cpu_cuda_gap_{i}"  # so that some steps too far are not in the next variable
            for one, stop in self.declared(begin, end):
                what = f'"{one} is larger than the shared memory, 49152 bytes, or has none"'
                path = self.path(i) + one
                call = f'::cpu_cuda_shared(&{path}, sizeof {path}, "{one}");'
                if is_local:
                    self.after(end, call)
                else:
                    self.outside[one] = call
                self.after(end, f" static_assert(sizeof({one}) - 1ul < 49152, {what});")
                # what has constructors needs a constant value, or g++ would put a guard beside it for the kernel to read
                self.before(stop, "{}")
                if stop < end:
                    size = f"1 + 1023 / sizeof(::std::remove_all_extents_t<decltype({one})>)"
                    self.before(stop, f", {gap}_{stop}[{size}] __attribute__((used)){{}}")
            self.before(begin, f"static __thread __attribute__((used)) char {gap}[1024]; ")
            return
        kind = " ".join(t for t in self.tokens[begin : left - 1] if t not in ("extern", "__device__", "__shared__"))
        more = " ".join(self.tokens[self.closing(left) + 1 : end])  # of an array of arrays
        pointer = f"(*{name}){more}" if more else f"*{name}"
        static = "" if is_local else "extern __thread "  # another name for the pointer itself
        value = ' __asm__("cpu_cuda_dynamic_shared") __attribute__((tls_model("initial-exec")))'
        value = f" = (decltype({name}))cpu_cuda_dynamic_shared" if is_local else value
        # g++ tells if another one of this name has another type
        same = f"extern {kind} cpu_cuda_extern_{name}{self.text[self.starts[left] : self.starts[end]]}; "
        lines = "\n" * self.text.count("\n", self.starts[begin], self.starts[end])
        self.replace(begin, end, f"[[maybe_unused]] {same}[[maybe_unused]] {static}{kind} {pointer}{value};{lines}")

    def is_own(self, name):
        """Whether the program may declare something of this name."""
        for i in (i for i, text in enumerate(self.tokens[:-1]) if text == name):
            before, after = self.tokens[i - 1] if i else "", self.tokens[i + 1]
            others = ("const", "static", "extern", "namespace")
            is_type = is_name(before) and before not in others or before in ("*", "&", ">")
            if is_type or (before == "," and after in ("=", ";", "[")):
                return True
        return False

    def constant(self, i):
        """static const T x = 0; in a class template: nvcc's device code takes it for T = float, too, as if constexpr."""
        end = next(k for k in range(i, len(self.tokens)) if self.tokens[k] in ("=", ";", "(", ")", "{", "[", "*", "&"))
        if self.tokens[end] == "=" and self.is_in_class(i) and self.tokens[self.statement(self.scope(i))] == "template":
            self.replace(i, i, "constexpr")

    def check_name(self, i):
        name, is_member = self.tokens[i], self.tokens[i - 1] in (".", "->")
        new = (DROPPED_MEMBERS if is_member else DROPPED).get(name)
        if new and not self.is_own(name):
            if not self.is_cuda_12:
                self.stop(i, f"{name}: CUDA 13 has dropped it; in its place is {new} ({CUDA_12})")
        elif name not in self.cuda_names and not is_member and not self.is_own(name):
            with_bracket = name + "<" * (self.tokens[i + 1] == "<")
            for what, pattern in NEEDS_GPU.items():
                if re.match(f"({pattern})(<|$)", with_bracket):
                    self.stop(i, f"{name}: {what} need a GPU, the CPU stand-in has none")
            if re.match("cu(da)?[A-Z]|__nv_atomic_", name) and not new:
                self.stop(
                    i, f"{name} is not in the stand-in, which has a part of CUDA's names; NVIDIA's nvcc may have it"
                )


def rewritten(text, o, check):
    """Preprocessed CUDA C++ in, C++ out. o: what nvcc was told."""
    source = Source(text, o)
    o["sides"] = source.sides = check(source)
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
        elif token == "static" and source.is_jit and source.scope(i) is None:
            source.replace(i, i, "")  # it can be asked for by its name
        elif token == "static" and source.tokens[i + 1] == "const":
            source.constant(i + 1)
        elif token == "__noinline__" and source.tokens[i - 1] != "(":
            source.replace(i, i, "__attribute__((noinline))")
        elif token.startswith(("__", "tex", "surf", "cuda", "nvcuda", *OF_DRIVER)) or token in DROPPED_MEMBERS:
            source.check_name(i)
    for section in sorted(source.sections):
        text += VARIABLES.format(section) + ADD_DEVICE * (section == "cpu_cuda_device")
    for start, end, _, new in sorted(source.edits, reverse=True):
        text = text[:start] + new + text[end:]
    return re.sub("cpu_cuda_std", mark_of_std, text)


def mark_of_std(found):
    """Of std::, see include/cuda_runtime.h: no function begins behind "if constexpr" or a list of parameters."""
    end = found.start()
    return OF_HOST_ALONE * (not NO_FUNCTION.search(found.string, max(0, end - 60), end))
