"""The C functions return a code for what makes no sense: they do not crash, and all is well after that."""

import ctypes

library = ctypes.CDLL("./libgather.so")
SIZE, POINTER = ctypes.c_size_t, ctypes.c_void_p


class Memory(ctypes.Structure):
    _fields_ = [("host", POINTER), ("device", POINTER)]


class Job(ctypes.Structure):
    _fields_ = [("source", Memory), ("index", Memory), ("result", Memory), ("N", SIZE), ("M", SIZE)]
    _fields_ += [(name, ctypes.c_int) for name in ("element_bytes", "index_bytes", "mode")] + [("stream", POINTER)]


source, index, result = (ctypes.c_float * 3)(10, 11, 12), (ctypes.c_int * 2)(2, -3), (ctypes.c_float * 2)()
bad = ctypes.byref(SIZE())


def codes(**changes):
    """Of gather() and gather_launch(), for a right job but for some changes."""
    job = Job(*[Memory(ctypes.addressof(array)) for array in (source, index, result)], 2, 3, 4, 4)
    for name, value in changes.items():
        setattr(job, name, value)
    return library.gather(ctypes.byref(job), bad), library.gather_launch(ctypes.byref(job), bad)


print("right", codes(), list(result))  # gather_launch copies nothing
for name, values in {
    "N": (0, 2**61, 2**64 - 1), "M": (0, 2**61, 2**64 - 1), "element_bytes": (-4, 0, 2), "index_bytes": (-4, 0, 2),
    "mode": (-1, 3), "source": (Memory(),), "index": (Memory(),), "result": (Memory(),),
}.items():  # fmt: skip
    print(name, *[codes(**{name: value}) for value in values])
job, memory, array, n = ctypes.byref(Job(*[Memory(1, 1)] * 3, 2, 3, 4, 4)), ctypes.byref(Memory()), source, SIZE(12)
print("NULL", library.gather(None, None), library.gather(job, None), end=" ")
print(library.gather_launch(None, None), library.gather_launch(job, None))
print("find", library.gather_find(None, None, array, n), library.gather_find(memory, None, None, n), end=" ")
print(library.gather_find(memory, None, array, SIZE(2**64 - 1)), library.gather_find(memory, None, array, n))
print("memory", library.gather_device_allocate(None, n), library.gather_pinned_allocate(None, n), end=" ")
print(library.gather_pin(None, n), library.gather_pin(array, SIZE(0)), end=" ")
print(library.gather_copy(None, array, n, None), library.gather_current_device(None))
print("right", codes(), list(result))
memory = ctypes.c_void_p()
library.gather_device_allocate(ctypes.byref(memory), SIZE(64))
place = Memory(None, memory)
print("no source", library.gather_launch(ctypes.byref(Job(place, place, place, 2, 0, 4, 4, 2)), None))
library.gather_device_free(memory)
