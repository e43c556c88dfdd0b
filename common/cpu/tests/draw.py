"""Draws CUDA programs that are right by construction, and whose threads communicate; a seed gives a program.

draw.py SEED...             programs in one file: its argument chooses one; each prints "SEED NUMBER"
draw.py SEED... --break K   in each of them one thing is broken: the K-th, modulo their count
draw.py answers FIRST LAST NVCC...   what they print, compiled by this nvcc: on a GPU, the lines of drawn.txt
draw.py check COUNT NVCC...   compares with drawn.txt, and looks at the messages of right programs and of broken ones

A program has an array that goes from step to step: host code, copies and kernels, in streams, through memory of all
kinds. A kernel is made of ingredients: functions that return code in which threads tell each other numbers. What can be
broken is written as mark(kind, right, wrong, matters). That it matters is known by what was drawn: somebody else wrote
what is read, and nothing but this part says which comes first.
"""

import collections
import itertools
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PRELUDE = r"""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace cg = cooperative_groups;
#define HD __host__ __device__ inline
#define OK(call) expect(call, __LINE__)
inline void expect(cudaError_t error, int line)
{
    if (error) printf("line %d: %s\n", line, cudaGetErrorName(error)), exit(2);
}
HD unsigned mix(unsigned x, unsigned v) { return (x ^ v) * 2654435761u ^ x >> 15; }
// A type's value for a number, and a number for a value.
template <class T> struct As {
    static HD T make(unsigned v) { return (T)v; }
    static HD unsigned number(const T &r) { return (unsigned)r; }
};
template <class T> HD T make(unsigned v) { return As<T>::make(v); }
template <class T> HD unsigned number(const T &r) { return As<T>::number(r); }
#define AS(T, made, numbered) \
    template <> HD T As<T>::make(unsigned v) { return made; } \
    template <> HD unsigned As<T>::number(const T &r) { return numbered; }
struct Three { unsigned char a, b, c; };
struct Short { short a; unsigned char b; };
struct Gap { signed char a; int b; short c; };
struct Tail { double a; short b; };
struct Five { int a[5]; };
AS(long long, (long long)v << 32 | (v ^ 77), (unsigned)(r >> 32) ^ (unsigned)r * 3)
AS(unsigned long long, (unsigned long long)v << 32 | (v ^ 77), (unsigned)(r >> 32) ^ (unsigned)r * 3)
AS(float, (float)(v >> 8), (unsigned)r)
AS(short2, make_short2(v, v >> 16), mix(r.x, r.y))
AS(float2, make_float2(v >> 8, v & 255), mix((unsigned)r.x, (unsigned)r.y))
AS(int3, make_int3(v, v >> 7, v * 3), mix(mix(r.x, r.y), r.z))
AS(uchar4, make_uchar4(v, v >> 8, v >> 16, v >> 24), mix(r.x * 256 + r.y, r.z * 256 + r.w))
AS(float4, make_float4(v >> 8, v & 255, 1, v >> 20), mix((unsigned)r.x, (unsigned)(r.y + r.z * r.w)))
AS(double2, make_double2(v, v & 255), mix((unsigned)r.x, (unsigned)r.y))
AS(Three, (Three{(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16)}), mix(r.a * 256 + r.b, r.c))
AS(Short, (Short{(short)v, (unsigned char)(v >> 16)}), mix(r.a, r.b))
AS(Gap, (Gap{(signed char)v, (int)v * 3, (short)(v >> 7)}), mix(mix(r.a, r.b), r.c))
AS(Tail, (Tail{(double)v, (short)(v >> 3)}), mix((unsigned)r.a, r.b))
AS(Five, (Five{{(int)v, 1, (int)v * 3, 2, (int)v * 5}}), mix(mix(r.a[0], r.a[2]), r.a[4] + r.a[1] * r.a[3]))
template <class T> struct alignas(4 * sizeof(T)) Four { T a, b, c, d; };
template <class T> HD unsigned number(const Four<T> &r)
{
    return mix(mix(number(r.a), number(r.b)), mix(number(r.c), number(r.d)));
}
struct Args { unsigned char a; double b; unsigned c[3]; };
__global__ void Side(unsigned *a, unsigned n) { if (threadIdx.x < n) a[threadIdx.x] = threadIdx.x * n; }
// Changes an array that the host may read when it sees the flag.
template <class T> __global__ void Publish(T *a, int count, volatile int *flag)
{
    for (int i = 0; i < count; i++) a[i] = make<T>(number(a[i]) + i);
    __threadfence_system();
    *flag = 1;
}
template <class T, class... P> cudaError_t cooperate(void (*kernel)(const T *, T *, P...), dim3 grid, dim3 block, int bytes,
    cudaStream_t s, const T *in, T *out, P... more)
{
    void *p[] = {&in, &out, &more...};
    return cudaLaunchCooperativeKernel((void *)kernel, grid, block, p, bytes, s);
}
template <class T> void change(void *p) { *(T *)p = make<T>(number(*(T *)p) + 1); }
template <class T> void changed(cudaStream_t, cudaError_t, void *p) { change<T>(p); }
"""
SIZES = {
    "unsigned char": 1, "signed char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned": 4, "float": 4,
    "long long": 8, "unsigned long long": 8, "double": 8, "short2": 4, "float2": 8, "int3": 12, "uchar4": 4, "float4": 16,
    "double2": 16, "Three": 3, "Short": 4, "Gap": 12, "Tail": 16, "Five": 20,
}  # fmt: skip
TYPES = list(SIZES)
NUMBERS = ["int", "unsigned", "float", "double", "long long", "unsigned long long"]
BLOCKS = [(32,), (64,), (96,), (128,), (192,), (256,), (40,), (8, 4), (16, 6), (4, 5, 4), (33,), (20,), (2, 3, 16)]
ATOMICS = {
    "int": "Add Sub Min Max And Or Xor",
    "unsigned": "Add Sub Min Max And Or Xor Inc Dec",
    "unsigned long long": "Add Min Max And Or Xor",
    "long long": "Min Max",
    "float": "Add",
    "double": "Add",
}
PLAIN = {"Add": "+=", "Sub": "-="}  # what changes its counter whatever is there
HOST = "host"
BLOCKING = {0, 1, 2}  # these streams and the default stream, 0, wait for each other; 3 and 4 are apart
FIRST_LINE = "CPU stand-in: this program runs on the CPU, not on a GPU\n"
MARK = re.compile("«([^¦«»]*)¦([^¦«»]*)¦([^¦«»]*)»")


def mark(kind, right, wrong="", matters=True):
    return f"«{kind}¦{right}¦{wrong}»" if matters else str(right)


class Map:
    """A function of a thread's number t and its block's number b: written in C, and known here."""

    def __init__(self, text):
        self.text = text
        python = text.replace("/", "//").replace("&&", "and").format(t="t", b="b")
        self.at = eval(f"lambda t, b=0: int({python})")

    def __call__(self, t="t"):
        return "(" + self.text.format(t=t, b="b") + ")"


class Kernel:
    """What an ingredient asks: who is there, and what was drawn before."""

    def __init__(self, program, name):
        self.program, self.name, self.d = program, name, program.d
        self.n, self.blocks = program.n, range(program.blocks)
        self.stays, self.dynamic, self.is_cooperative, self.is_launched_once = None, 0, False, False
        self.read, self.write = self.permutation(program.all), self.permutation(program.all)
        self.type = self.d.choice(["T", program.type])
        ingredients = self.d.choices(list(INGREDIENTS), INGREDIENTS.values(), k=self.d.randint(2, 5))
        texts = [ingredient(self) for ingredient in ingredients]
        self.body = "".join(t if ingredient is leave else f"{{\n{t}\n}}\n" for t, ingredient in zip(texts, ingredients))

    def alive(self, b):
        return [t for t in range(self.n) if not self.stays or self.stays.at(t, b)]

    def ok(self, r, group=None):
        """Whether thread r has a number to give: it is there, has not left, and is in the group."""
        return " && ".join([f"{r} < n"] + [m(r) for m in (self.stays, group) if m])

    def one(self):
        """A thread that is there in every block, and how many there are at least."""
        everywhere = set.intersection(*(set(self.alive(b)) for b in self.blocks))
        return self.d.choice(sorted(everywhere) or [None]), min(len(self.alive(b)) for b in self.blocks)

    def permutation(self, n):
        d, low = self.d, n & -n
        stride = d.choice([k for k in range(1, n) if math.gcd(k, n) == 1])
        far, near = d.randrange(1, n), d.choice([1, 2, n - 1])
        ways = [f"({{t}} + {far}) % {n}", f"({{t}} + {near}) % {n}", f"({{t}} * {stride} + {far}) % {n}"]
        ways += [ways[1], f"{n - 1} - {{t}}", f"{{t}} ^ {d.randrange(1, max(low, 2))}" if low > 1 else ways[0]]
        return Map(d.choice(ways))

    def barrier(self, matters=False):
        ways = ["__syncthreads();"] * 4 + ["cg::this_thread_block().sync();", "cg::sync(cg::this_thread_block());"]
        ways += [f"x += __syncthreads_{way};" for way in ("count(x & 6)", "or(x % 9 == 0)", "and(x % 7 < 6)")]
        return mark("barrier", self.d.choice(ways), "", matters)

    def full_mask(self):
        """Of a warp of which all threads are asked; those that have left are not waited for."""
        return self.d.choice(["~0u", "0xffffffff"] + ["alive"] * (self.stays is not None))

    def array(self, u, size, matters):
        """An array of the block, which nobody has written."""
        where = self.d.choice(["static", "static", "dynamic", "global"])
        if where == "static":
            return f"__shared__ alignas(16) {u} s[{mark('bound', size, size - 1, matters)}];\n"
        if where == "global":
            return f"{u} *s = {self.program.work(u, size)} + b * {size};\n"
        text = (self.barrier() + "\n" if self.dynamic else "") + f"{u} *s = ({u} *)dynamic;\n"
        self.dynamic = max(self.dynamic, size * SIZES[u])
        return text


# ---- Ingredients of a kernel. x is the thread's number, which each of them changes by what others have told.


def groups_of(k, scope, g):
    """Of the threads, which are numbered in the grid, those that exchange: of a block, g of them, or all."""
    if scope == "grid":
        k.is_cooperative = True
        return [range(k.program.all)]
    blocks = [range(b * k.n, b * k.n + k.n) for b in k.blocks]
    return blocks if scope == "block" else [block[w : w + g] for block in blocks for w in range(0, k.n, g)]


SOME = ["{t} % 3 == 1", "{t} % 2 == 0", "{t} % 4 < 2", "{t} < HALF", "{t} / 16 % 2 == 0"]


def exchange(k):
    """Threads of a block, a warp, a tile or the grid read and write an array: other elements in each action. A barrier
    stands between two actions if one touches what another thread writes in the other: then it matters."""
    d = k.d
    scope = d.choice(["block"] * 4 + ["warp", "tile"] + ["grid"] * (not k.stays and not k.program.is_split))
    per = d.choice([1, 1, 1, 2]) if scope == "block" and not k.stays else 1
    g = {"block": k.n * per, "grid": k.program.all}.get(scope) or d.choice([4, 8, 16, 32])
    scope = "warp" if scope == "tile" and k.n % g else scope
    groups, alive = groups_of(k, scope, g), {b * k.n + t for b in k.blocks for t in k.alive(b)}
    u, size = d.choice(TYPES), (k.n * per + g - 1) // g * g if scope != "grid" else k.n
    text = f"{u} *s = {k.program.work(u, size)};\n" if scope == "grid" else ""
    text = text or k.array(u, size, not k.stays and size == k.n * per)
    text += f"auto tile = cg::tiled_partition<{g}>(cg::this_thread_block());\n" if scope == "tile" else ""
    base = "" if scope in ("block", "grid") else f"t - t % {g} + "
    i = "i" if per > 1 else {"block": "t", "grid": "me"}.get(scope, f"t % {g}")
    place = d.choice([Map("{t}"), k.permutation(g)])
    # since the last barrier: (group, element) -> those who have read it, those who have written it
    touched = collections.defaultdict(lambda: (set(), set()))
    has_fours = g % 4 == 0 and size % 4 == 0 and SIZES[u] in (1, 2, 4) and not k.stays and k.n % g == 0 and per == 1

    def barrier(matters):
        touched.clear()
        sync = {"grid": "cg::this_grid().sync();", "tile": "tile.sync();"}.get(scope, f"__syncwarp({k.full_mask()});")
        return (k.barrier(matters) if scope == "block" else mark(scope + "-barrier", sync, "", matters)) + "\n"

    def action(kind, turn, only):
        """Its code, and what each thread touches: (group, element), thread."""
        there = k.ok(f"({base}r)") if base else k.stays("r") if k.stays else ""
        guard = " && ".join(c for c in (there, only and only(i)) if c)
        code = {
            "write": f"s[{{e}}] = make<{u}>(x + {d.randint(1, 99)} * r);",
            "read": "x = mix(x, number(s[{e}]));",
            "update": f"s[{{e}}] = make<{u}>(number(s[{{e}}]) + x);",
            "fours": f"x = mix(x, number(*(const Four<{u}> *)&s[{base}r / 4 * 4]));",
        }[kind].format(e=base + place("r"))
        code = f"{{ unsigned r = {turn(i)}; {f'if ({guard}) ' if guard else ''}{code} }}\n"
        touches = []
        for number, group in enumerate(groups):
            for me in (m for m in group if m in alive):
                for j in range((me - group[0]), g, k.n) if per > 1 else [me - group[0]]:
                    r = turn.at(j)
                    if (not only or only.at(j)) and (per > 1 or r < len(group) and group[r] in alive):
                        elements = range(r // 4 * 4, r // 4 * 4 + 4) if kind == "fours" else [place.at(r)]
                        touches += [((number, e), me) for e in elements]
        return (f"for (unsigned i = t; i < {g}; i += n) " if per > 1 else "") + code, touches

    rounds, turn = d.choice([1, 1, 1, 3]), Map("{t}")
    for count in range(d.randint(3, 8)):
        kind = d.choice(["write", "read", "read", "update"] + ["fours"] * has_fours) if count else "write"
        turn = d.choice([k.permutation(g), k.permutation(g), turn]) if count else turn
        only = Map(d.choice(SOME).replace("HALF", str(g // 2 + 1))) if count and d.random() < 0.4 else None
        code, touches = action(kind, turn, only)
        is_read = kind in ("read", "fours")
        clash = any(who - {me} for element, me in touches for who in touched[element][is_read:])
        if clash or d.random() < 0.1:
            text += barrier(clash)
        for element, me in touches:
            touched[element][not is_read].add(me)
        text += f"for (int round = 0; round < {rounds}; round++) {{\n" * (rounds > 1 and not count) + code
    return text + (barrier(False) + "}\n") * (rounds > 1)


def count(k):
    """Counters of the block or of all blocks, which threads change by atomics in any order."""
    d, c = k.d, k.d.choice(list(ATOMICS))
    op, m = d.choice(ATOMICS[c].split()), d.choice([1, 3, 5])
    one, busy = k.one()
    busy = busy > 2 * m
    real = c in ("float", "double")
    value = f"({c})(1 + x % 63)" if real else "99u" if op in ("Inc", "Dec") else f"({c})(x | 1)"
    at, first = f"t * {d.choice([1, 7])} % {m}", {"And": -1, "Min": 1000003}.get(op, 0)
    if d.random() < 0.4 or one is None:
        name = k.program.total(c, m, first)
        plain = f"{name}[{at}] {PLAIN.get(op)} {value};"
        return mark("atomic", f"atomic{op}(&{name}[{at}], {value});", plain, op in PLAIN and busy)
    scope = d.choice(["", "", "_block", "_system"])
    plain = f"s[{at}] {PLAIN.get(op)} {value};"
    code = mark("atomic", f"atomic{op}{scope}(&s[{at}], {value});", plain, op in PLAIN and busy)
    if op == "Max" and c != "long long" and d.random() < 0.6:
        code = f"""{c} *a = &s[{at}], v = {value}, seen = *{d.choice(["", f"(volatile {c} *)"])}a, was;
        do was = seen, seen = atomicCAS(a, was, v > was ? v : was); while (seen != was);"""
    return f"""{k.array(c, m, m > 1)}if (t == {one}) for (int i = 0; i < {m}; i++) s[i] = ({c}){first};
    {k.barrier(busy)}
    {code}
    {k.barrier(busy)}
    x = mix(x, number(s[(t + 1) % {m}]));"""


def lanes(k):
    """Shuffles, votes, matches, reductions of a warp, of some of its lanes, or of a tile. What a lane gets from one
    that has nothing to give is not asked."""
    d = k.d
    group = tile = None
    text, end, mask = "", "", k.full_mask()
    kind = d.choice(["warp", "some", "tile"])
    if kind == "tile" and k.n % 32 == 0:
        tile = d.choice([2, 4, 8, 16, 32])
        text = f"auto tile = cg::tiled_partition<{tile}>(cg::this_thread_block());\n"
        text += "x += tile.thread_rank() + tile.size() * tile.meta_group_rank();\n"
    elif kind == "some":
        ways = ["% 2 == 0", "% 32 < 7", "% 32 >= 11", "% 32 % 3 == 1", "/ 8 % 2 == 1", "/ 4 % 2 == {t} % 2"]
        group = Map("{t} " + d.choice(ways))
        bits = sum(1 << lane for lane in range(32) if group.at(lane))
        inside = [t % 32 for t in k.alive(0) if group.at(t)]
        mask = mark("mask", hex(bits), hex(bits & ~(1 << d.choice(inside or [0]))), len(set(inside)) > 1)
        text, end = f"if ({group()}) {{\n", "}"
    elif mask != "alive":
        mask = mark("mask", mask, "0xffff", any(t % 32 > 15 for t in k.alive(0)))
    for _ in range(d.randint(1, 4)):
        way = d.choice(["shfl", "shfl", "shfl", "ballot", "any", "all", "match_any", "match_all", "reduce", "part"])
        if way == "shfl":
            w, v = tile or d.choice([2, 4, 8, 16, 32, 32]), d.choice(NUMBERS)
            how = d.choice(["", "_up", "_down", "_xor"])
            a = d.randrange(w) if tile or d.random() < 0.7 else d.randrange(-40, 80) if not how else d.randrange(32)
            a = -1 if how == "_xor" and not tile and d.random() < 0.1 else a
            source = {
                "": f"(lane & {-w & 31}u) | {a & (w - 1)}",
                "_up": f"(int)(lane & {w - 1}) >= {a} ? lane - {a} : lane",
                "_down": f"(lane & {w - 1}) + {a} < {w} ? lane + {a} : lane",
                "_xor": f"(lane ^ {a & 31}) < (lane & {-w & 31}u) + {w} ? lane ^ {a & 31} : lane",
            }[how]
            call = f"tile.shfl{how}(make<{v}>(x), {a})" if tile else f"__shfl{how}_sync({mask}, make<{v}>(x), {a}, {w})"
            guard = k.ok("r", group)
            text += f"{{ {v} y = {call}; unsigned r = t - lane + ({source}); if ({guard}) x = mix(x, number(y)); }}\n"
        elif way == "reduce" and not (tile and k.stays):
            op = d.choice(["add plus", "min less", "max greater", "and bit_and", "or bit_or", "xor bit_xor"]).split()
            c = d.choice(["unsigned", "int"]) if op[0] in ("add", "min", "max") else "unsigned"
            call = f"cg::reduce(tile, ({c})x, cg::{op[1]}<{c}>())" if tile else f"__reduce_{op[0]}_sync({mask}, ({c})x)"
            text += f"x = mix(x, {call});\n"
        elif way == "part" and tile and not k.stays:
            part = d.choice(["labeled_partition(tile, (int)(x % 3))", "binary_partition(tile, x % 3 == 0)"])
            text += f"{{ auto g = cg::{part}; x = mix(x, g.size() * 64 + g.thread_rank() + g.shfl(x, 0)); }}\n"
        elif way in ("ballot", "any", "all", "match_any", "match_all"):
            value = ["x % 3", "(long long)(x % 3) << 40", "(float)(x & 1)", "t / 2", "t / 64", "(double)(t / 32)"]
            value = d.choice(value) if "match" in way else d.choice(["x & 1", "x & 12", "x % 11", "x % 11 == 0"])
            value += {"match_all": ", all" if tile else ", &all"}.get(way, "")
            call = f"tile.{way}({value})" if tile else f"__{way}_sync({mask}, {value})"
            text += f"{{ int all = 0; x = mix(x, {call}); x += all; }}\n"
        if "«" in mask and mask in text:
            mask = MARK.match(mask)[2]  # one of them can be broken
    return text + end


def aggregated(k):
    """One lane adds for all that are in the branch, however many come at once."""
    total = k.program.total("unsigned")
    return f"""if (x % {k.d.choice([2, 3])} == 0) {{
        auto g = cg::coalesced_threads();
        if (g.thread_rank() == 0) atomicAdd(&{total}[0], g.size());
        g.sync();
    }}"""


def last_block(k):
    """Each block hands over a number; the one that comes last adds them up."""
    d, blocks = k.d, len(k.blocks)
    if k.stays or k.program.is_split:
        return ""
    u = d.choice(["unsigned", "unsigned long long", "unsigned short"])
    numbers, number, sum = k.program.work(u, 1), k.program.total("unsigned"), k.program.total("unsigned")
    is_last = d.choice(["atomicInc({}, {})", "atomicAdd({}, 1) % ({} + 1)"]).format(number, blocks - 1)
    return f"""__shared__ bool is_last;
    if (t == {k.n - 1}) {{
        {numbers}[b] = ({u})x;
        {mark("fence", "__threadfence();", "", blocks > 1)}
        is_last = {is_last} == {blocks - 1};
        {d.choice(["__threadfence();", ""])}
    }}
    __syncthreads();
    if (is_last && t == 0)
        for (unsigned i = 0; i < {blocks}; i++) {sum}[0] += number({d.choice(["", f"*(volatile {u} *)&"])}{numbers}[i]);"""


def chain(k):
    """A block, or a warp, waits for the one before it, and takes what that has handed over."""
    d, u = k.d, k.d.choice(TYPES)
    if k.stays or k.program.is_split:
        return ""
    look, say = "((volatile unsigned *)flag)[i - 1] == 0", "((volatile unsigned *)flag)[i] = 1;"
    if d.random() < 0.5:
        look, say = "atomicAdd(&flag[i - 1], 0) == 0", "atomicExch(&flag[i], 1);"
    if d.random() < 0.5:
        fence, who = "_block", "t % 32 == 0"
        begin = f"""__shared__ {u} handed[32];
    __shared__ unsigned flag[32];
    unsigned i = t / 32;
    if ({who}) flag[i] = 0;
    {k.barrier()}"""
    else:
        k.is_launched_once, fence, who = True, "", f"t == {d.choice([0, k.n - 1])}"
        begin = f"unsigned i = b, *flag = {k.program.total('unsigned', k.program.blocks)};\n{u} *handed = {k.program.work(u, 1)};"
    return f"""{begin}
    if ({who}) {{
        if (i > 0) {{
            while ({look}) continue;
            __threadfence{fence}();
            x = mix(x, number(handed[i - 1]));
        }}
        handed[i] = make<{u}>(x);
        __threadfence{fence}();
        {say}
    }}"""


def leave(k):
    """Some threads return, the others go on without them."""
    n, before = k.n, k.stays
    ways = [f"{{t}} < {k.d.randrange(1, n)}", "{t} % 32 < 20", "{t} % 32 >= 9", "{t} % 3 != 1", "({t} ^ {b}) % 4 != 0"]
    stays = k.d.choice(ways + ["{t} * 7 % 11 < 6", "{t} / 32 != 1", "{t} % 8 < 5"])
    if before and k.d.random() < 0.5:
        return ""
    k.stays = Map(f"({stays}) && ({before.text})" if before else stays)
    if any(not k.alive(b) for b in k.blocks):
        k.stays = before
        return ""
    alive = "alive" if before else "unsigned alive"
    return f"""{alive} = __ballot_sync(~0u, {k.stays()});
    (void)alive;
    if (!{k.stays()}) {{
        end();
        return;
    }}
"""


def alone(k):
    """What a thread computes for itself. A product and a sum are one operation."""
    d, f, size = k.d, k.d.choice(["float", "double"]), k.d.randint(3, 7)
    real = """a * b + c; a * b - c; c - a * b; a / b; sqrt(a); fma(a, c, b); a / b * c + a; (a - c) / (b + 1); trunc(c);
        fmax(a, c) * b + fmin(a, b); floor(a / 7) + rint(b / 3); a * a + b; fabs(a - b) * c"""
    whole = """__popc(x); __brev(x); __clz(x); __ffs(x); __umulhi(x, 12345678u); table[x % 16]; __popcll(x * 99ull);
        __float_as_uint((float)x); (unsigned)__float2int_rn((x >> 8) / 3.0f); __byte_perm(x, t, 0x5163);
        __funnelshift_l(x, t, 7); (unsigned)(((long long)x * t) >> 5); (int)x / 77 % 99"""
    real, whole = d.choice(real.split(";")).strip(), d.choice(whole.split(";")).strip()
    bound = mark("local", f"i % {size}", "i", k.n > 9 and size < 7 and not k.stays)
    arithmetic = f"""{f} a = ({f})(x % 1000 + 1), b = ({f})(x / 1000 % 1000 + 1), c = ({f})(x >> 20) + a - b;
    long long y = __double_as_longlong(({real}) / 3);
    x = mix(x, (unsigned)y ^ (unsigned)(y >> 29));"""
    array = f"""auto f = [=](unsigned v) {{ return v * {d.randint(3, 99)} + args.c[v % 3]; }};
    unsigned own[{size}];
    for (int i = 0; i < {size}; i++) own[i] = f(x * i);
    for (unsigned i = 0; i < lane % 9; i++) own[{bound}] += i;
    for (int i = 0; i < {size}; i++) x = mix(x, own[i]);"""
    return d.choice([arithmetic, array, f"x = mix(x, {whole});"])


INGREDIENTS = {exchange: 8, lanes: 8, count: 5, leave: 5, alone: 3, aggregated: 1, last_block: 1, chain: 2}


ROOMS = {  # kinds of memory: how one gets it and gives it back
    "device": ("OK(cudaMalloc(&{p}, {n}));", "OK(cudaFree({p}));"),
    "async": ("OK(cudaMallocAsync(&{p}, {n}, s[3]));", "OK(cudaFreeAsync({p}, s[1]));"),
    "variable": ("OK(cudaGetSymbolAddress((void **)&{p}, {p}_));", ""),
    "managed variable": ("{p} = {p}_;", ""),
    "managed": ("OK(cudaMallocManaged(&{p}, {n}));", "OK(cudaFree({p}));"),
    "pinned": ("OK(cudaMallocHost(&{p}, {n}));", "OK(cudaFreeHost({p}));"),
    "mapped": ("OK(cudaHostAlloc(&{p}, {n}, cudaHostAllocMapped));", "OK(cudaFreeHost({p}));"),
    "registered": (
        "{p} = ({t} *)aligned_alloc(4096, 65536); OK(cudaHostRegister({p}, 65536, cudaHostRegisterDefault));",
        "OK(cudaHostUnregister({p})); free({p});",
    ),
}


class Program:
    """Memory, and the steps that the array takes through it, on the host, or in one stream or two."""

    def __init__(self, seed):
        self.seed, self.d = seed, random.Random(seed)
        d = self.d
        self.type, self.block = d.choice(TYPES), d.choice(BLOCKS)
        self.grid = d.choice([(1,), (2,), (3,), (4,), (2, 2)])
        self.n, self.blocks = math.prod(self.block), math.prod(self.grid)
        self.all, self.bytes = self.n * self.blocks, f"{self.n * self.blocks} * sizeof({self.type})"
        self.is_split = len(self.grid) == 1 and self.blocks > 1 and d.random() < 0.4  # a launch: between two streams
        self.declared, self.begin, self.steps, self.end = [], [], [], []
        self.names, self.events, self.kernels = 0, 0, []
        self.rooms = [self.room() for _ in range(d.randint(2, 3))]
        self.last, self.cur, self.is_unseen = [HOST], self.rooms[0], False
        self.fill()
        ways = [self.launch] * 6 + [self.copy, self.copy, self.set_part, self.aside]
        ways += [self.on_host, self.callback, self.publish]
        for step in [self.launch, *d.choices(ways, k=d.randint(3, 7))]:
            step()
        self.read()
        for name, _ in self.rooms:
            if not any(name in step for step in self.steps):  # then it does not matter how large it is
                self.begin = [MARK.sub(r"\2", line) if f"*{name} =" in line else line for line in self.begin]

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    # ---- Memory

    def work(self, u, per_block):
        """An array in device memory, for kernels; nobody has written it yet."""
        name = self.name("work")
        self.declared.append(f"__device__ {u} *{name};")
        self.begin.append(f"{u} *{name}_; OK(cudaMalloc(&{name}_, {per_block * self.blocks} * sizeof({u})));")
        self.begin.append(f"OK(cudaMemcpyToSymbol({name}, &{name}_, sizeof {name}_));")
        self.end.append(f"OK(cudaFree({name}_));")
        return name

    def total(self, c, size=1, value=0):
        """Counters of all blocks, which the host reads at the end."""
        name, kind = self.name("total"), self.d.choice(["managed", "device", "device"])
        self.declared.append(f"__{kind}__ {c} {name}[{size}] = {{{', '.join([f'({c}){value}'] * size)}}};")
        copy = f"{c} r[{size}]; " + self.d.choice([
            f"OK(cudaMemcpyFromSymbol(r, {name}, sizeof r));",
            f"void *p; OK(cudaGetSymbolAddress(&p, {name})); OK(cudaMemcpy(r, p, sizeof r, cudaMemcpyDefault));",
            f"OK(cudaMemcpyFromSymbolAsync(r, {name}, sizeof r, 0, cudaMemcpyDeviceToHost, 0)); OK(cudaDeviceSynchronize());",
        ])  # fmt: skip
        read, copy = (name, "") if kind == "managed" else ("r", copy)
        self.end.insert(0, f"{{ {copy} for (auto &v : {read}) h = mix(h, number(v)); }}")
        return name

    def room(self):
        """Memory for the array: its name and its kind."""
        d, name, t = self.d, self.name("room"), self.type
        kind = d.choice(["device"] * 3 + list(ROOMS))
        n = f"{mark('bound', self.all, self.all - 1, kind in ('device', 'async', 'managed', 'pinned'))} * sizeof({t})"
        begin, end = (text.format(p=name, n=n, t=t) for text in ROOMS[kind])
        if "variable" in kind:
            self.declared.append(f"__{'managed' if kind[0] == 'm' else 'device'}__ {t} {name}_[{self.all}];")
        self.begin.append(f"{t} *{name} = nullptr; (void){name}; {begin}")
        self.end.append(end)
        return name, kind

    def is_of_host(self, room):
        return room[1] not in ("device", "async", "variable")

    # ---- Which comes first

    def event(self):
        if self.events and self.d.random() < 0.3:
            return f"e[{self.d.randrange(self.events)}]"
        self.events += 1
        return f"e[{self.events - 1}]"

    def order(self, to, matters=True, waits_for_default=True):
        """The next step, in these streams or on the host, comes after the last one."""
        lasts, self.last = [s for s in self.last if s != HOST], to
        matters, self.is_unseen = matters and not self.is_unseen, False
        for s in lasts:
            by_default = {q for q in to if {s, q} <= BLOCKING and 0 in (s, q)}
            others = [q for q in to if q != s and not (waits_for_default and q in by_default)]
            breaks = matters and len(to) == 1 and not by_default
            e = self.event()
            record = f"OK(cudaEventRecord({e}, s[{s}]));"
            ways = [f"OK(cudaStreamSynchronize(s[{s}]));", f"{record} OK(cudaEventSynchronize({e}));",
                    f"{record} while (cudaEventQuery({e}) == cudaErrorNotReady) continue;",
                    f"while (cudaStreamQuery(s[{s}]) == cudaErrorNotReady) continue;"]  # fmt: skip
            ways += ["OK(cudaDeviceSynchronize());"] * (len(lasts) == 1)
            if others and (to == [HOST] or len(lasts) == len(to) == 1 and self.d.random() < 0.4):
                self.steps.append(mark("wait", self.d.choice(ways), "", breaks))
            elif others:
                waits = [f"OK(cudaStreamWaitEvent(s[{q}], {e}, 0));" for q in others]
                self.steps += [record, *(mark("wait", wait, "", breaks) for wait in waits)]

    def stream(self, matters=True):
        """A stream for the next step."""
        s = self.d.randrange(5)
        self.order([s], matters)
        return f"s[{s}]"

    # ---- Steps

    def fill(self):
        d, (name, kind), t = self.d, self.cur, self.type
        values = f"for (int i = 0; i < {self.all}; i++) {{}}[i] = make<{t}>(i * {d.randint(1, 10**6)}u + {d.randint(1, 99)});"
        self.steps.append(values.format("v"))
        is_new = kind in ("device", "async")  # nobody else writes it
        if self.is_of_host(self.cur) and d.random() < 0.6:
            self.steps.append(values.format(name))
        else:
            way, stream = ("Async", f", {self.stream()}") if d.random() < 0.5 else ("", "")
            copy = f"OK(cudaMemcpy{way}({name}, v.data(), {self.bytes}, cudaMemcpyDefault{stream}));"
            self.steps.append(mark("unwritten", copy, "", is_new))

    def other(self):
        return self.d.choice([room for room in self.rooms if room != self.cur])

    def launch(self):
        d, t = self.d, self.type
        ready = [k for k in self.kernels if not k.is_launched_once]
        if len(self.kernels) < 2 or not ready:
            self.kernels.append(Kernel(self, self.name("Kernel")))
            ready = self.kernels[-1:]
        k, to = d.choice(ready), self.other()
        name = f"{k.name}<{t}>" if k.type == "T" else k.name
        args = f"Args{{{d.randrange(256)}, {d.randrange(9999)}.5, {{{d.randrange(99)}, {d.randrange(99)}, {d.randrange(99)}}}}}"
        grid, block = (f"dim3({str(size)[1:-1].rstrip(',')})" for size in (self.grid, self.block))
        given = f"(const {t} *){self.cur[0]}, {to[0]}, sink, {args}"
        if self.is_split:
            s, cut = d.sample([1, 2, 3, 4], 2), d.randrange(1, self.blocks)
            self.order(s)
            for stream, first, blocks in zip(s, (0, cut), (cut, self.blocks - cut)):
                self.steps.append(f"{name}<<<{blocks}, {block}, {k.dynamic}, s[{stream}]>>>({given}, {first}u);")
        else:
            place = f"{grid}, {block}, {k.dynamic}, {self.stream()}"
            call = "OK(cooperate({}, {}, {}, 0u));" if k.is_cooperative else "{}<<<{}>>>({}, 0);"
            self.steps.append(call.format(name, place, given))
        self.steps.append("OK(cudaGetLastError());")
        self.cur = to

    def copy(self):
        d, to, n = self.d, self.other(), self.n
        a, b, row, is_sync = to[0], self.cur[0], f"{n} * sizeof({self.type})", d.random() < 0.3
        # With CUDA 13, a small cudaMemcpyAsync from the host's memory that a stream begins with reads at once: between the
        # default stream and the blocking ones it does not wait.
        self.order([0] if is_sync else [d.randrange(5)], waits_for_default=is_sync)
        name, end = ("", "cudaMemcpyDefault)") if is_sync else ("Async", f"cudaMemcpyDefault, s[{self.last[0]}])")
        part = f"a[1] + i, {row}, a[0] + i, {row}, (i ? {n - n // 2} : {n // 2}) * sizeof({self.type})"
        self.steps.append(d.choice([
            f"OK(cudaMemcpy{name}({a}, {b}, {self.bytes}, {end});",
            f"OK(cudaMemcpy2D{name}({a}, {row}, {b}, {row}, {row}, {self.blocks}, {end});",
            f"for (int i = 0; i < {self.all}; i += {n}) OK(cudaMemcpy{name}({a} + i, {b} + i, {row}, {end});",
            f"for (int i : {{0, {n // 2}}}) {{ {self.type} *a[] = {{{b}, {a}}}; OK(cudaMemcpy2D{name}({part}, {self.blocks}, {end}); }}",
        ]))  # fmt: skip
        if is_sync and (self.is_of_host(self.cur) or self.is_of_host(to)):
            self.order([HOST], False)
        self.cur, self.is_unseen = to, is_sync  # perhaps the host has waited

    def on_host(self):
        if self.is_of_host(self.cur):
            self.order([HOST])
            a = self.cur[0]
            self.steps.append(f"for (int i = 0; i < {self.all}; i++) {a}[i] = make<{self.type}>(number({a}[i]) + i);")

    def callback(self):
        if self.is_of_host(self.cur):
            s, t, a = self.stream(False), self.type, self.cur[0]  # a callback's accesses are not looked at
            call = self.d.choice(["LaunchHostFunc({}, change<{}>, {})", "StreamAddCallback({}, changed<{}>, {}, 0)"])
            self.steps.append(f"OK(cuda{call.format(s, t, a)});")
            self.is_unseen = True

    def publish(self):
        if self.cur[1] in ("pinned", "mapped", "registered"):
            self.order([3])
            self.steps.append(f"*flag = 0; Publish<<<1, 1, 0, s[3]>>>({self.cur[0]}, {self.all}, flag);")
            self.steps.append(f"while (*flag == 0) continue; __sync_synchronize(); change<{self.type}>({self.cur[0]});")
            self.is_unseen = True  # who has seen the flag need not wait

    def set_part(self):
        d, a = self.d, self.cur[0]
        s = self.stream(len(self.last) == 1)
        size = f"{d.choice([0, 1, 63])}, {d.randint(1, self.all)} * sizeof({self.type})"
        call = d.choice(["OK(cudaMemsetAsync({}, {}, {}));", "OK(cudaMemset2DAsync({}, 65536, {}, 1, {}));"])
        self.steps.append(call.format(a, size, s))
        if self.is_of_host(self.cur) and d.random() < 0.5:  # then it is done when the call returns
            self.order([0], False)
            self.steps.append(f"OK(cudaMemset({a}, {size}));")
            self.last = [HOST]

    def aside(self):
        """Work that the others have nothing to do with."""
        size, name = self.d.choice([7, 32, 100]), self.name("side")
        self.begin.append(f"unsigned *{name} = nullptr; OK(cudaMalloc(&{name}, {size} * sizeof *{name}));")
        self.steps.append(f"Side<<<1, 128, 0, s[{self.d.choice([3, 4])}]>>>({name}, {mark('bound', size, size + 1)});")
        copy = f"OK(cudaMemcpy(r, {name}, sizeof r, cudaMemcpyDeviceToHost));"
        self.end.insert(0, f"{{ unsigned r[{size}]; {copy} for (auto v : r) h = mix(h, v); }}")
        self.end.append(f"OK(cudaFree({name}));")

    def read(self):
        name = self.cur[0]
        if self.is_of_host(self.cur) and self.d.random() < 0.5:
            self.order([HOST])
        else:
            self.order([0])
            self.steps.append(f"OK(cudaMemcpy(v.data(), {name}, {self.bytes}, cudaMemcpyDefault));")
            self.order([HOST], False)
            name = "v"
        self.steps.append(f"for (int i = 0; i < {self.all}; i++) h = mix(h, number({name}[i]));")

    # ---- Text

    def kernel_text(self, k):
        body = "".join(f"    {line.strip()}\n" for line in k.body.splitlines() if line.strip())
        template = "template <class T>\n" if k.type == "T" else ""
        return f"""{template}__global__ void {k.name}(const {k.type} *in, {k.type} *out, unsigned *sink, Args args, unsigned first)
{{
    extern __shared__ float4 dynamic[];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = t % 32;
    const unsigned n = {self.n}, b = first + blockIdx.x + gridDim.x * blockIdx.y, me = t + n * b;
    unsigned x = mix(number(in[{k.read("me")}]), me + args.a);
    (void)lane, (void)dynamic;
    auto end = [&] {{
        out[{k.write("me")}] = make<{k.type}>(x);
        sink[me] = mix(sink[me], x);
    }};
{body}    end();
}}
"""

    def text(self):
        lines = [
            f"unsigned h = {self.seed}, *sink = nullptr, constants[16];",
            "cudaStream_t s[5] = {};",
            "for (int i = 1; i < 5; i++) OK(cudaStreamCreateWithFlags(&s[i], i < 3 ? cudaStreamDefault : cudaStreamNonBlocking));",
            f"cudaEvent_t e[{self.events + 1}];",
            "for (auto &event : e) OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));",
            "volatile int *flag = nullptr; OK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));",
            f"std::vector<{self.type}> v({self.all});",
            "for (int i = 0; i < 16; i++) constants[i] = i * i + h;",
            "OK(cudaMemcpyToSymbol(table, constants, sizeof constants));",
            f"OK(cudaMalloc(&sink, {self.all} * sizeof *sink));",
            mark("unwritten", f"OK(cudaMemset(sink, 0, {self.all} * sizeof *sink));"),
            *self.begin,
            "OK(cudaDeviceSynchronize());",
            *self.steps,
            "OK(cudaDeviceSynchronize());",
            *self.end,
            f"std::vector<unsigned> sunk({self.all});",
            f"OK(cudaMemcpy(sunk.data(), sink, {self.all} * sizeof *sink, cudaMemcpyDeviceToHost));",
            "for (unsigned v : sunk) h = mix(h, v);",
            "OK(cudaFree(sink)); OK(cudaFreeHost((void *)flag));",
            "for (auto event : e) OK(cudaEventDestroy(event));",
            "for (int i = 1; i < 5; i++) OK(cudaStreamDestroy(s[i]));",
            "return h;",
        ]
        run = "".join(f"    {line}\n" for line in lines if line)
        parts = "".join(d + "\n" for d in self.declared) + "".join(map(self.kernel_text, self.kernels))
        return f"namespace seed_{self.seed} {{\n__constant__ unsigned table[16];\n{parts}static unsigned run()\n{{\n{run}}}\n}}\n"


# ---- What is asked of this file


def render(text, broken=None):
    """A program's text, and the kinds of what can be broken in it; the one with this number is."""
    kinds = [match[1] for match in MARK.finditer(text)]
    numbers = iter(range(len(kinds)))
    is_broken = lambda: broken is not None and next(numbers) == broken % len(kinds)
    return MARK.sub(lambda match: match[3] if is_broken() else match[2], text), kinds


def source(seeds, broken=None):
    """The programs of these seeds in one file, of which argv[1] chooses one."""
    programs = "".join(render(Program(seed).text(), broken)[0] for seed in seeds)
    call = '    if (argc < 2 || atoi(argv[1]) == {0}) printf("{0} %08x\\n", seed_{0}::run());\n'
    calls = "".join(call.format(seed) for seed in seeds)
    return PRELUDE + programs + f"int main(int argc, char **argv)\n{{\n{calls}}}\n"


def compiled(nvcc, folder, seeds, broken=None):
    program = f"{folder}/{seeds[0]}_{broken}"
    with open(program + ".cu", "w") as file:
        file.write(source(seeds, broken))
    subprocess.run([*nvcc, "-o", program, program + ".cu"], check=True)
    return program


def said(program, *seed, **settings):
    """Exit status, numbers, messages."""
    command, settings = ["timeout", "60", program, *map(str, seed)], {**os.environ, **settings}
    run = subprocess.run(command, capture_output=True, text=True, env=settings)
    return run.returncode, run.stdout, run.stderr.replace(FIRST_LINE, "")


def answers(nvcc, seeds):
    with tempfile.TemporaryDirectory() as folder:
        return said(compiled(nvcc, folder, seeds))[1]


def complaints(nvcc, seeds, wanted):
    """Right programs have to print what a GPU printed, and nothing else; broken ones have a message, or fail. The
    stand-in has to say the same with its short cuts and without them, in whatever order threads run. And which broken
    ones are silent."""
    draw, wrong, silent = random.Random(seeds[0]), [], []
    broken, order = draw.randrange(1000), draw.choice("0012")
    ways = [{"CPU_CUDA_SHORT_CUTS": way, "CPU_CUDA_SEED": order} for way in "10"]
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(nvcc, folder, seeds)
        for seed, way in itertools.product(seeds, ways):
            run = said(program, seed, **way)
            if run != (0, f"{seed} {wanted[seed]}\n", ""):
                wrong.append(f"draw.py {seed}, {way}: {run}, wanted {wanted[seed]}")
        if os.environ.get("TEST_BACKEND") == "cuda":
            return wrong, silent
        program = compiled(nvcc, folder, seeds, broken)
        for seed in seeds:
            runs = [said(program, seed, **way) for way in ways]
            told = [status != 0 or messages != "" for status, _, messages in runs]
            if told != [True, True]:
                text = f"draw.py {seed} --break {broken}, CPU_CUDA_SEED={order}: not a word"
                (wrong if any(told) else silent).append(text + " one way of two" * any(told))
    return wrong, silent


def in_groups(work, nvcc, seeds, *more):
    groups = [seeds[i : i + 10] for i in range(0, len(seeds), 10)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda group: work(nvcc, group, *more), groups))


def main(first, *rest):
    if first == "answers":
        sys.stdout.writelines(in_groups(answers, rest[2:], range(int(rest[0]), int(rest[1]) + 1)))
    elif first == "check":
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "drawn.txt")) as file:
            wanted = {int(seed): number for seed, number in map(str.split, file)}
        order = random.Random(1).sample(range(1, 2001), 2000)  # always the same: 30 are the first of 200
        seeds = [seed for seed in order[: int(rest[0])] if seed in wanted]
        wrong, silent = (sum(lists, []) for lists in zip(*in_groups(complaints, rest[1:], seeds, wanted)))
        print(*silent, sep="\n")
        sys.exit("\n".join(wrong + silent * (len(silent) > 1 + len(seeds) // 100)) or None)
    else:
        seeds, broken = (rest[:-2], int(rest[-1])) if "--break" in rest else (rest, None)
        print(source([int(first), *map(int, seeds)], broken), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
