"""Which code is of the host, and which of the device. For nvcc, beside this file.

What nvcc refuses: device code that uses what only the host has, and the other way round. It looks at tokens, not at
types: where it is not certain that nvcc refuses, it says nothing. So members of classes and bodies of templates may
do what they like. The host's loads and stores are not looked at, nor are its sums made an fma.
"""

import re

from calls import CONSTEXPR, DEVICE, HOST
from cuda_to_cpp import OF_HOST_ALONE, TYPES, is_name

OF_HOST = """abort atoi atof bsearch calloc exit fclose fflush fgetc fgets fopen fprintf fputs fread fscanf fwrite getc
getchar getenv isalpha isdigit isspace memchr memcmp memmove perror putc putchar puts qsort rand rand_r realloc scanf
snprintf sprintf srand sscanf strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtod strtof strtok strtol
strtoul system time tolower toupper usleep __errno_location""".split()
OF_STD = "cerr cout list map queue rand set shuffle sort stack string swap to_string vector".split()
OF_STD_CONSTEXPR = "clamp max min numeric_limits".split()  # with an option of nvcc's, device code may call these
CLASS = {"struct", "class", "union", "enum"}
NO_VARIABLE = {"namespace", "using", "typedef", "template", "static_assert", "friend", "operator"}
OF_DEVICE = {"__device__", "__constant__", "__managed__", "__shared__"}


class Function:
    def __init__(self, tokens, start, left, right, end):
        words = set(tokens[start:left])
        self.name, self.start, self.left, self.right, self.end = tokens[left - 1], start, left, right, end
        sides = {"__global__", "__device__", "__host__"} & words
        self.side = (
            "both" if len(sides) == 2 else (sides or {"constexpr" if "constexpr" in words else "__host__"}).pop()
        )
        self.is_plain = "template" not in words
        self.has_body = tokens[end] == "}"
        self.places = {}  # of the names in it, but for members
        for i in range(left, end):
            is_unevaluated = {"sizeof", "decltype", "noexcept"} & {tokens[i - 1], tokens[i - 2]}
            if is_name(tokens[i]) and tokens[i - 1] not in (".", "->", "::") and not is_unevaluated:
                self.places.setdefault(tokens[i], []).append(i)


class Sides:
    def __init__(self, source):
        self.source, self.tokens = source, source.tokens
        self.functions, self.variables, self.sides = [], {}, {}
        self.of_device = set()  # variables whose address on the host is another one
        self.members, self.is_in_class = {}, False  # variables of classes
        self.of_host = []  # where the host's functions begin, members and templates too, and end
        i = 0
        while i < len(self.tokens) - 1:
            i = self.declaration(i)
        for f in self.functions:
            self.sides.setdefault(f.name, set()).add(f.side)

    def declaration(self, start):
        """Notes what is declared at start, outside classes and functions. Where the next declaration begins."""
        source, tokens, i = self.source, self.tokens, start
        if tokens[i] == "{":  # the body of a constructor, after the {} of a member
            return source.closing(i) + 1
        if tokens[i] in ("public", "private", "protected") and tokens[i + 1] == ":":
            return i + 2
        while tokens[i : i + 2] == ["template", "<"]:
            i = source.closing_angle(i + 1) + 1
        end = source.until(i, ("{", "}", ";", "="))
        if tokens[end] == "=" and "operator" in tokens[i:end]:
            end = source.until(tokens.index("(", end), ("{", ";"))
        is_namespace = "namespace" in tokens[i : min(i + 2, end)] or tokens[i:end] == ["extern"]  # extern "C" {
        if tokens[end] == "}" or (is_namespace and tokens[end] == "{"):
            return end + 1
        left = i
        while left < end and tokens[left] != "(":
            is_attribute = tokens[left] in ("__attribute__", "alignas", "decltype")
            left = source.closing(left + 1) + 1 if is_attribute else left + 1
        if left < end and source.is_object(left):
            end = left
        is_function = left < end and is_name(tokens[left - 1]) and tokens[left - 1] not in TYPES
        is_body = left < end and tokens[end] == "{"
        last = source.closing(end) if is_body else source.until(end, (";",))
        words = set(tokens[start:end])
        if is_body and not {"__device__", "__global__"} & words:
            self.refuse_in_jit(left - 1, "function", "execution")
            source.mark(CONSTEXPR if "constexpr" in words else DEVICE if source.is_of_device else HOST, end)
            if "constexpr" not in words and not source.is_of_device:
                self.of_host.append((i + (tokens[i] == "extern"), last))
        if {"struct", "class", "union"} & words and tokens[end] == "{" and left == end:
            known, n = (self.functions, self.variables, self.is_in_class), end + 1
            self.functions, self.variables, self.is_in_class = [], {}, True
            while n < last and tokens[n] != "}":
                n = self.declaration(n)
            self.members.update((name, kinds) for name, kinds in self.variables.items() if "static" in kinds)
            self.functions, self.variables, self.is_in_class = known
        if is_function and tokens[end] == ";" and not ({"__device__", "__global__", *CLASS} | NO_VARIABLE) & words:
            self.refuse_in_jit(left - 1, "function", "execution")
        if is_function and tokens[left - 2] != "::" and "operator" not in words:
            self.functions.append(Function(tokens, start, left, source.closing(left), last))
            if source.is_of_device and self.functions[-1].side == "__host__":
                self.functions[-1].side = "__device__"
        if CLASS & words and tokens[end] == "{":
            i = source.closing(end) + 1  # struct S { … } x;
        is_type = "enum" in words and ":" in words and i < end
        while i < last and left == end and not ({"<"} | NO_VARIABLE) & words and not is_type:
            i = source.until(i, ("=", "[", ";", "{", ",", "("))
            if is_name(tokens[i - 1]) and tokens[i - 1] != "__attribute__" and tokens[i - 2] not in ("::", *CLASS):
                is_const = bool({"const", "constexpr"} & words)
                is_device = OF_DEVICE & words or (is_const and source.is_jit)
                kind = "device" if is_device else "const" if is_const else "host"
                if kind == "host" and (not self.is_in_class or "static" in words):
                    self.refuse_in_jit(i - 1, "variable", "memory")
                kind = "const array" if kind == "const" and tokens[i] == "[" else kind
                kinds = {kind, "static"} if self.is_in_class and "static" in words else {kind}
                self.variables.setdefault(tokens[i - 1], set()).update(kinds)
                is_number = "const" in words and not {"*", "__constant__"} & words and tokens[i] != "["
                is_of_both = {"__managed__", "constexpr"} & words
                if {"__device__", "__constant__"} & words and not is_number and not is_of_both:
                    self.of_device.add(tokens[i - 1])
            i = source.until(i, (",", ";")) + 1
        return last + 1

    # ---- What is refused

    def refuse_in_jit(self, i, what, space):
        if self.source.is_jit and not self.source.is_of_device:
            host = f"is considered a host {what}, and host {what}s are not allowed in JIT mode"
            self.source.stop(i, f"a {what} without {space} space annotations (__device__ and the like) {host}")

    def is_only(self, name, side):
        """Whether all functions of this name are of this side."""
        # the name comes first, so that it is found fast
        return self.sides.get(name) == {side} and not re.search(rf"{name}(?<!\w{name})\s*\(", self.source.foreign)

    def is_address_of_host(self, i):
        """Whether the name at i, of what a variable begins with, stands for an address on the host."""
        kinds, after = self.variables.get(self.tokens[i]), self.tokens[i + 1]
        is_address = kinds == {"host"} or kinds == {"const"} and self.tokens[i - 1] == "&"
        return is_address or (self.is_only(self.tokens[i], "__host__") and after != "(")

    def is_called(self, places):
        """Whether a name is called wherever it is, so that it is none of a variable of the function's own."""
        tokens = self.tokens
        return all(tokens[i + 1] == "(" and not is_name(tokens[i - 1]) for i in places)

    def is_declared(self, f, name):
        """Whether f may have a variable of this name: as a parameter, or in its body."""
        for i in f.places[name]:
            before, start = self.tokens[i - 1], self.source.statement(i)
            piece = self.tokens[start:i]
            opened = []  # brackets: the innermost is last
            for n in range(start, i):
                if self.tokens[n] in ("(", "["):
                    opened.append(n)
                elif self.tokens[n] in (")", "]") and opened:
                    opened.pop()
            caller = self.tokens[opened[-1] - 1] if opened else ""
            is_inside = caller == ">>>" or (is_name(caller) and caller != "auto")
            is_sum = "," not in piece and ({"=", "return"} & set(piece) or (before == ">" and "<" not in piece))
            if i < f.right or (is_name(before) and before not in ("return", "else", "do")):
                return True
            if before in ("*", "&", ">", ",", "[") and piece[1:] and not is_inside and not (is_sum and not opened):
                return True
        classes = sum((f.places.get(word, []) for word in CLASS), [])
        return "catch" in f.places or any("{" in self.tokens[i + 1 : i + 3] for i in classes)

    def check_device(self, f):
        for name, places in f.places.items():
            is_host = self.is_only(name, "__host__") or (name in OF_HOST and name not in self.sides)
            if is_host and self.is_called(places):
                self.refuse(places[0], f'__host__ function("{name}")', f)
            if self.is_only(name, "constexpr") and self.is_called(places) and not self.source.is_relaxed:
                self.refuse(places[0], f'constexpr __host__ function("{name}")', f)
            is_host = self.variables.get(name) == {"host"} and name not in self.sides
            if is_host and not self.is_declared(f, name):
                self.refuse_variable(places[0], name)
            if self.variables.get(name) == {"const array"} and not self.is_declared(f, name):
                for i in places:  # an element may be a constant, and so may a member of one
                    is_element = self.tokens[i + 1] == "[" and self.tokens[self.source.closing(i + 1) + 1] != "."
                    words = {"constexpr", "static_assert", "case", "<"} & set(self.tokens[self.source.statement(i) : i])
                    piece = self.tokens[self.source.statement(i) : i]  # nor is one that a variable begins with
                    words |= {"="} & set(piece) if "=" in piece[2:] and is_name(piece[piece.index("=") - 2]) else set()
                    if is_element and not words and self.tokens[i - 1] != "[":
                        self.refuse_variable(i, name)
        for i in f.places.get("std", ()):
            name, after = self.tokens[i + 2], i + 3
            if self.tokens[after] == "<" and name not in ("cout", "cerr"):
                after = self.source.closing_angle(after) + 1
            is_used = self.tokens[after] in ("(", "<<") or is_name(self.tokens[after])
            if is_used and name in OF_STD:
                self.refuse(i, f'__host__ function("std::{name}")', f)
            is_used |= name == "numeric_limits" and self.tokens[after] == "::" and self.tokens[after + 2] == "("
            if is_used and name in OF_STD_CONSTEXPR and not self.source.is_relaxed:
                self.refuse(i, f'constexpr __host__ function("{name}")', f)

    def check_host(self, f):
        for name, places in f.places.items():
            if f.is_plain and self.is_only(name, "__device__") and self.is_called(places):
                self.refuse(places[0], f'__device__ function("{name}")', f)
            if name in self.of_device and self.variables[name] == {"device"} and not self.is_declared(f, name):
                self.use_on_host(name, places)

    def use_on_host(self, name, places):
        """The host's address of a variable of the device is not that of the device."""
        for i in places:
            before = self.tokens[self.source.statement(i) : i + 2]
            if before.count("<<<") == before.count(">>>"):  # else it is in what a launch writes anew
                self.source.replace(i, i, f"::cpu_cuda::on_host({name})")

    def refuse(self, i, what, f):
        self.source.stop(i, f'calling a {what} from a {f.side} function("{f.name}") is not allowed')

    def refuse_variable(self, i, name):
        self.source.stop(i, f'identifier "{name}" is undefined in device code: it is a variable of the host')

    def check_kernels(self, f):
        """A kernel is launched, not called; what is not a kernel cannot be launched."""
        for name, places in f.places.items():
            if self.is_only(name, "__global__") and not self.is_declared(f, name):
                for i in (i for i in places if self.tokens[i + 1] == "("):
                    self.source.stop(i, f'a __global__ function("{name}") call must be configured')
            if self.is_only(name, "__host__") and any(self.tokens[i + 1] == "<<<" for i in places):
                self.source.stop(places[0], f'a host function("{name}") call cannot be configured')

    # ---- For calls.py

    def is_of_c(self, name):
        return name in OF_HOST and name not in self.sides

    def is_host_variable(self, f, name):
        """Whether name, which f uses, is a variable of the host, and none in the body of f."""
        kinds = self.variables.get(name, set()) | self.members.get(name, set())
        body = range(f.body, self.source.closing(f.body)) if f.body else []
        is_own = any(
            self.tokens[i] == name and (is_name(self.tokens[i - 1]) or self.tokens[i - 1] in ",*&") for i in body
        )
        return bool(kinds) and "device" not in kinds and not is_own

    def has_work(self, body):
        """Whether the constructor whose { is at body does anything."""
        if body is None or self.tokens[body + 1] != "}" or self.tokens[body - 1] != ")":
            return body is not None and self.tokens[body + 1] != "}"
        return self.tokens[self.source.opening(body - 1, "(", ")") - 2] in (":", ",")  # as in A() : x(1) {}

    def refuse_call(self, f, callee, what, of):
        """f calls callee, both as in calls.py."""
        of = "__global__" if "::<lambda()" in f.text and of == "__device__" else of
        i = self.place(f.body, callee.label())
        self.source.stop(
            i, f'calling a {what} function("{callee.label()}") from a {of} function("{f.label()}") is not allowed'
        )

    def place(self, body, name):
        """Where the function whose { is at body has this name first, or the {."""
        words = name.replace("operator", "").strip().split("::")[-1].lstrip("~")
        return next((i for i in range(body, self.source.closing(body)) if self.tokens[i] == words), body)


def mark_host(source, start, end):
    """A function of the host, and the lambdas in it."""
    if source.tokens[start] != "[":  # an attribute, behind which ours may not be
        source.before(start, OF_HOST_ALONE)
    for i in range(start, end):
        before, right = source.tokens[i - 1], source.closing(i) if source.tokens[i] == "[" else 0
        if not right or is_name(before) or before in ("]", ")", "[") or source.tokens[right + 1] != "(":
            continue
        right = source.closing(right + 1)
        if source.tokens[right + 1] in ("{", "->"):
            source.after(right, " " + OF_HOST_ALONE)


def check(source):
    """Refuses what nvcc refuses, and makes the edits for which functions have to be known."""
    sides = Sides(source)
    for start, end in sides.of_host:
        mark_host(source, start, end)
    for f in sides.functions:
        has_device_code = {"__device__", "__global__", "decltype"} & set(f.places)  # lambdas, perhaps
        if f.side == "__host__" and f.has_body and not has_device_code:
            sides.check_host(f)
        if f.is_plain and f.has_body:
            sides.check_kernels(f)
        if f.side not in ("__device__", "__global__"):
            continue
        if f.is_plain:
            sides.check_device(f)
        if "<<<" in source.tokens[f.right : f.end]:
            source.stop(f.right, "a kernel that launches a kernel needs a GPU, the CPU stand-in has none")
        for i in f.places.get("asm", []) + f.places.get("__asm__", []):
            if not re.match(r'\w+[\s\w]*\(\s*""', source.text[source.starts[i] :]):
                source.stop(i, "asm: PTX needs a GPU, the CPU stand-in has none")
        for i in f.places.get("clock", []):
            if source.tokens[i + 1 : i + 3] == ["(", ")"]:
                source.replace(i, i, "(clock_t)clock64")
    return sides
