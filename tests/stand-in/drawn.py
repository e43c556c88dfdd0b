"""Draws small kernels, says of each what is wrong with it, and compares the CPU stand-in: drawn.py [SEED [COUNT]]

A program makes one to three steps. In a step each thread, or some, touch one element of an array. What comes between
two steps may order them; in every second program nothing else is in question. The model here compares every two
accesses to an element: slow, and plain. Without short cuts, the stand-in has to say the same.
"""

import itertools
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict, namedtuple

NVCC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/cpu/nvcc")
SIZES = {"unsigned char": 1, "short": 2, "int": 4, "double": 8, "float4": 16}
# where an access is, and who takes part: in C as in Python
PLACES = ["i", "i", "i + 1", "n - 1 - i", "i >> 9", "i * 3 % n", "i * 4", "i >> 1", "i >> 5", "i ^ 1"]
PARTS = ["1", "1", "1", "i % 2 == 0", "i + i < n", "i == n - 1"]
LAUNCHES = {  # before a kernel of stream {1}, perhaps for stream {0}; and how that is written
    "nobody waits": "",
    "the stream waits for an event": "cudaEventRecord(event, s[{0}]), cudaStreamWaitEvent(s[{1}], event);",
    "the stream waits for an earlier event": "cudaStreamWaitEvent(s[{1}], event);",
    "the host waits for the stream": "cudaStreamSynchronize(s[{0}]);",
    "the host waits for an event": "cudaEventRecord(event, s[{0}]), cudaEventSynchronize(event);",
    "the host asks": "cudaEventRecord(event, s[{0}]); while (cudaEventQuery(event) == cudaErrorNotReady) continue;",
}
# the default stream and two others wait for each other; the last is apart
NEIGHBOURS = [{0, 1, 2}, {0, 1}, {0, 2}, {3}]
BETWEEN = ["__syncwarp();", "__syncthreads();", *LAUNCHES]
BEGIN = """#include <cstdio>
#include <cstdlib>
template <class T> __device__ T make(int v) { return (T)v; }
template <> __device__ float4 make<float4>(int v) { return make_float4(v, v, v, v); }
template <class T> __device__ int number(T v) { return (int)v; }
__device__ int number(float4 v) { return (int)(v.x + v.y + v.z + v.w) / 4; }
#define WHO_AM_I \\
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), x = 0, i, n; \\
    unsigned threads = blockDim.x * blockDim.y * blockDim.z, all = threads * gridDim.x * gridDim.y * gridDim.z; \\
    unsigned me = t + threads * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)); \\
    (void)all, (void)a, (void)p;
int main(int, char **argv)
{
    int which = atoi(argv[1]), all = 3 * atoi(argv[2]), bytes = atoi(argv[3]), written = atoi(argv[4]);
    char *a;
    unsigned *out, *h = (unsigned *)calloc(all, sizeof *h), sum = 0;
    cudaStream_t s[4] = {};
    cudaEvent_t event;
    cudaMalloc(&a, bytes), cudaMemset(a, 0, written);
    cudaMalloc(&out, all * sizeof *out), cudaMemset(out, 0, all * sizeof *out);
    cudaStreamCreate(&s[1]), cudaStreamCreate(&s[2]), cudaStreamCreateWithFlags(&s[3], cudaStreamNonBlocking);
    cudaEventCreate(&event), cudaDeviceSynchronize();
"""
END = """
    cudaDeviceSynchronize();
    printf("%d ", cudaGetLastError());
    cudaMemcpy(h, out, all * sizeof *out, cudaMemcpyDefault);
    for (int i = 0; i < all; i++) sum += h[i] * (i + 1);
    printf("%u\\n", sum);
    for (int i = 1; i < 4; i++) cudaStreamDestroy(s[i]);
    cudaFree(a), cudaFree(out), cudaEventDestroy(event);
}
"""
Step = namedtuple("Step", "kind is_shared place part kernel")
Access = namedtuple("Access", "step block thread kind array element who")


def in_three(number, size):
    return f"{number % size[0]},{number // size[0] % size[1]},{number // size[0] // size[1]}"


class Program:
    def __init__(self, number):
        draw = random.choice
        self.number, self.seed, self.lines = number, draw([0, 0, 1, 2]), []
        self.grid = draw([(1, 1, 1), (2, 1, 1), (3, 2, 1), (1, 3, 2)])
        self.block = draw([(32, 1, 1), (8, 4, 1), (40, 1, 1), (4, 5, 4), (3, 1, 1)])
        self.threads, self.blocks = math.prod(self.block), math.prod(self.grid)
        self.all = self.threads * self.blocks
        self.type = draw([t for t in SIZES if SIZES[t] > 1 or self.all < 84])  # each write writes something else
        is_plain = number % 2
        if is_plain:
            between = BETWEEN[number // 2 % len(BETWEEN)]
            self.between, arrays, parts = [between], [between not in LAUNCHES], ["1"]
            places = ["i"] if between in LAUNCHES else ["i", "i ^ 1", "n - 1 - i"]
        else:
            self.between = [draw(["", "__syncthreads();", *BETWEEN]) for _ in range(draw([0, 1, 1, 2]))]
            arrays, parts, places = draw([[True], [False], [False, True]]), PARTS, PLACES
        kinds = ["read", "write", "write"] + ["atomic"] * (self.type == "int")
        self.steps, self.streams, self.waits_for, self.touched = [], [], [], defaultdict(list)
        self.calls, self.done, self.of_host = [], [set() for _ in NEIGHBOURS], set()
        for k, between in enumerate(["nobody waits", *self.between]):
            if between in LAUNCHES:
                self.begin_kernel(between)
            step = Step(draw(kinds), draw(arrays), draw(places), draw(parts), len(self.streams) - 1)
            self.steps.append(step)
            for block, t in itertools.product(range(self.blocks), range(self.threads)):
                i, n = (t, self.threads) if step.is_shared else (t + self.threads * block, self.all)
                array = (step.kernel, block) if step.is_shared else "global"
                who = f"block {in_three(block, self.grid)} thread {in_three(t, self.block)}"
                element = eval(step.place)
                if eval(step.part):
                    self.touched[array, element].append(Access(k, block, t, step.kind, array, element, who))
        self.accesses = sum(self.touched.values(), [])
        # now and then an array is one too short, or the one in global memory begins one too late
        last = [
            max((x.element for x in self.accesses if (x.array != "global") == is_shared), default=0)
            for is_shared in (False, True)
        ]
        self.first = draw([0] * 9 + [1 - is_plain])
        self.end = max(last[0] + draw([is_plain] + [1] * 9), self.first + 1)
        self.shared_end = max(last[1] + draw([is_plain] + [1] * 9), 1)
        part_written = draw([1, 1, 1, is_plain or 0.5, is_plain])
        self.written = self.first + int(part_written * (self.end - self.first))  # up to here it is 0

    def known_in(self, stream):
        """What has run when the next work of a stream does."""
        return self.of_host.union(*(self.done[s] for s in NEIGHBOURS[stream]))

    def begin_kernel(self, before):
        last = self.streams[-1] if self.streams else 0
        is_other = self.number % 2 and self.streams
        stream = random.choice([s for s in range(4) if not is_other or s not in NEIGHBOURS[last]])
        waited_for = random.choice([last, last, last, 0])
        self.calls.append(LAUNCHES[before].format(waited_for, stream))
        if "earlier" in before:
            self.calls[-2] += f" cudaEventRecord(event, s[{last}]);"
            self.done[stream] |= self.waits_for[-1]
        elif before.startswith("the stream"):
            self.done[stream] |= self.known_in(waited_for)
        elif before.startswith("the host"):
            self.of_host |= self.known_in(waited_for)
        self.waits_for.append(self.known_in(stream))
        self.done[stream] = self.waits_for[-1] | {len(self.streams)}
        self.streams.append(stream)

    def write(self, text):
        """Appends the kernels to the lines of the file; returns what launches them."""
        launches = f"    if (which == {self.number}) {{\n"
        for k, step in enumerate(self.steps):
            between = self.between[k - 1] if k else "nobody waits"
            if between in LAUNCHES:
                text += [f"    out[{step.kernel - 1} * all + me] = x;", "}"] if k else []
                name = f"K{self.number}_{step.kernel}"
                launches += f"        {self.calls[step.kernel]}\n"
                launches += f"        {name}<<<dim3{self.grid}, dim3{self.block}, 0, s[{self.streams[step.kernel]}]>>>"
                launches += f"(({self.type} *)a - {self.first}, out);\n"
                text += [
                    f"__global__ void {name}({self.type} *a, unsigned *out)",
                    "{",
                    f"    __shared__ {self.type} s[{self.shared_end}];",
                    f"    {self.type} *p = s;",
                    "    WHO_AM_I",
                ]
            else:
                text.append("    " + between)
            element, value = f"{'p' if step.is_shared else 'a'}[{step.place}]", f"1 + me + {k} * all"
            access = {
                "read": f"{{ {self.type} v = {element}; x += number(v); }}",
                "write": f"{element} = make<{self.type}>({value})",
                "atomic": f"atomicAdd(&{element}, {value})",
            }[step.kind]
            text.append(f"    i = {'t, n = threads' if step.is_shared else 'me, n = all'};")
            text.append(f"    if ({step.part}) {access};")
            self.lines.append(len(text))
        text += [f"    out[{self.steps[-1].kernel} * all + me] = x;", "}"]
        return launches + "    }\n"

    # ---- The model

    def is_before(self, x, y):
        """Whether x has happened when y does, in whatever order threads run."""
        of_x, of_y = self.steps[x.step].kernel, self.steps[y.step].kernel
        if of_x != of_y:
            return of_x in self.waits_for[of_y]
        if x.block != y.block or x.step >= y.step:
            return False
        between = self.between[x.step : y.step]
        is_one_warp = "__syncwarp();" in between and x.thread // 32 == y.thread // 32
        return x.thread == y.thread or "__syncthreads();" in between or is_one_warp

    def is_race(self, x, y):
        is_apart = (x.array, x.element) != (y.array, y.element)
        is_alike = x[:3] == y[:3] or {x.kind, y.kind} in ({"read"}, {"atomic"})
        return not (is_apart or is_alike or self.is_before(x, y) or self.is_before(y, x))

    def is_outside(self, x):
        return x.element >= self.shared_end if x.array != "global" else not self.first <= x.element < self.end

    def unwritten(self, x):
        """Whether it reads what nobody has written: True, False, or None, where a race decides."""
        writes = [w for w in self.touched[x.array, x.element] if w.kind != "read"]
        is_written = (x.array == "global" and x.element < self.written) or any(self.is_before(w, x) for w in writes)
        return x.kind != "write" and not is_written and (None if any(self.is_race(w, x) for w in writes) else True)

    def is_missed(self, those):
        """Whether the stand-in may miss what is wrong with an element. Of each four bytes it keeps one writer, the last;
        a reader of another stream is forgotten where the later work reads as well; and a thread may read what others
        change by atomics if the next that it does there is one, too."""
        element, in_one = those[0].element, max(4 // SIZES[self.type], 1)
        beside = set(range(element // in_one * in_one, (element // in_one + 1) * in_one)) - {element}
        is_hidden = any(
            x.kind == "write" and y.kind == "atomic" and self.is_before(x, y)
            for x, y in itertools.combinations(those, 2)
        )
        of_threads = defaultdict(list)
        for x in those:
            of_threads[x.block, x.thread].append(x.kind)
        is_taken_up = any(("read", "atomic") in zip(kinds, kinds[1:]) for kinds in of_threads.values())
        kernels = {self.steps[x.step].kernel for x in those if x.kind != "write"}
        is_forgotten = len(set(self.streams)) > 1 and len(kernels) > 1
        return is_hidden or is_taken_up or is_forgotten or any((those[0].array, e) in self.touched for e in beside)

    def bugs(self, for_sure=True):
        if any(map(self.is_outside, self.accesses)):
            return {"outside"}
        bugs = set()
        for those in self.touched.values():
            if for_sure and self.is_missed(those):
                continue
            if any(self.unwritten(x) for x in those):
                bugs.add("unwritten")
            if any(self.is_race(x, y) for x, y in itertools.combinations(those, 2)):
                bugs.add("race")
        return bugs

    def output(self):
        """Of a right program: what its threads have read."""
        memory, total = defaultdict(int), 0
        for x in self.accesses:  # those of one element step after step
            me, key = x.thread + self.threads * x.block, (x.array, x.element)
            if x.kind == "read":
                total += memory[key] * (me + self.steps[x.step].kernel * self.all + 1)
            else:
                memory[key] = 1 + me + x.step * self.all + (memory[key] if x.kind == "atomic" else 0)
        return f"0 {total % 2**32}\n"

    # ---- What the stand-in says

    def kind_of(self, message):
        """Of a message that is right; else None."""

        def those(line, who, verb):  # a race in shared memory names no blocks, one of streams no threads
            return [
                x
                for x in self.accesses
                if self.lines[x.step] == int(line)
                and x.who.endswith(who or "")
                and (x.kind == "atomic" or ("read" in verb) == (x.kind == "read") and "atomically" not in verb)
            ]

        race = re.search(
            r"cu:(\d+): kernel \S+ (?:has a race.*: (.*) )?(reads|writes) what (.*) "
            r"(read|wrote|wrote atomically) at drawn.cu:(\d+), and nothing says",
            message,
        )
        if race:
            line, who, verb, other, verbed, there = race.groups()
            mine, others = those(line, who, verb), those(there, other.replace("work of another stream", ""), verbed)
            return "race" if any(self.is_race(x, y) for x, y in itertools.product(mine, others)) else None
        address = re.search(r"cu:(\d+): kernel \S+ (reads|writes) .* \((block .*)\)$", message)
        if not address:
            return None
        mine = those(*address.group(1, 3, 2))
        if "written" in message:
            is_unwritten = any(self.unwritten(x) is not False or "outside" in self.bugs() for x in mine)
            return "unwritten" if is_unwritten else None
        is_outside = re.search("out of bounds|outside the", message)
        return "outside" if is_outside and any(map(self.is_outside, mine)) else None

    def run(self, folder, short_cuts):
        size = SIZES[self.type]
        sizes = [self.all, size * (self.end - self.first), size * (self.written - self.first)]
        return subprocess.run(
            [f"{folder}/drawn", str(self.number), *map(str, sizes)],
            capture_output=True,
            text=True,
            env={**os.environ, "CPU_CUDA_SEED": str(self.seed), "CPU_CUDA_SHORT_CUTS": short_cuts},
        )

    def compare(self, folder):
        bugs, run, slow = self.bugs(), self.run(folder, "1"), self.run(folder, "0")
        said = [m for m in run.stderr.splitlines() if "this program runs on the CPU" not in m]
        kinds = {self.kind_of(m) for m in said}
        # a line is told once: a read that is in a race may be what says that nobody has written
        is_right = None not in kinds and (kinds or not bugs) and ("outside" in kinds or "outside" not in bugs)
        if not self.bugs(for_sure=False):
            is_right = (kinds, run.returncode, run.stdout) == (set(), 0, self.output())
        # several blocks take turns as they like
        is_same = slow.returncode == run.returncode and (slow.stderr == run.stderr or self.blocks > 1)
        if not is_right or not is_same:
            print(
                f"program {self.number}, which has {sorted(bugs) or 'no bug'}: CPU_CUDA_SEED={self.seed}",
                *run.args[1:],
                f"exit status {run.returncode}, {run.stdout!r} ({self.output()!r} if right)\n" + run.stderr,
                "" if is_same else f"without short cuts, exit status {slow.returncode}\n" + slow.stderr,
            )
        return is_right and is_same


def main(seed, count):
    random.seed(seed)
    programs = [Program(number) for number in range(count)]
    text = BEGIN.split("int main")[0].splitlines()
    launches = "".join(program.write(text) for program in programs)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/drawn.cu", "w") as file:
            file.write("\n".join(text) + "\nint main" + BEGIN.split("int main")[1] + launches + END)
        subprocess.run([NVCC, "-O1", "-o", "drawn", "drawn.cu"], cwd=folder, check=True)
        wrong = [program for program in programs if not program.compare(folder)]
        if wrong:
            lines = [line for line in text if f"K{wrong[0].number}_" in line]
            print("\n".join(text[text.index(lines[0]) : wrong[0].lines[-1] + 2]))
    if wrong:
        sys.exit(f"{len(wrong)} of {count} programs: tests/stand-in/drawn.py {seed} {count} shows them again")


main(int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(10**6), int(sys.argv[2]) if len(sys.argv) > 2 else 96)
