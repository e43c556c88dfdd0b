"""heat_step and heat_step_on_gpu, made by make new: each argument in turn is wrong in each way, and the others are right."""

import ctypes

import heat_step as m
import numpy as np
from gather import DeviceArray
from kinds import outcome
from shown import Shown

STRIDES, SECOND_GPU, VERSION_2 = (ctypes.c_int64 * 2)(1, 3), (ctypes.c_int32 * 2)(2, 1), (ctypes.c_uint32 * 2)(2, 0)
READ_ONLY = 1


def array(value=1, shape=(3, 400), dtype="f"):
    return DeviceArray(np.full(shape, value, dtype))


def at(far):
    long = array(shape=2000)
    return Shown(array(), data=long.__cuda_array_interface__["data"][0] + far), long


def call(function, name, wrong, **right):
    """What a call says, of which the argument `name` is wrong."""
    said = outcome(lambda: function(3, **{**right, name: wrong}))
    return said if isinstance(said, str) else "taken"


def tell(what, said):
    """said: what is said of each argument. What is said of several is told once."""
    for words in dict.fromkeys(said.values()):
        print(f"{what}, {' and '.join(name for name in said if said[name] == words)}: {words}")


ones = np.ones((3, 400), "f")
for what, wrong in {
    "a list": [1, 2], "None": None, "float64": ones.astype(float), "int32": ones.astype("i"),
    "the other byte order": ones.astype(">f4"), "another shape": np.ones((400, 3), "f"), "read-only": np.broadcast_to(ones[0], (3, 400)),
}.items():  # fmt: skip
    tell(what, {name: call(m.heat_step, name, wrong, x=ones, y=ones).replace(f"{name}:", "…:") for name in ("x", "y")})
print("a, text:", outcome(lambda: m.heat_step("3", ones, ones)))
print("on the GPU")
x, y, out, (odd, long) = array(1), array(2), array(7), at(2)
for what, wrong in {
    "in the host's memory": ones, "float64": array(1, dtype="d"), "int32": array(1, dtype="i"),
    "another shape": array(1, (400, 3)), "not contiguous": Shown(array(), strides=STRIDES), "at an odd address": odd,
    "on another GPU": Shown(array(), device=SECOND_GPU), "DLPack 2": Shown(array(), version=VERSION_2),
    "read-only": Shown(array(), flags=READ_ONLY),
}.items():  # fmt: skip
    said = {}
    for name in "x", "y", "out":
        out = array(7)
        said[name] = call(m.heat_step_on_gpu, name, wrong, x=x, y=y, out=out).replace(f"{name}:", "…:")
        if said[name] != "taken" and (out.get() != 7).any():
            print("WRITTEN:", what, name)
    tell(what, said)
print("a, text:", outcome(lambda: m.heat_step_on_gpu("3", x, y, out)))
empty = array(0, (3, 0))
print(
    m.heat_step_on_gpu(3, empty, empty, empty) is empty, m.heat_step_on_gpu(3, x, y, out) is out, (out.get() == 5).all()
)
