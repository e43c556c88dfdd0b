"""Draws CUDA programs that are right by construction and whose threads communicate; a seed gives a program.

draw.py SEED...            one program of these; it prints "SEED NUMBER" for each
draw.py SEED --break K     the K-th of the things that can be broken in it (modulo their count) is broken
draw.py SEED --breaks      what can be broken: a word each
draw.py --answers NVCC FIRST LAST    what they print, compiled by this nvcc: on a GPU, the lines of drawn.txt

A program has one array, which goes from step to step: host code, copies and kernels, in streams, in several kinds of
memory. Each step comes after the one before it. A kernel is made of ingredients: functions that return code in which
threads tell each other numbers. A part that can be broken is written as mark(kind, right, wrong) where it is known, by
what was drawn, that it matters: somebody else wrote what is read, and nothing but this part says which comes first.
"""

import argparse
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
    template <> struct As<T> { \
        static HD T make(unsigned v) { return made; } \
        static HD unsigned number(const T &r) { return numbered; } \
    };
struct Three { unsigned char a, b, c; };
struct Short { short a; unsigned char b; };
struct Gap { signed char a; int b; short c; };
struct Tail { double a; short b; };
struct Five { int a[5]; };
AS(long long, (long long)v << 32 | (v ^ 77), (unsigned)(r >> 32) ^ (unsigned)r * 3)
AS(unsigned long long, (unsigned long long)v << 32 | (v ^ 77), (unsigned)(r >> 32) ^ (unsigned)r * 3)
AS(float, (float)(v >> 8), (unsigned)r)
AS(double, (double)v, (unsigned)r)
AS(uchar2, make_uchar2(v, v >> 8), r.x * 256 + r.y)
AS(short2, make_short2(v, v >> 16), mix(r.x, r.y))
AS(int2, make_int2(v, v >> 7), mix(r.x, r.y))
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
struct Args { unsigned char a; double b; unsigned c[3]; };
"""
TYPES = (
    "unsigned char,signed char,short,unsigned short,int,unsigned,long long,unsigned long long,float,double,uchar2,short2,"
    "int2,float2,int3,uchar4,float4,double2,Three,Short,Gap,Tail,Five"
).split(",")
BLOCKS = [(32,), (64,), (96,), (128,), (192,), (256,), (40,), (8, 4), (16, 6), (4, 5, 4), (33,), (20,), (2, 3, 16)]
COUNTERS = {
    "int": "Add Sub Min Max And Or Xor",
    "unsigned": "Add Sub Min Max And Or Xor Inc Dec",
    "unsigned long long": "Add Min Max And Or Xor",
    "long long": "Min Max",
    "float": "Add",
    "double": "Add",
}
PLAIN = {"Add": "+=", "Sub": "-=", "Xor": "^="}  # what changes its counter whatever is there
HOST = "host"
BLOCKING = {0, 1, 2}  # these streams and the default stream, 0, wait for each other; 3 and 4 are apart


def mark(kind, right, wrong="", matters=True):
    return f"«{kind}¦{right}¦{wrong}»" if matters else right


class Map:
    """A function of a thread's number t and its block's number b: written in C, and known here."""

    def __init__(self, text):
        self.text = text

    def __call__(self, t="t", b="b"):
        return "(" + self.text.format(t=t, b=b) + ")"

    def at(self, t, b=0):
        python = self.text.replace("/", "//").replace("&&", "and").replace("||", "or")
        return int(eval(python.format(t=f"({t})", b=b)))


class Kernel:
    """What an ingredient asks: who is there, and what was drawn before."""

    def __init__(self, program, name):
        self.program, self.name, self.d = program, name, program.d
        self.n, self.blocks = program.n, range(program.blocks)
        self.stays = None  # which threads are left, after some have returned
        self.dynamic, self.is_cooperative, self.is_dynamic_used = 0, False, False
        ingredients = self.d.choices(list(INGREDIENTS), INGREDIENTS.values(), k=self.d.randint(2, 5))
        texts = [ingredient(self) for ingredient in ingredients]
        self.body = "".join(t if t.startswith("const") else f"{{\n{t}}}\n" for t in texts if t)

    def alive(self, b):
        return [t for t in range(self.n) if not self.stays or self.stays.at(t, b)]

    def ok(self, r, group=None):
        """Whether thread r has a number to give: it is there, has not left, and is in the group."""
        parts = [f"{r} < n"] + [m(r) for m in (self.stays, group) if m]
        return " && ".join(parts)

    def permutation(self, n, moved=False):
        d, low = self.d, n & -n
        ways = [f"({{t}} + {d.randrange(1, n)}) % {n}", f"{n - 1} - {{t}}"]
        stride = d.choice([k for k in range(1, n) if math.gcd(k, n) == 1])
        ways.append(f"({{t}} * {stride} + {d.randrange(n)}) % {n}")
        if low > 1:
            ways.append(f"{{t}} ^ {d.randrange(1, low)}")
        if not moved:
            ways.append("{t}")
        return Map(d.choice(ways))

    def barrier(self, matters):
        text = self.d.choice(["__syncthreads();"] * 4 + [
            f"x += __syncthreads_count(x & {self.d.choice([1, 6])});", "x += __syncthreads_or(x % 9 == 0);",
            "x += __syncthreads_and(x % 7 < 6);", "cg::this_thread_block().sync();", "cg::sync(cg::this_thread_block());"])
        return mark("barrier", text, "", matters) + "\n"

    def full_mask(self):
        """Of a warp whose threads are all asked; those that have left are not waited for."""
        choices = ["~0u", "0xffffffff"] + ["alive"] * (self.stays is not None)
        return self.d.choice(choices)


# ---- Ingredients of a kernel. x is the thread's number, which each of them changes by what others have told.


def exchange(k):
    """Threads of a block, a warp, a tile or the grid read and write an array: other elements in each action. A barrier
    stands between two actions if one touches what another thread writes in the other; only then it matters."""
    d = k.d
    scope = d.choice(["block"] * 4 + ["warp", "tile"] + ["grid"] * (not k.stays and not k.program.is_split))
    per = d.choice([1, 1, 1, 2]) if scope == "block" and not k.stays else 1
    g = {"block": k.n * per, "grid": k.program.all}.get(scope) or d.choice([4, 8, 16, 32])
    scope = "warp" if scope == "tile" and k.n % g else scope
    u, text, i = d.choice(TYPES), "", {"block": "t", "grid": "me"}.get(scope, f"t % {g}")
    groups = [range(b * k.n, b * k.n + k.n) for b in k.blocks]  # of threads, which are numbered in the grid
    alive = {b * k.n + t for b in k.blocks for t in k.alive(b)}
    if scope == "grid":
        groups, k.is_cooperative = [range(k.program.all)], True
    elif scope != "block":
        groups = [block[w : w + g] for block in groups for w in range(0, k.n, g)]
    where = "global" if scope == "grid" else d.choice(["static", "static", "dynamic", "global"])
    size = k.n * per if scope in ("block", "grid") else (k.n + g - 1) // g * g
    if where == "static":
        text += f"__shared__ {u} s[{mark('bound', size, size - 1, not k.stays and size == k.n * per)}];\n"
    elif where == "dynamic":
        text += (k.barrier(False) if k.is_dynamic_used else "") + f"{u} *s = ({u} *)dynamic;\n"
        k.dynamic, k.is_dynamic_used = max(k.dynamic, size * SIZES[u]), True
    else:
        text += f"{u} *s = {k.program.work(u, size)}{'' if scope == 'grid' else f' + b * {size}'};\n"
    if scope == "tile":
        text += f"auto tile = cg::tiled_partition<{g}>(cg::this_thread_block());\n"
    base = "" if scope in ("block", "grid") else f"t - t % {g} + "
    each = f"for (unsigned i = t; i < {g}; i += n) " if per > 1 else ""
    i = "i" if per > 1 else i
    place = k.permutation(g)
    touched = {}  # since the last barrier: (group, element) -> those who have read it, those who have written it

    def barrier(matters):
        touched.clear()
        if scope == "block":
            return k.barrier(matters)
        sync = {"grid": "cg::this_grid().sync();", "tile": "tile.sync();"}.get(scope, f"__syncwarp({k.full_mask()});")
        return mark(scope + "-barrier", sync, "", matters) + "\n"

    def action(kind, turn, only):
        """Code, and what each thread touches."""
        there = k.ok(f"({base}r)") if base else k.stays("r") if k.stays else ""
        guard = " && ".join(c for c in (there, only and only(i)) if c)
        code = {
            "write": f"s[{{e}}] = make<{u}>(x + {d.randint(1, 99)} * r);",
            "read": "x = mix(x, number(s[{e}]));",
            "update": f"s[{{e}}] = make<{u}>(number(s[{{e}}]) + x);",
        }[kind].format(e=base + place("r"))
        touches = []
        for group_number, group in enumerate(groups):
            for me in (m for m in group if m in alive):
                for j in range((me - group[0]), g, k.n) if per > 1 else [me - group[0]]:
                    other = turn.at(j)
                    if (not only or only.at(j)) and (per > 1 or other < len(group) and group[other] in alive):
                        touches.append((group_number, place.at(other), me))
        return f"{each}{{ unsigned r = {turn(i)}; {f'if ({guard}) ' if guard else ''}{code} }}\n", touches

    own = Map("{t}")
    turn = own
    for number in range(d.randint(3, 8)):
        kind = d.choice(["write", "read", "read", "update"]) if number else "write"
        turn = (d.choice([k.permutation(g, True), turn]) if d.random() < 0.5 else Map(f"({{t}} + {d.choice([1, 1, g - 1, 2])}) % {g}")) if number else own
        some = ["{t} % 3 == 1", "{t} % 2 == 0", "{t} % 4 < 2", f"{{t}} < {g // 2 + 1}", "{t} / 16 % 2 == 0"]
        only = Map(d.choice(some)) if number and d.random() < 0.4 else None
        code, touches = action(kind, turn, only)
        clash = False
        for group, element, me in touches:
            readers, writers = touched.get((group, element), (set(), set()))
            clash = clash or bool(writers - {me}) or kind != "read" and bool(readers - {me})
        if clash or d.random() < 0.1:
            text += barrier(clash)
        for group, element, me in touches:
            readers, writers = touched.setdefault((group, element), (set(), set()))
            (readers if kind == "read" else writers).add(me)
        text += code
    return text


def histogram(k):
    """Counters of the block, which all its threads change in any order."""
    d = k.d
    firsts = {min(k.alive(b), default=None) for b in k.blocks}
    if len(firsts) > 1 or None in firsts:
        return ""
    c = d.choice(list(COUNTERS))
    op = d.choice(COUNTERS[c].split())
    m = d.choice([1, 3, 5])
    busy = all(len(k.alive(b)) > 2 * m for b in k.blocks)
    if d.random() < 0.7:
        text = f"__shared__ {c} h[{mark('bound', m, m - 1, m > 1)}];\n"
    else:
        text = f"{c} *h = {k.program.work(c, m)} + b * {m};\n"
    value = f"({c})(x % 64)" if c in ("float", "double") else "x % 99" if op in ("Inc", "Dec") else f"({c})(x | 1)"
    value = "99u" if op in ("Inc", "Dec") else value
    scope = d.choice(["", "", "_block", "_system"])
    cas = c in ("int", "unsigned", "unsigned long long") and op == "Max" and d.random() < 0.5
    text += f"if (t == {firsts.pop()}) for (int i = 0; i < {m}; i++) h[i] = {d.choice([0, 1, 7])};\n" + k.barrier(busy)
    at = f"h[t * {d.choice([1, 7])} % {m}]"
    if cas:
        text += f"{{ {c} *a = &{at}, v = {value}, seen = *{d.choice(['', f'(volatile {c} *)'])}a, was; do was = seen, seen = atomicCAS(a, was, v > was ? v : was); while (seen != was); }}\n"
    else:
        plain = f"{at} {PLAIN.get(op)} {value};"
        value_ok = busy and op in PLAIN
        if c in ("float", "double"):
            value = f"({c})(1 + x % 63)"
            plain = f"{at} += {value};"
        text += mark("atomic", f"atomic{op}{scope}(&{at}, {value});", plain, value_ok) + "\n"
    text += k.barrier(busy) + f"x = mix(x, number(h[(t + 1) % {m}]));\n"
    return text


def compact(k):
    """Some threads each take a place in a list, in any order; all add up the list."""
    firsts = {min(k.alive(b), default=None) for b in k.blocks}
    if len(firsts) > 1 or None in firsts:
        return ""
    first, some = firsts.pop(), k.d.choice([1, 2, 3])
    several = all(sum(t % some == 0 for t in k.alive(b)) > 2 for b in k.blocks)
    return (
        f"__shared__ unsigned count, list[{k.n}];\nif (t == {first}) count = 0;\n"
        + k.barrier(several)
        + f"if (t % {some} == 0) list["
        + mark("atomic", "atomicAdd(&count, 1)", "count++", several)
        + "] = x;\n"
        + k.barrier(several)
        + "{ unsigned sum = 0; for (unsigned i = 0; i < count; i++) sum += list[i]; x = mix(x, sum); }\n"
    )


def tree(k):
    """A sum in shared memory, by halves."""
    if k.stays:
        return ""
    u = k.d.choice(["int", "unsigned", "long long", "unsigned short", "double"])
    return (
        f"__shared__ {u} s[{k.n}];\ns[t] = ({u})(x % 1000);\n"
        + k.barrier(False)
        + f"for (unsigned m = n; m > 1;) {{\n    unsigned h = (m + 1) / 2;\n    if (t + h < m) s[t] += s[t + h];\n    m = h;\n    "
        + mark("barrier", "__syncthreads();", "", k.n > 2)
        + "\n}\nx = mix(x, number(s[0]));\n"
    )


def group_of(k):
    """Perhaps some lanes only: a condition, and the mask that names them; another mask, which is wrong."""
    d = k.d
    if d.random() < 0.5:
        full = k.full_mask()
        return None, mark("mask", full, "0xffff", any(t % 32 > 15 for b in k.blocks for t in k.alive(b)) and full != "alive")
    group = Map(d.choice(["{t} % 2 == 0", "{t} % 32 < 7", "{t} % 32 >= 11", "{t} % 3 == 1", "{t} / 8 % 2 == 1", "({t} ^ {t} / 4) % 2 == 0"]))
    period = 96 if "% 3" in group.text else 32
    if period == 96 and k.n > 32:
        group = Map("{t} % 32 % 3 == 1")
    mask = sum(1 << lane for lane in range(32) if group.at(lane))
    inside = [t % 32 for t in k.alive(0) if group.at(t)]
    wrong = mask & ~(1 << d.choice(inside)) if inside else mask
    return group, mark("mask", hex(mask), hex(wrong), bool(inside) and len(set(inside)) > 1)


def in_group(group, text):
    return f"if ({group()}) {{\n{text}}}\n" if group else text


def shuffles(k):
    """A lane gets another one's number, if that one has a number to give."""
    d = k.d
    group, mask = group_of(k)
    text = ""
    for _ in range(d.randint(1, 3)):
        w, v = d.choice([2, 4, 8, 16, 32, 32]), d.choice(["int", "unsigned", "float", "double", "long long", "unsigned long long"])
        how = d.choice(["", "up", "down", "xor"])
        a = d.randrange(-40, 80) if not how else d.choice([d.randrange(w), d.randrange(w), d.randrange(32), -1 if how == "xor" else 1])
        source = {
            "": f"(lane & {-w & 31}u) | ({a} & {w - 1})",
            "up": f"(lane & {w - 1}) >= {a} ? lane - {a} : lane",
            "down": f"(lane & {w - 1}) + {a} < {w} ? lane + {a} : lane",
            "xor": f"(lane ^ {a & 31}) < (lane & {-w & 31}u) + {w} ? lane ^ {a & 31} : lane",
        }[how]
        call = f"__shfl_{how}{'_' if how else ''}sync({mask}, make<{v}>(x), {a}{', ' + str(w) if w < 32 else ''})"
        text += f"{{ {v} y = {call}; unsigned r = t - lane + ({source}); if ({k.ok('r', group)}) x = mix(x, number(y)); }}\n"
        mask = mask if "«" not in mask else mask.split("¦")[1]  # one of them can be broken
    return in_group(group, text)


def votes(k):
    d = k.d
    group, mask = group_of(k)
    text = ""
    for _ in range(d.randint(1, 3)):
        if d.random() < 0.5:
            text += d.choice([
                f"x = mix(x, __ballot_sync({mask}, x & {d.choice([1, 2, 12])}));\n",
                f"x = mix(x, __any_sync({mask}, x % 11 == 0));\n",
                f"x = mix(x, __all_sync({mask}, x % 11));\n",
                f"x = mix(x, __match_any_sync({mask}, {d.choice(['x % 4', '(long long)(x % 3) << 40', '(float)(x & 1)', 't / 2'])}));\n",
                f"{{ int all; unsigned m = __match_all_sync({mask}, {d.choice(['x % 2', 't / 32', '(double)(t / 64)'])}, &all); x = mix(x, m + all); }}\n",
            ])
        else:
            op = d.choice(["add", "min", "max", "and", "or", "xor"])
            cast = d.choice(["unsigned", "int"]) if op in ("add", "min", "max") else "unsigned"
            text += f"x = mix(x, __reduce_{op}_sync({mask}, ({cast})x));\n"
        mask = mask if "«" not in mask else mask.split("¦")[1]
    return in_group(group, text)


def tiles(k):
    """Cooperative groups: tiles of a warp, and what a tile is taken apart into."""
    d, size = k.d, k.d.choice([4, 8, 16, 32])
    if k.n % size:
        return ""
    text = f"auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());\nx += tile.thread_rank() + tile.size() * tile.meta_group_rank();\n"
    a = d.randrange(size)
    r = {"shfl": f"{a}", "shfl_xor": f"(lane % {size}) ^ {a}", "shfl_up": f"lane % {size} >= {a} ? lane % {size} - {a} : lane % {size}",
         "shfl_down": f"lane % {size} + {a} < {size} ? lane % {size} + {a} : lane % {size}"}
    for _ in range(d.randint(1, 3)):
        way = d.choice([*r, "ballot", "any", "all", "match_any", "reduce", "labels", "half"])
        if way in r:
            text += f"{{ unsigned y = tile.{way}(x, {a}), r = t - t % {size} + ({r[way]}); if ({k.ok('r')}) x = mix(x, y); }}\n"
        elif way in ("ballot", "any", "all"):
            text += f"x = mix(x, tile.{way}(x % {d.choice([2, 5])} == 0));\n"
        elif way == "match_any":
            text += "x = mix(x, tile.match_any(x % 3));\n"
        elif not k.stays and way == "reduce":
            op = d.choice(["plus", "less", "greater", "bit_xor", "bit_and", "bit_or"])
            c = d.choice(["int", "unsigned"])
            text += f"x = mix(x, cg::reduce(tile, ({c})x, cg::{op}<{c}>()));\n"
        elif not k.stays and way in ("labels", "half"):
            part = "labeled_partition(tile, (int)(x % 3))" if way == "labels" else "binary_partition(tile, x % 3 == 0)"
            text += f"{{ auto part = cg::{part}; x = mix(x, part.size() * 64 + part.thread_rank() + part.shfl(x, 0)); }}\n"
    return text


def aggregated(k):
    """One lane adds for all that are in the branch, however many come at once."""
    counter = k.program.counter("unsigned", k.d)
    return (
        f"if (x % {k.d.choice([2, 3])} == 0) {{\n    auto g = cg::coalesced_threads();\n"
        f"    if (g.thread_rank() == 0) atomicAdd(&{counter}, g.size());\n    g.sync();\n}}\n"
    )


def totals(k):
    """Counters of all blocks; the host reads them at the end."""
    d = k.d
    c = d.choice(list(COUNTERS))
    op = d.choice(COUNTERS[c].split())
    counter = k.program.counter(c, d, d.choice([1, 4]), -1 if op == 'And' else 1000003 if op == 'Min' else 0)
    busy = sum(len(k.alive(b)) for b in k.blocks) > 9
    value = f"({c})(1 + x % 63)" if c in ("float", "double") else "99u" if op in ("Inc", "Dec") else f"({c})(x | 1)"
    return mark("atomic", f"atomic{op}(&{counter}, {value});", f"{counter} {PLAIN.get(op)} {value};", op in PLAIN and busy) + "\n"


def last_block(k):
    """Each block hands over a number; the one that comes last adds them up."""
    if k.stays or k.program.is_split:
        return ""
    d = k.d
    u = d.choice(["unsigned", "unsigned long long", "unsigned short"])
    partial, count, result = k.program.work(u, 1), k.program.counter("unsigned", d), k.program.counter("unsigned", d)
    fence = mark("fence", "__threadfence();", "", len(k.blocks) > 1)
    return (
        f"__shared__ bool is_last;\nif (t == {k.n - 1}) {{\n    {partial}[b] = ({u})x;\n    {fence}\n"
        f"    is_last = atomic{d.choice(['Inc', 'Add'])}(&{count}, {'%d' % (len(k.blocks) - 1)}) == {len(k.blocks) - 1};\n    {d.choice(['__threadfence();', ''])}\n}}\n"
        "__syncthreads();\nif (is_last && t == 0) {\n    unsigned sum = 0;\n"
        f"    for (unsigned i = 0; i < {len(k.blocks)}; i++) sum += number({d.choice(['', '(' + u + ')*(volatile ' + u + ' *)&'])}{partial}[i]);\n"
        f"    {result} += sum;\n}}\n"
    ).replace(f"atomicAdd(&{count}, {len(k.blocks) - 1}) ==", f"atomicAdd(&{count}, 1) % {len(k.blocks)} ==")


def flags(k):
    """A block waits for the one before it, and takes what that has handed over."""
    if k.stays or k.program.is_split:
        return ""
    d, u = k.d, k.d.choice(TYPES)
    data, flag = k.program.work(u, 1), k.program.counter("unsigned", d, len(k.blocks)).split("[")[0]
    k.program.once(k)
    look = d.choice([f"((volatile unsigned *){flag})[b - 1] == 0", f"atomicAdd(&{flag}[b - 1], 0) == 0"])
    say = d.choice([f"((volatile unsigned *){flag})[b] = 1;", f"atomicExch(&{flag}[b], 1);"])
    wait = mark("flag", f"while ({look}) continue;", "", len(k.blocks) > 1)
    return (
        f"if (t == {d.choice([0, k.n - 1])}) {{\n    if (b > 0) {{\n        {wait}\n        __threadfence();\n"
        f"        x = mix(x, number({data}[b - 1]));\n    }}\n    {data}[b] = make<{u}>(x);\n    __threadfence();\n    {say}\n}}\n"
    )


def lock(k):
    """A lock, taken by a thread of each block."""
    d = k.d
    if k.program.is_split:
        return ""
    l, total = k.program.counter("int", d), k.program.counter("unsigned", d)
    first = min(k.alive(0), default=0)
    take = mark("lock", f"while (atomicCAS(&{l}, 0, 1) != 0) continue;", "", len(k.blocks) > 1 and not k.stays)
    return f"if (t == {first}) {{\n    {take}\n    __threadfence();\n    {total} += x | 1;\n    __threadfence();\n    atomicExch(&{l}, 0);\n}}\n"


def leave(k):
    """Some threads return, the others go on without them."""
    if k.stays or k.d.random() < 0.3:
        return ""
    n = k.n
    k.stays = Map(k.d.choice([f"{{t}} < {k.d.randrange(1, n)}", "{t} % 32 < 20", "{t} % 32 >= 9", "{t} % 3 != 1",
                              "({t} ^ {b}) % 4 != 0", "{t} * 7 % 11 < 6", "{t} / 32 != 1", "{t} % 8 < 5"]))
    if any(not k.alive(b) for b in k.blocks):
        k.stays = Map("{t} % 8 < 5")
    return f"const unsigned alive = __ballot_sync(~0u, {k.stays()});\n(void)alive;\nif (!{k.stays()}) {{\n    end();\n    return;\n}}\n"


def numbers(k):
    """Arithmetic, whose last bits are told, too: a product and a sum are one operation."""
    d = k.d
    f = d.choice(["float", "double"])
    a, b, c = (f"({f})({e})" for e in ("x % 1000 + 1", "x / 1000 % 1000 + 1", "x >> 20"))
    value = d.choice(["a * b + c", "a * b - c", "c - a * b", "a / b", "sqrt(a)", "fma(a, c, b)", "a / b * c + a", "(a - c) / (b + 1)",
                      "fmax(a, c) * b + fmin(a, b)", "floor(a / 7) + rint(b / 3)"])
    return f"{{ {f} a = {a}, b = {b}, c = {c}, y = {value} / 3; x = mix(x, (unsigned)(a + b + c)); x = mix(x, (unsigned)__double_as_longlong(y) ^ (unsigned)(__double_as_longlong(y) >> 29)); }}\n"


def local(k):
    """A thread's own array, a function of its own, loops of different lengths."""
    d = k.d
    size = d.randint(3, 7)
    return d.choice([
        f"unsigned own[{size}];\nfor (int i = 0; i < {size}; i++) own[i] = x * i;\nfor (unsigned i = 0; i < lane % 9; i++) own[{mark('local', f'i % {size}', f'i', k.n > 9 and size < 7 and not k.stays)}] += i;\nfor (int i = 0; i < {size}; i++) x = mix(x, own[i]);\n",
        f"auto f = [=](unsigned v) {{ return v * {d.randint(3, 99)} + args.c[v % 3]; }};\nfor (unsigned i = 0; i < t % 5; i++) x = f(x);\n",
        "switch (x % 4) {\n    case 0: x += t; break;\n    case 1: x = __popc(x) + args.a;\n    case 2: x = __brev(x); break;\n    default: x ^= (unsigned)args.b;\n}\n",
        "x = mix(x, table[x % 16]);\n",
    ])


INGREDIENTS = {
    exchange: 8, histogram: 3, compact: 1, tree: 1, shuffles: 4, votes: 4, tiles: 3, aggregated: 1, totals: 2,
    last_block: 1, flags: 1, lock: 1, leave: 4, numbers: 2, local: 2,
}  # fmt: skip


# ---- A program


class Program:
    def __init__(self, seed):
        self.seed, self.d = seed, random.Random(seed)
        d = self.d
        self.type = d.choice(TYPES)
        self.block = d.choice(BLOCKS)
        self.grid = d.choice([(1,), (2,), (3,), (4,), (2, 2)])
        self.n = eval("*".join(map(str, self.block)))
        self.blocks = eval("*".join(map(str, self.grid)))
        self.all = self.n * self.blocks
        self.is_split = len(self.grid) == 1 and self.blocks > 1 and d.random() < 0.4  # between two streams
        self.declared, self.begin, self.steps, self.end = [], [], [], []
        self.count, self.events, self.kernels = 0, 0, []
        self.counters, self.only_once = [], set()
        self.rooms = [self.room() for _ in range(d.randint(2, 3))]
        self.make_steps()

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def host(self, text):
        self.steps.append(text)

    def ok(self, call):
        return f"OK({call});"

    # ---- Memory

    def work(self, u, per_block):
        """An array in device memory, for the kernels' own use; nobody has written it yet."""
        name = self.name("work")
        self.declared.append(f"static __device__ {u} *{name};")
        self.begin.append(f"{u} *{name}_ = nullptr;")
        size = per_block * self.blocks
        bytes = f"{mark('bound', size, size - 1, False)} * sizeof({u})"
        self.begin.append(f"OK(cudaMalloc(&{name}_, {bytes})); OK(cudaMemcpyToSymbol({name}, &{name}_, sizeof {name}_));")
        self.end.append(f"OK(cudaFree({name}_));")
        return name

    def counter(self, c, d, size=1, value=0):
        """Numbers that atomics of all blocks change."""
        first = ", ".join([f"({c}){value}"] * size)
        name = self.name("total")
        if d.random() < 0.3 and not self.is_split:
            self.declared.append(f"__managed__ {c} {name}[{size}] = {{{first}}};")
            self.end.insert(0, f"for (auto &v : {name}) h = mix(h, number(v));")
        else:
            self.declared.append(f"__device__ {c} {name}[{size}] = {{{first}}};")
            copy = d.choice([f"OK(cudaMemcpyFromSymbol(r, {name}, sizeof r));",
                             f"void *p; OK(cudaGetSymbolAddress(&p, {name})); OK(cudaMemcpy(r, p, sizeof r, cudaMemcpyDefault));"])
            self.end.insert(0, f"{{ {c} r[{size}]; {copy} for (auto &v : r) h = mix(h, number(v)); }}")
        return f"{name}[{'t % ' + str(size) if size > 1 else 0}]"

    def once(self, kernel):
        self.only_once.add(kernel)

    def room(self):
        """Memory for the array that goes from step to step."""
        d, name, t = self.d, self.name("room"), self.type
        kind = d.choice(["device", "device", "device", "async", "managed", "pinned", "mapped", "registered", "variable", "managed variable"])
        size = f"{mark('bound', self.all, self.all - 1, kind in ('device', 'async', 'pinned', 'managed'))} * sizeof({t})"
        declare = f"{t} *{name} = nullptr; "
        begin, end = {
            "device": (f"OK(cudaMalloc(&{name}, {size}));", f"OK(cudaFree({name}));"),
            "async": (f"OK(cudaMallocAsync(&{name}, {size}, s[3])); OK(cudaStreamSynchronize(s[3]));",
                      f"OK(cudaFreeAsync({name}, s[1])); OK(cudaStreamSynchronize(s[1]));"),
            "managed": (f"OK(cudaMallocManaged(&{name}, {size}));", f"OK(cudaFree({name}));"),
            "pinned": (f"OK(cudaMallocHost(&{name}, {size}));", f"OK(cudaFreeHost({name}));"),
            "mapped": (f"OK(cudaHostAlloc(&{name}, {size}, cudaHostAllocMapped));", f"OK(cudaFreeHost({name}));"),
            "registered": (f"{name} = ({t} *)aligned_alloc(4096, 65536); OK(cudaHostRegister({name}, 65536, cudaHostRegisterDefault));",
                           f"OK(cudaHostUnregister({name})); free({name});"),
            "variable": (f"OK(cudaGetSymbolAddress((void **)&{name}, {name}_));", ""),
            "managed variable": (f"{name} = {name}_;", ""),
        }[kind]  # fmt: skip
        if "variable" in kind:
            self.declared.append(f"__{'managed' if kind[0] == 'm' else 'device'}__ {t} {name}_[{self.all}];")
        self.begin.append(declare + begin)
        self.end.append(end)
        return name, kind

    def is_of_host(self, room):
        return room[1] in ("managed", "pinned", "mapped", "registered", "managed variable")

    # ---- Steps: each in one stream or two, or on the host

    def make_steps(self):
        d = self.d
        self.last, self.cur = [HOST], None
        fill = self.rooms[0]
        self.fill(fill)
        ways = d.choices([self.kernel, self.copy, self.on_host, self.callback, self.set_part], [6, 2, 1, 1, 1], k=d.randint(2, 6))
        for way in [self.kernel, *ways]:
            if d.random() < 0.3:
                self.aside()
            way()
        self.read()

    def event(self):
        if self.events and self.d.random() < 0.3:
            return f"e[{self.d.randrange(self.events)}]"
        self.events += 1
        return f"e[{self.events - 1}]"

    def order(self, to, matters=True):
        """The next step, in these streams or on the host, comes after the last one."""
        d = self.d
        lasts = [s for s in self.last if s != HOST]
        if len(to) == 1 and len(lasts) == 1 or to == [HOST]:
            for s in lasts:
                if s == to[0] or {s, to[0]} <= BLOCKING and 0 in (s, to[0]):
                    continue
                e = self.event()
                ways = [f"OK(cudaStreamSynchronize(s[{s}]));", f"OK(cudaEventRecord({e}, s[{s}])); OK(cudaEventSynchronize({e}));",
                        f"OK(cudaEventRecord({e}, s[{s}])); while (cudaEventQuery({e}) == cudaErrorNotReady) continue;",
                        f"while (cudaStreamQuery(s[{s}]) == cudaErrorNotReady) continue;"] + ["OK(cudaDeviceSynchronize());"] * (len(lasts) == 1)  # fmt: skip
                if to != [HOST]:
                    ways += [f"OK(cudaEventRecord({e}, s[{s}])); OK(cudaStreamWaitEvent(s[{to[0]}], {e}));"] * 4
                self.host(mark("wait", d.choice(ways), "", matters))
        else:
            for s in lasts:
                e = self.event()
                record = False
                for q in to:
                    if s == q or {s, q} <= BLOCKING and 0 in (s, q):
                        continue
                    if not record:
                        self.host(f"OK(cudaEventRecord({e}, s[{s}]));")
                    record = True
                    self.host(mark("wait", f"OK(cudaStreamWaitEvent(s[{q}], {e}, 0));", "", matters and len(to) == 1))
        self.last = to

    def stream(self):
        return [self.d.randrange(5)]

    def fill(self, room):
        d, (name, kind), t = self.d, room, self.type
        self.cur = room
        host = f"for (int i = 0; i < {self.all}; i++) {{}}[i] = make<{t}>(i * {d.randint(1, 10**6)}u + {d.randint(1, 99)});"
        unwritten = kind in ("device", "async")
        self.host(host.format("v"))
        if self.is_of_host(room) and d.random() < 0.6:
            self.host(host.format(name))
            return
        s = self.stream()
        self.order(s)
        if d.random() < 0.5:
            kind = d.choice(["cudaMemcpyHostToDevice", "cudaMemcpyDefault"]) if not self.is_of_host(room) else "cudaMemcpyDefault"
            self.host(mark("unwritten", f"OK(cudaMemcpyAsync({name}, v.data(), {self.all} * sizeof({t}), {kind}, s[{s[0]}]));", "", unwritten))
        else:
            self.host(mark("unwritten", f"OK(cudaMemcpy({name}, v.data(), {self.all} * sizeof({t}), cudaMemcpyDefault));", "", unwritten))
            self.last = [HOST] if not self.is_of_host(room) else [0]
            self.order([HOST], False)

    def other(self):
        return self.d.choice([r for r in self.rooms if r != self.cur])

    def kernel(self):
        d = self.d
        ready = [k for k in self.kernels if k not in self.only_once]
        if len(self.kernels) < 2 or not ready:
            k = Kernel(self, self.name("Kernel"))
            k.is_template = d.random() < 0.4
            k.read = k.permutation(self.all)
            k.write = k.permutation(self.all)
            self.kernels.append(k)
        else:
            k = d.choice(ready)
        to = self.other()
        of_type = f"<{self.type}>" if k.is_template else ""
        args = f"Args{{{d.randrange(256)}, {d.randrange(9999)}.5, {{{d.randrange(99)}, {d.randrange(99)}, {d.randrange(99)}}}}}"
        grid, block = f"dim3({', '.join(map(str, self.grid))})", f"dim3({', '.join(map(str, self.block))})"
        dynamic = mark("bound", k.dynamic, max(k.dynamic - 1, 0), False)
        if k.is_cooperative:
            s = self.stream()
            self.order(s)
            self.host(f"{{ const {self.type} *in = {self.cur[0]}; {self.type} *out = {to[0]}; Args args = {args}; unsigned first = 0; void *p[] = {{&in, &out, &sink, &args, &first}}; OK(cudaLaunchCooperativeKernel((void *){k.name}{of_type}, {grid}, {block}, p, {dynamic}, s[{s[0]}])); }}")
        elif self.is_split:
            s = d.sample([1, 2, 3, 4], 2)
            self.order(s, False)
            cut = d.randrange(1, self.blocks)
            for stream, first, count in zip(s, (0, cut), (cut, self.blocks - cut)):
                self.host(f"{k.name}{of_type}<<<{count}, {block}, {dynamic}, s[{stream}]>>>({self.cur[0]}, {to[0]}, sink, {args}, {first});")
        else:
            s = self.stream()
            self.order(s)
            self.host(f"{k.name}{of_type}<<<{grid}, {block}, {dynamic}, s[{s[0]}]>>>({self.cur[0]}, {to[0]}, sink, {args}, 0);")
        self.host("OK(cudaGetLastError());")
        self.cur = to

    def copy(self):
        d, to, t = self.d, self.other(), self.type
        s = self.stream()
        a, b = to[0], self.cur[0]
        size = f"{self.all} * sizeof({t})"
        kind = "cudaMemcpyDefault"
        row = f"{self.n} * sizeof({t})"
        is_sync = d.random() < 0.25
        if is_sync:
            s = [0]
        self.order(s)
        stream, name = ("", "") if is_sync else (f", s[{s[0]}]", "Async")
        self.host(d.choice([
            f"OK(cudaMemcpy{name}({a}, {b}, {size}, {kind}{stream}));",
            f"OK(cudaMemcpy2D{name}({a}, {row}, {b}, {row}, {row}, {self.blocks}, {kind}{stream}));",
            f"for (int i = 0; i < 2; i++) OK(cudaMemcpy2D{name}({a} + {self.n // 2} * i, {row}, {b} + {self.n // 2} * i, {row}, (i ? {self.n - self.n // 2} : {self.n // 2}) * sizeof({t}), {self.blocks}, {kind}{stream}));",
            f"for (int i = 0; i < {self.all}; i += {self.n}) OK(cudaMemcpy{name}({a} + i, {b} + i, {row}, {kind}{stream}));",
        ]))  # fmt: skip
        if is_sync and (self.is_of_host(self.cur) or self.is_of_host(to)):
            self.order([HOST], False)  # the host has waited, perhaps
        self.cur = to

    def on_host(self):
        if not self.is_of_host(self.cur):
            return
        self.order([HOST])
        a = self.cur[0]
        self.host(f"for (int i = 0; i < {self.all}; i++) {a}[i] = make<{self.type}>(number({a}[i]) + i);")

    def callback(self):
        if not self.is_of_host(self.cur):
            return
        s = self.stream()
        self.order(s)
        name = self.name("call")
        self.declared.append(f"static void {name}(void *p) {{ {self.type} *a = ({self.type} *)p; for (int i = 0; i < {self.all}; i++) a[i] = make<{self.type}>(number(a[i]) + {self.d.randint(1, 99)}); }}")
        self.host(f"OK(cudaLaunchHostFunc(s[{s[0]}], {name}, {self.cur[0]}));")

    def set_part(self):
        d, s = self.d, self.stream()
        self.order(s, len(self.last) == 1)
        count, value = d.randint(1, self.all), d.choice([0, 1, 63])
        self.host(f"OK(cudaMemsetAsync({self.cur[0]}, {value}, {count} * sizeof({self.type}), s[{s[0]}]));")

    def aside(self):
        """Work that the others have nothing to do with."""
        s = self.d.choice([3, 4])
        size = self.d.choice([7, 32, 100])
        name = self.name("side")
        self.begin.append(f"unsigned *{name} = nullptr; OK(cudaMalloc(&{name}, {size} * sizeof *{name}));")
        self.host(f"Side<<<1, 128, 0, s[{s}]>>>({name}, {mark('bound', size, size + 1)});")
        self.end.insert(0, f"{{ unsigned r[{size}]; OK(cudaMemcpy(r, {name}, sizeof r, cudaMemcpyDeviceToHost)); for (auto v : r) h = mix(h, v); }}")
        self.end.append(f"OK(cudaFree({name}));")

    def read(self):
        name = self.cur[0]
        if self.is_of_host(self.cur) and self.d.random() < 0.5:
            self.order([HOST])
        else:
            self.order([0])
            self.host(f"OK(cudaMemcpy(v.data(), {name}, {self.all} * sizeof({self.type}), cudaMemcpyDefault));")
            self.order([HOST], False)
            name = "v"
        self.host(f"for (int i = 0; i < {self.all}; i++) h = mix(h, number({name}[i]));")
        self.host("OK(cudaDeviceSynchronize());")

    # ---- Text

    def kernel_text(self, k):
        t = "T" if k.is_template else self.type
        shared = "    extern __shared__ float4 dynamic[];\n" if k.dynamic else ""
        body = "".join("    " + line + "\n" for line in k.body.splitlines())
        return (
            ("template <class T>\n" if k.is_template else "")
            + f"__global__ void {k.name}(const {t} *in, {t} *out, unsigned *sink, Args args, unsigned first)\n{{\n{shared}"
            + "    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = t % 32;\n"
            + f"    const unsigned n = {self.n}, b = first + blockIdx.x + gridDim.x * blockIdx.y, me = t + n * b;\n"
            + f"    unsigned x = mix(number(in[{k.read('me')}]), me + args.a);\n    (void)lane;\n"
            + f"    auto end = [&] {{\n        out[{k.write('me')}] = make<{t}>(x);\n        sink[me] = mix(sink[me], x);\n    }};\n"
            + body
            + "    end();\n}\n"
        )

    def text(self):
        declared = "".join(d + "\n" for d in self.declared)
        kernels = "".join(map(self.kernel_text, self.kernels))
        lines = [
            f"unsigned h = {self.seed};",
            "cudaStream_t s[5] = {};",
            "for (int i = 1; i < 5; i++) OK(cudaStreamCreateWithFlags(&s[i], i < 3 ? cudaStreamDefault : cudaStreamNonBlocking));",
            f"cudaEvent_t e[{self.events + 1}];",
            "for (auto &event : e) OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));",
            f"std::vector<{self.type}> v({self.all});",
            "unsigned *sink = nullptr, constants[16];",
            "for (int i = 0; i < 16; i++) constants[i] = i * i + h;",
            "OK(cudaMemcpyToSymbol(table, constants, sizeof constants));",
            f"OK(cudaMalloc(&sink, {self.all} * sizeof *sink));",
            mark("unwritten", f"OK(cudaMemset(sink, 0, {self.all} * sizeof *sink));"),
            *self.begin,
            "OK(cudaDeviceSynchronize());",
            *self.steps,
            *self.end,
            f"std::vector<unsigned> sunk({self.all});",
            f"OK(cudaMemcpy(sunk.data(), sink, {self.all} * sizeof *sink, cudaMemcpyDeviceToHost));",
            "for (unsigned v : sunk) h = mix(h, v);",
            "OK(cudaFree(sink));",
            "for (auto event : e) OK(cudaEventDestroy(event));",
            "for (int i = 1; i < 5; i++) OK(cudaStreamDestroy(s[i]));",
            "return h;",
        ]
        run = "static unsigned run()\n{\n" + "".join(f"    {line}\n" for line in lines if line) + "}\n"
        side = "__global__ void Side(unsigned *a, unsigned size) { if (threadIdx.x < size) a[threadIdx.x] = threadIdx.x * size; }\n"
        side = side if any("Side<<<" in s for s in self.steps) else ""
        return f"namespace seed_{self.seed} {{\n__constant__ unsigned table[16];\n{side}{declared}{kernels}{run}}}\n"


# The sizes of the types, for what is dynamic
SIZES = {t: 16 for t in TYPES} | {"Five": 20}
MARK = re.compile("«([^¦«»]*)¦([^¦«»]*)¦([^¦«»]*)»")


def source(seeds, broken=None):
    """The programs of these seeds in one file, and the kinds of what can be broken in it."""
    text = PRELUDE + "".join(Program(seed).text() for seed in seeds)
    kinds = [m[1] for m in MARK.finditer(text)]
    number = -1

    def choose(match):
        nonlocal number
        number += 1
        return match[3] if broken is not None and number == broken % len(kinds) else match[2]

    calls = "".join(f'    if (argc < 2 || atoi(argv[1]) == {seed}) printf("{seed} %08x\\n", seed_{seed}::run());\n' for seed in seeds)
    return MARK.sub(choose, text) + f"int main(int argc, char **argv)\n{{\n{calls}}}\n", kinds


def answer(nvcc, seeds):
    """What the programs of these seeds print, compiled by this nvcc."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/drawn.cu", "w") as file:
            file.write(source(seeds)[0])
        subprocess.run([*nvcc, "-o", f"{folder}/drawn", f"{folder}/drawn.cu"], check=True)
        run = lambda *seed: subprocess.run(  # noqa: E731
            ["timeout", "60", f"{folder}/drawn", *seed], capture_output=True, text=True
        )
        all = run()
        if all.returncode == 0:
            return all.stdout
        each = {seed: run(str(seed)) for seed in seeds}
        return "".join(one.stdout if not one.returncode else f"{seed} failed\n" for seed, one in each.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--break", dest="broken", type=int)
    parser.add_argument("--breaks", action="store_true")
    parser.add_argument("--answers", help="an nvcc, with options")
    args = parser.parse_args()
    if args.answers:
        first, last = args.seeds
        groups = [range(i, min(i + 20, last + 1)) for i in range(first, last + 1, 20)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for text in pool.map(lambda seeds: answer(args.answers.split(), seeds), groups):
                sys.stdout.write(text)
    else:
        text, kinds = source(args.seeds, args.broken)
        print("\n".join(kinds) if args.breaks else text, end="\n" if args.breaks else "")


main()
