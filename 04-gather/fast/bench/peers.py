"""What bench.py compares with: gather in CuPy, PyTorch and Triton, each if it is installed.

A peer is a dict of functions. up, down: a NumPy array to the GPU and back; view: a DeviceArray as an array of this
library, without a copy; take(source, index); out(source, index, out); wait: until the GPU is done; forget: gives unused
memory back. index: the dtype of the index, if it takes but one.
"""

import re
import subprocess
import sys

import numpy as np


def cupy_peer():
    import cupy

    return {
        "CuPy take": dict(
            up=cupy.asarray,
            view=cupy.asarray,
            down=cupy.asnumpy,
            take=cupy.take,
            out=lambda s, i, o: cupy.take(s, i, out=o),
            wait=cupy.cuda.runtime.deviceSynchronize,
            forget=cupy.get_default_memory_pool().free_all_blocks,
        )
    }


def torch_peer():
    import torch

    common = dict(
        up=lambda x: torch.from_numpy(x).cuda(),
        view=lambda d: torch.as_tensor(d, device="cuda"),
        down=lambda x: x.cpu().numpy(),
        wait=torch.cuda.synchronize,
        forget=torch.cuda.empty_cache,
    )
    return {
        "torch.index_select": dict(
            take=lambda s, i: torch.index_select(s, 0, i),
            out=lambda s, i, o: torch.index_select(s, 0, i, out=o),
            **common,
        ),
        # torch.take takes int64 indices only
        "torch.take": dict(take=torch.take, out=lambda s, i, o: torch.take(s, i, out=o), index=np.int64, **common),
    }


def triton_peer():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(source, index, result, n, BLOCK: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        where = tl.load(index + at, mask=inside, other=0)
        tl.store(result + at, tl.load(source + where, mask=inside), mask=inside)

    def out(source, index, result):
        kernel[(triton.cdiv(index.numel(), 1024),)](source, index, result, index.numel(), BLOCK=1024)

    def take(source, index):
        result = torch.empty(index.shape, dtype=source.dtype, device="cuda")
        out(source, index, result)
        return result

    peer = dict(torch_peer()["torch.index_select"], take=take, out=out)
    return {"Triton kernel": peer}


def row_peers():
    """{name: (view of a DeviceArray, rows(source, index, out))}, {name: (view, add(target, index, values))}.

    rows and add give back the call to be timed; F.embedding and x[idx] are calls that make a new result.
    """
    import cupy
    import cupyx
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(source, index, result, n, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
        where = tl.load(index + row, mask=row < n, other=0).to(tl.int64)
        inside = (row < n)[:, None] & (column < width)[None, :]
        picked = tl.load(source + where[:, None] * width + column[None, :], mask=inside)
        tl.store(result + row[:, None] * width + column[None, :], picked, mask=inside)

    def triton_rows(s, i, o):
        n, width = len(i), s.stride(0)
        columns = min(1024, triton.next_power_of_2(width))
        rows = 1024 // columns
        kernel[(triton.cdiv(n, rows), triton.cdiv(width, columns))](s, i, o, n, width, ROWS=rows, COLUMNS=columns)

    view = lambda d: torch.as_tensor(d, device="cuda")

    def expanded(i, like):
        """The index of each row for each of its numbers, without a copy, but as int64."""
        return i.long().reshape(-1, *[1] * (like.ndim - 1)).expand(like.shape)

    return {
        "CuPy take": (cupy.asarray, lambda s, i, o: lambda: cupy.take(s, i, 0, o)),
        "torch.index_select": (view, lambda s, i, o: lambda: torch.index_select(s, 0, i, out=o)),
        "torch x[idx]": (view, lambda s, i, o: lambda: s[i]),
        "torch.gather": (view, lambda s, i, o: lambda e=expanded(i, o): torch.gather(s, 0, e, out=o)),
        "F.embedding": (view, lambda s, i, o: lambda: torch.nn.functional.embedding(i, s)),
        "Triton kernel": (view, lambda s, i, o: lambda: triton_rows(s, i, o)),
    }, {
        "CuPy scatter_add": (cupy.asarray, lambda t, i, v: lambda: cupyx.scatter_add(t, i, v)),
        "torch.index_add_": (view, lambda t, i, v: lambda: t.index_add_(0, i, v)),
        "torch.index_put_": (view, lambda t, i, v: lambda: t.index_put_((i,), v, accumulate=True)),
        "torch.scatter_add_": (view, lambda t, i, v: lambda e=expanded(i, v): t.scatter_add_(0, e, v)),
    }


def peers():
    """{name: what it can do} of the libraries that are here; a line on stderr for each that is not."""
    found = {}
    for load in cupy_peer, torch_peer, triton_peer:
        try:
            found.update(load())
        except Exception as error:  # whatever a library finds missing
            print(f"{load.__name__} is not measured: {type(error).__name__}: {error}", file=sys.stderr)
    return found


BAD_INDEX = {  # what each does with the index 5 of 5 elements, and with -1 and -6; each in a process of its own
    "NumPy": "import numpy as np; x = np.arange(5, dtype='f'); print(x[np.array([{i}])])",
    "this take": "import numpy as np, gather; x = gather.DeviceArray(np.arange(5, dtype='f')); "
    "print(gather.take(x, np.array([{i}])).get())",
    "CuPy take": "import cupy; x = cupy.arange(5, dtype='f'); print(cupy.take(x, cupy.array([{i}])).get())",
    "torch.index_select": "import torch; x = torch.arange(5.).cuda(); "
    "print(torch.index_select(x, 0, torch.tensor([{i}]).cuda()).cpu().numpy())",
    "torch.take": "import torch; x = torch.arange(5.).cuda(); "
    "print(torch.take(x, torch.tensor([{i}]).cuda()).cpu().numpy())",
}


def bad_index(_):
    """What a bad index does: each library with 5, -1 and -6 of 5 elements, in a process of its own."""
    for name, program in BAD_INDEX.items():
        answers = []
        for index in 5, -1, -6:
            done = subprocess.run([sys.executable, "-c", program.format(i=index)], capture_output=True, text=True)
            if done.returncode == 0:
                answers.append(done.stdout.strip().splitlines()[-1])
            else:  # the exception, which begins with its name
                lines = [line for line in done.stderr.splitlines() if re.match(r"[\w.]+(Error|Exception)", line)]
                answers.append((lines or [f"exit status {done.returncode}"])[0][:90])
        yield {"library": name, "answers": answers}
