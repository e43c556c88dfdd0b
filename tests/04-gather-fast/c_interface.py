"""The C functions return a code for what makes no sense: they do not crash, and all is well after that."""

import ctypes

library = ctypes.CDLL("./libgather.so")
SIZE, POINTER = ctypes.c_size_t, ctypes.c_void_p


class Memory(ctypes.Structure):
    _fields_ = [("host", POINTER), ("device", POINTER)]


class Job(ctypes.Structure):
    _fields_ = [(name, Memory) for name in ("source", "index", "result")]
    _fields_ += [(name, SIZE) for name in ("outer", "N", "M", "element_bytes")]
    _fields_ += [("index_bytes", ctypes.c_int), ("mode", ctypes.c_int), ("stream", POINTER)]


source, index, result = (ctypes.c_float * 3)(10, 11, 12), (ctypes.c_int * 2)(2, -3), (ctypes.c_float * 2)()
bad = ctypes.byref(SIZE())


def codes(**changes):
    """Of gather(), gather_launch(), gather_add() and gather_add_launch(), for a right job but for some changes."""
    number = changes.pop("number", 0)
    job = Job(*[Memory(ctypes.addressof(array)) for array in (source, index, result)], 1, 2, 3, 4, 4)
    for name, value in changes.items():
        setattr(job, name, value)
    j = ctypes.byref(job)
    gathers = library.gather(j, bad), library.gather_launch(j, bad)
    return *gathers, library.gather_add(j, number, bad), library.gather_add_launch(j, number)


print("right", codes(), list(source), list(result))  # those that only launch copy nothing
source[:] = 10, 11, 12
for name, values in {
    "outer": (0, 2**60, 2**64 - 1), "N": (0, 2**61, 2**64 - 1), "M": (0, 2**61, 2**64 - 1),
    "element_bytes": (2**61, 2**64 - 1), "index_bytes": (-4, 0, 2), "mode": (-1, 3),
    "source": (Memory(),), "index": (Memory(),), "result": (Memory(),), "number": (-1, 6),
}.items():  # fmt: skip
    print(name, *[codes(**{name: value}) for value in values])
job, memory, array, n = ctypes.byref(Job(*[Memory(1, 1)] * 3, 1, 2, 3, 4, 4)), ctypes.byref(Memory()), source, SIZE(12)
print("NULL", library.gather(None, None), library.gather(job, None), end=" ")
print(library.gather_launch(None, None), library.gather_launch(job, None), end=" ")
print(library.gather_add(None, 0, None), library.gather_add(job, 0, None), library.gather_add_launch(None, 0))
print("find", library.gather_find(None, None, array, n), library.gather_find(memory, None, None, n), end=" ")
print(library.gather_find(memory, None, array, SIZE(2**64 - 1)), library.gather_find(memory, None, array, n))
print("memory", library.gather_device_allocate(None, n), library.gather_pinned_allocate(None, n), end=" ")
print(library.gather_pin(None, n), library.gather_pin(array, SIZE(0)), end=" ")
print(library.gather_copy(None, array, n, None), library.gather_current_device(None))
print("right", codes(), list(source), list(result))
print(
    "rows of no bytes", codes(element_bytes=0, source=Memory(), result=Memory()), codes(element_bytes=0, M=2), bad._obj
)
print("and no index", codes(element_bytes=0, index=Memory()))
print("of none", [codes(element_bytes=0, M=0, mode=mode) for mode in range(3)])
memory = ctypes.c_void_p()
library.gather_device_allocate(ctypes.byref(memory), SIZE(64))
place = Memory(None, memory)
print("no source", library.gather_launch(ctypes.byref(Job(place, place, place, 1, 2, 0, 4, 4, 2)), None))
library.gather_device_free(memory)
