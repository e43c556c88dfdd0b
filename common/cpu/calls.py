"""Which function calls which, of what side: for nvcc, beside this file, after g++ has compiled.

g++ itself lists what each function calls and uses (-fdump-ipa-cgraph), templates, members, operators and constructors
too. cuda_to_cpp.py and sides.py have put a call of cpu_cuda::in<side, token> into each body of the program, which is
nothing in the compiled code, and says here whose body it is.
"""

import re

HOST, DEVICE, BOTH, CONSTEXPR = "hdbc"  # CONSTEXPR: of the host, unless --expt-relaxed-constexpr is given
NO_EXCEPTIONS = "device code does not support exception handling"
NOT_ON_DEVICE = {  # what g++ makes of some words of C++: what nvcc says
    "__cxa_throw": NO_EXCEPTIONS,
    "__cxa_rethrow": NO_EXCEPTIONS,
    "__cxa_begin_catch": NO_EXCEPTIONS,
    "__dynamic_cast": "The operator 'dynamic_cast' is not allowed in device code",
    "__builtin_alloca_with_align": "expression must have a constant value: device code has no arrays of variable length",
    "__cxa_guard_acquire": "dynamic initialization is not supported for a static variable in device code",
}
# The calls of the runtime that device code may make, too.
ALSO_ON_DEVICE = """DeviceGetAttribute DeviceGetCacheConfig DeviceGetLimit DeviceGetSharedMemConfig EventCreateWithFlags
EventDestroy EventRecord EventRecordWithFlags Free FuncGetAttributes GetDevice GetDeviceCount GetErrorName GetErrorString
GetLastError Malloc Memcpy2DAsync Memcpy3DAsync MemcpyAsync Memset2DAsync Memset3DAsync MemsetAsync
OccupancyMaxActiveBlocksPerMultiprocessor PeekAtLastError RuntimeGetVersion StreamCreateWithFlags StreamDestroy
StreamWaitEvent""".split()
OF_CUDA = re.compile(r"\b(atomic[A-Z]\w+|__[a-z]\w+|clock64)\(")
MARK = re.compile(r"_ZN8cpu_cuda2inILc(\d+)ELi(\d+)EEEvv$")
# those of std:: that nvcc has for both sides: mathematics, and what hands on a value
OF_STD_FOR_BOTH = re.compile(
    r"std::(move|forward|addressof|initializer_list|abs|a?(sin|cos|tan)h?|atan2|pow|sqrt|cbrt|exp|exp2|expm1|log|log2"
    r"|log10|log1p|floor|ceil|round|trunc|fmod|fmin|fmax|fabs|fma|hypot|isnan|isinf|isfinite|signbit|copysign|rint"
    r"|nearbyint|l?lround|l?lrint|ldexp|frexp|modf|remainder|erfc?|[lt]gamma|__is_constant_evaluated)\b"
)


class Function:
    """A function or a variable, as g++ lists it."""

    def __init__(self, name, text, lines):
        self.name, self.text = name, text  # for the linker; in C++
        self.calls = [int(n) for n in re.findall(r"/(\d+)(?=\s|$)", lines.get("Calls", ""))]
        self.uses = [(int(n), how) for n, how in re.findall(r"/(\d+) \((\w+)\)", lines.get("References", ""))]
        self.section = re.search(r"section:(\S+)", lines.get("Visibility", ""))
        self.side, self.body = None, None  # whose it is; the token of its {

    def label(self):
        """V::get of float V::get(int) const [with ...]; a kernel's body is a lambda of ours."""
        text = self.text.split("::<lambda")[0].split(" [with ")[0]
        found = re.search(r"[\w:~<>]*(?:operator(?:\W+?| \w+)|\b[\w~]+)(?=\()", text)
        return found[0] if found and found[0].count("<") == found[0].count(">") else text.split("(")[0].split("::")[-1]


def functions(dump):
    """What g++ lists, by number."""
    found = {}
    for part in re.split(r"\n(?=\S.*/\d+ \(.*\)(?: @\S+)?\n)", dump[dump.find("\nReclaimed Symbol table") :])[1:]:
        head = re.match(r"(.*)/(\d+) \((.*)\)", part)
        lines = dict(line.strip().split(":", 1) for line in part.split("\n")[1:] if ":" in line)
        found.setdefault(int(head[2]), Function(head[1], head[3], lines))
    for f in found.values():
        marks = [m for n in f.calls if n in found and (m := MARK.match(found[n].name))]
        if marks:
            f.side, f.body = chr(int(marks[0][1])), int(marks[0][2])
    for f in found.values():  # of a constructor there are two, which are one
        for n, how in f.uses:
            if how == "alias" and n in found:
                f.side, f.body = found[n].side, found[n].body
    return found


def is_of_cuda(f, sides):
    """Whether it is one of CUDA's functions that only device code has: __popc, atomicAdd; those of half are for both."""
    name = OF_CUDA.search(f.text) if re.match(r"_Z\d", f.name) and not f.side else None  # in no namespace, nor C's
    return bool(name and name[1] not in sides.sides and not re.search("half|bfloat", f.text))


def side_of(callee, sides):
    """HOST, DEVICE or CONSTEXPR, if it is certain that it is nothing else; or None."""
    if callee.side:
        return callee.side
    name = re.search(r"(\w+)\(|$", callee.text)[1] or ""
    if name in sides.source.of_device or is_of_cuda(callee, sides):
        return DEVICE
    if re.match(r"_Z(N[KVRO]*)?S[tabsiod]", callee.name):  # std::
        if not OF_STD_FOR_BOTH.search(callee.text):
            return CONSTEXPR if callee.text.startswith("constexpr") else HOST
    elif sides.is_of_c(callee.name.split("(")[0].split(" ")[-1]):
        return HOST
    elif re.match("cuda[A-Z]", name) and name[4:] not in ALSO_ON_DEVICE:
        return HOST
    return None


def variable_name(f):
    """of a variable that is in no function and is not the device's"""
    found = re.match(r"[^()]*?(\w+)(?: \[.*)?$", f.text)
    return found[1] if found and not f.section and not f.name.startswith("_ZZ") else ""


def check(dump, sides):
    """Refuses what nvcc refuses, now that it is known which function is called. What cpu_cuda_name_0 and so on, which
    nvcc declares for NVRTC's name expressions, are the addresses of, by number."""
    listed = functions(dump)
    for f in listed.values():
        if f.text.startswith("void __static_initialization"):
            check_start(f, listed, sides)
        is_device = f.side == DEVICE or (f.side == BOTH and not sides.source.asks_for_arch)
        is_both = f.side == BOTH and " [with " not in f.text  # a template's may be called by device code alone
        for callee in [listed[n] for n in f.calls if n in listed and f.side]:
            side = side_of(callee, sides)
            if side == DEVICE and (f.side == HOST or is_both):
                sides.refuse_call(f, callee, "__device__", "__host__ __device__" if is_both else "__host__")
            elif f.side == DEVICE and side == HOST:
                sides.refuse_call(f, callee, "__host__", "__device__")
            elif f.side == DEVICE and side == CONSTEXPR and not sides.source.is_relaxed:
                sides.refuse_call(f, callee, "constexpr __host__", "__device__")
            elif is_device and (why := NOT_ON_DEVICE.get(callee.text.split("(")[0].split(" ")[-1])):
                sides.source.stop(f.body, why)
        for n, _ in f.uses:
            words = variable_name(listed[n]) if n in listed else ""
            if is_device and words and sides.is_host_variable(f, words):
                sides.refuse_variable(sides.place(f.body, words), words)
    names = [(f, re.search(r"\bcpu_cuda_name_(\d+)", f.text)) for f in listed.values()]
    named = [(int(number[1]), listed[n]) for f, number in names if number for n, _ in f.uses if n in listed]
    launches = {n for n, f in listed.items() if "cpu_cuda::launch" in f.text}
    # void k(int*), float own::v [3], int (* v)(int): some are listed as the declaration, and are not mangled yet
    places = {n: re.search(r"[\w:]+(?=\)?\(|\)? \[|\)?$)", g.name)[0].split("::") for n, g in named}
    mangled = {n: "_ZN" + "".join(f"{len(word)}{word}" for word in words) + "E" for n, words in places.items()}
    return {n: mangled[n] if places[n][1:] else places[n][0] for n, g in named if g.section or launches & {*g.calls}}


def check_start(f, listed, sides):
    """What the program does before main() must not be giving values to variables of the device."""
    called = [listed[n] for n in [*f.calls, *(n for n, _ in f.uses)] if n in listed]
    made = {name.lstrip("~") for g in called if sides.has_work(g.body) for name in g.label().split("::")[-1:]}
    for n, how in f.uses:
        variable = listed.get(n)
        if variable and variable.section and variable.section[1].startswith("cpu_cuda_"):
            words = re.match(r"(?:const )?(?:.*::)?(~?\w+) .*?(\w+)(?: \[.*)?$", variable.text)
            if how == "write" or (words and words[1] in made):
                i = next(i for i, t in enumerate(sides.tokens) if t == words[2])
                sides.source.stop(i, "dynamic initialization is not supported for a variable of the device")
