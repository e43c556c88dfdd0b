# cython: language_level=3, boundscheck=False
"""Gather over MPI: take(comm, source, index) is numpy.take of the whole source, of which each rank has a slice.

Build: make build
Run:   mpirun -n 4 python3 test_many.py
"""
import math

import numpy as np

from cuda_error import CudaError, exception_for

cdef extern from "gather_mpi.h":
    ctypedef struct MPI_Comm:
        pass
    MPI_Comm MPI_Comm_f2c(int handle) nogil
    struct gather_plan:
        pass
    struct gather_fault:
        int rank
        long long position, index
    enum gather_mode:
        GATHER_RAISE, GATHER_WRAP, GATHER_CLIP
    int gather_plan_make(gather_plan **plan, MPI_Comm comm, const void *slice, size_t elements, int element_bytes,
                         gather_fault *fault) nogil
    int gather_plan_take(gather_plan *plan, const void *index, size_t N, int index_bytes, gather_mode mode, void *result,
                         gather_fault *fault) nogil
    unsigned long long gather_plan_size(const gather_plan *plan)
    const char *gather_plan_seconds(const gather_plan *plan, double *seconds)
    void gather_plan_free(gather_plan *plan) nogil
    int gather_copy(void *to, const void *source, size_t bytes, void *stream) nogil
    const char *gather_error_name(int code)
    const char *gather_error_text(int code)

cdef dict modes = {"raise": GATHER_RAISE, "wrap": GATHER_WRAP, "clip": GATHER_CLIP}
kinds = TypeError, ValueError, IndexError, OverflowError, MemoryError  # those of numpy.take


def on_rank(rank, error):
    """The same error, which names the rank."""
    *code_and_name, text = error.args
    return type(error)(*code_and_name, f"{text} (rank {rank})")


def agree(comm, work):
    """work() of every rank, or the error of the first rank that has one, on all of them: one of `kinds`, else a RuntimeError."""
    mine = error = None
    try:
        mine = work()
    except CudaError as caught:
        error = caught
    except Exception as caught:  # the other ranks may not know its class
        kind = next((kind for kind in kinds if isinstance(caught, kind)), None)
        error = kind(str(caught)) if kind else RuntimeError(f"{type(caught).__name__}: {caught}")
    for rank, other in enumerate(comm.allgather(error)):
        if other is not None:
            raise on_rank(rank, other)
    return mine


cdef raise_for(int code, gather_fault fault, size):
    if code == 0:
        return
    if code > 0:
        error = exception_for(code, gather_error_name(code).decode(), gather_error_text(code).decode(), 0)
    else:
        text = f"index {fault.index} is out of bounds for axis 0 with size {size}"
        error = IndexError(text if size else "cannot do a non-empty take from an empty axes.")
    raise on_rank(fault.rank, error)


def locate(name, x):
    """(address, shape, dtype, what keeps it alive) of a NumPy array or of what has __cuda_array_interface__.

    All work is on the default stream. What is pending on the array's own stream is waited for here.
    """
    cdef int code
    cdef size_t stream
    interface = None if isinstance(x, np.ndarray) else getattr(x, "__cuda_array_interface__", None)
    if isinstance(x, np.ma.MaskedArray) or interface is not None and interface.get("mask") is not None:
        raise TypeError(f"{name}: an array without a mask is taken")
    if interface is None:
        x = np.require(x, requirements=["C", "A"])
        return x.ctypes.data, x.shape, x.dtype, x
    if interface.get("strides") is not None:
        raise ValueError(f"{name}: a contiguous CUDA array is taken")
    if "stream" not in interface and hasattr(x, "__dlpack__"):
        x.__dlpack__(stream=1)  # JAX's and PyTorch's name none: the library lets the default stream wait
    stream = interface.get("stream") or 1
    if stream != 1:
        with nogil:
            code = gather_copy(NULL, NULL, 0, <void *>stream)  # also of another GPU
        if code != 0:
            raise CudaError(code, gather_error_name(code).decode(), gather_error_text(code).decode())
    return interface["data"][0], tuple(interface["shape"]), np.dtype(interface["typestr"]), x


cdef class Plan:
    """A source of which each rank holds a slice, on the ranks' GPUs: Plan(comm, slice).

    comm: a communicator of mpi4py. slice: a one-dimensional array of 4 or 8 bytes an element, which may be empty, of one dtype
    on all ranks: a NumPy array, or an array on the device. Collective, as take is: every rank makes one.
    """
    cdef gather_plan *plan
    cdef readonly object comm, dtype, size

    def __cinit__(self, comm, slice):
        def check():
            address, shape, dtype, owner = locate("source", slice)
            if len(shape) != 1:
                raise ValueError(f"source: one dimension is taken, not {len(shape)}")
            if dtype.hasobject or not dtype.isnative or dtype.itemsize not in (4, 8):
                raise TypeError(f"source: a dtype of 4 or 8 bytes is taken, not {dtype}")
            return address, shape[0], dtype, owner

        def check_dtype():
            first = comm.bcast(dtype)
            if dtype != first:
                raise TypeError(f"source: {first} is taken, as on rank 0, not {dtype}")

        address, length, dtype, owner = agree(comm, check)  # owner: it is there as long as this name
        agree(comm, check_dtype)
        self.comm, self.dtype = comm, dtype
        cdef gather_fault fault
        cdef int handle = comm.py2f(), bytes = dtype.itemsize, code
        cdef size_t where = address, elements = length
        with nogil:
            code = gather_plan_make(&self.plan, MPI_Comm_f2c(handle), <void *>where, elements, bytes, &fault)
        raise_for(code, fault, 0)
        self.size = gather_plan_size(self.plan)

    def __dealloc__(self):
        with nogil:
            gather_plan_free(self.plan)
        self.plan = NULL

    @property
    def seconds(self):
        """Where the time of this rank's last take went, and under "carrier" what carried indices and elements."""
        cdef double parts[5]
        carrier = gather_plan_seconds(self.plan, parts).decode()
        return dict(zip(("sort", "there", "gather", "back", "place"), parts), carrier=carrier)

    def take(self, index, mode="raise"):
        """The elements of the whole source at this rank's indices, as numpy.take gives them: see take() below."""
        def check():
            if mode not in tuple(modes):
                raise ValueError(f"mode: 'clip', 'raise' or 'wrap' is taken, not {mode!r}")
            address, shape, dtype, owner = locate("index", index)
            if isinstance(owner, np.ndarray) and dtype not in (np.int32, np.int64):
                if dtype.kind not in "biu" and (owner.size > 0 or isinstance(index, np.ndarray)):  # [] is float64
                    raise TypeError(f"index: integers are taken, not {dtype}")
                if dtype == np.uint64 and owner.size > 0 and owner.max() > 2**63 - 1:
                    raise OverflowError(f"index: {owner.max()} does not fit into int64")
                address, shape, dtype, owner = locate("index", owner.astype(np.int64))
            if dtype not in (np.int32, np.int64):
                raise TypeError(f"index: int32 or int64 is taken, not {dtype}")
            if isinstance(owner, np.ndarray):
                result = np.empty(shape, self.dtype)
            else:
                from gather import DeviceArray  # of the folder fast, which has to be on Python's path

                result = DeviceArray.empty(shape, self.dtype)
            return address, shape, dtype, owner, result, locate("result", result)[0]

        address, shape, dtype, index, result, result_address = agree(self.comm, check)
        cdef gather_fault fault
        cdef size_t where = address, target = result_address, N = math.prod(shape)
        cdef int bytes = dtype.itemsize, code
        cdef gather_mode how = modes[mode]
        with nogil:
            code = gather_plan_take(self.plan, <void *>where, N, bytes, how, <void *>target, &fault)
        raise_for(code, fault, self.size)
        return result[()] if shape == () and isinstance(result, np.ndarray) else result


def take(comm, source, index, mode="raise"):
    """numpy.take(whole, index, mode=mode), where whole is the slices `source` of all ranks, one behind the other.

    comm: a communicator of mpi4py. source: this rank's slice, or a Plan, which stays on the GPUs between calls. index: this
    rank's own indices, integers of any shape. Both may be NumPy arrays or arrays on the device; an index of NumPy's gives a
    NumPy array, one on the device a DeviceArray.
    Every rank has to call it, and an error is raised on every rank, of one kind, and names the rank at which it happened, the
    smallest of several: IndexError for its first bad index, in numpy.take's words; TypeError, ValueError, OverflowError and
    MemoryError; CudaError if a GPU fails; RuntimeError for another exception of the caller's own array.
    """
    plan = source if isinstance(source, Plan) else Plan(comm, source)
    return plan.take(index, mode)
