"""Makes each CUDA call fail in turn, until a run has no failure left. For libraries of the stand-in."""

import itertools
import os
import sys
import tempfile


def each_failing_call(run, code=2):
    """Calls run() again and again, each time in a process of its own, in which the k-th CUDA call fails with `code`.

    run() returns a word. Prints the different words, and the one of the run in which nothing failed; what is left
    allocated, a crash or an exception is told too. CUDA must not have been used before.
    """
    words = []
    for k in itertools.count(1):
        with tempfile.TemporaryFile("w+") as complaints, tempfile.TemporaryFile("w+") as said:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                os.dup2(complaints.fileno(), 2)
                os.environ.update(CPU_CUDA_FAIL=str(k), CPU_CUDA_FAIL_CODE=str(code), CPU_CUDA_LEAKS="1")
                said.write(run())
                said.flush()
                sys.exit()  # the stand-in looks what was not freed
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            complaints.seek(0), said.seek(0)
            text, word = complaints.read(), said.read()
        if status != 0 and f"call {k}, cudaEventDestroy, fails" not in text:  # then the event stays
            print(f"call {k}: exit status {status}\n{text}")
        if f"CPU_CUDA_FAIL: call {k}, " not in text:
            break
        words.append(word)
    print("with a failing call:", *sorted(set(words)), "without:", word)
