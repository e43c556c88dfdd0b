"""Each CUDA call fails in turn, until a run has no failure left. For programs and libraries of the stand-in.

    failing.py PROGRAM [ARGUMENT]...   whichever call fails, a line says so, and the exit status is 1: prints what is not so

For functions: all_fail, and none_takes_an_older_error.
"""

import collections
import ctypes
import itertools
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

Run = collections.namedtuple("Run", "failed status said complaints")


def each_failing_call(run, code=2):
    """A Run for each CUDA call that fails with `code`, and one in which none fails (failed is ""). Each run() is in a process
    of its own, in which CUDA must not have been used before; it may return text for standard output."""
    for k in itertools.count(1):
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complaints:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                os.dup2(said.fileno(), 1), os.dup2(complaints.fileno(), 2)
                os.environ.update(CPU_CUDA_FAIL=str(k), CPU_CUDA_FAIL_CODE=str(code), CPU_CUDA_LEAKS="1")
                print(run() or "", end="", flush=True)
                sys.exit()  # the stand-in looks what was not freed
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0), complaints.seek(0)
            text = complaints.read()
            failed = re.search(rf"CPU_CUDA_FAIL: call {k}, (.*), fails", text)
            yield Run(failed[1] if failed else "", status, said.read(), text)
        if not failed:
            break


def words_of(call, expected, out, errors):
    try:
        return "right" if np.array_equal(call(out), expected) else "WRONG"
    except errors as error:
        if ctypes.CDLL("libcpu_cuda.so").cudaPeekAtLastError() != 0:
            return "LEFT BEHIND"
        return "CHANGED out" if out.any() else f"[{type(error).__name__}: {error}]"


def all_fail(tried, codes, errors):
    """tried: {name: (call, expected, out or None for new zeros)}. Prints the different outcomes of call(out), its result or one of
    `errors`, and that of the run without a failure; what stays allocated, a crash and another exception are told, too."""
    for name, (call, expected, out) in tried.items():
        print(name)
        for code in codes:
            out = np.zeros_like(expected) if out is None else out
            words = []
            for run in each_failing_call(lambda: words_of(call, expected, out, errors), code):
                if run.status != 0 and run.failed != "cudaEventDestroy":  # then the event stays
                    print(f"{run.failed or 'nothing'} fails: exit status {run.status}\n{run.complaints}")
                words += [run.said] if run.failed else []
            print(f"  {code}:", *sorted(set(words)), "| without a failure:", run.said, flush=True)


def none_takes_an_older_error(tried):
    """An error that somebody else has left behind is not taken for a call's own, and not left behind. Uses CUDA: comes last."""
    runtime = ctypes.CDLL("libcpu_cuda.so")  # one runtime for all, as with a shared libcudart
    for name, (call, expected, out) in tried.items():
        before = runtime.cudaSetDevice(99), runtime.cudaPeekAtLastError()
        is_right = np.array_equal(call(np.zeros_like(expected) if out is None else out), expected)
        if before != (101, 101) or not is_right or runtime.cudaGetLastError() != 0:
            print(name, "takes an older error for its own, or leaves it")


def faults_of(command):
    """What a program does wrong of which each call fails in turn, and then the first one, with a code that has no name."""
    runs = list(each_failing_call(lambda: os.execv(command[0], command)))
    for run in runs[:-1]:
        # without cudaFree the result is there all the same
        if not run.failed.startswith("cudaFree") and (
            run.status != 1 or not re.search(r"(cudaErrorMemoryAllocation|out of memory)($|:)", run.complaints, re.M)
        ):
            yield f"{run.failed} fails: exit status {run.status}\n{run.complaints}"
    if len(runs) < 3 or runs[-1].status != 0:
        yield f"{len(runs)} runs; the last, in which nothing failed: exit status {runs[-1].status}\n{runs[-1].complaints}"
    settings = os.environ | {"CPU_CUDA_FAIL": "1", "CPU_CUDA_FAIL_CODE": "12345"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    if done.returncode != 1 or "error 12345, " not in done.stderr or "(null)" in done.stderr:
        yield f"error 12345: exit status {done.returncode}\n{done.stderr}"


if __name__ == "__main__":
    print("\n".join(faults_of(sys.argv[1:])), end="")
