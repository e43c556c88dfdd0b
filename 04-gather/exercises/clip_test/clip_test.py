"""Exercise clip_test: the test of a module. It ends with an AssertionError if a result of clip is wrong.

Check: make exercises EXERCISE=clip_test
"""

import numpy as np

from clip_module import clip

random = np.random.default_rng()


def check(x, low, high):
    """clip(x, low, high) is what NumPy says, in each element, and a new array of float32."""
    before = x.copy()
    result = clip(x, low, high)
    # YOUR LINES, about 3: compare the dtype, and all elements (NaN is not equal to NaN). Is x still what it was?
    # np.clip and np.testing.assert_array_equal may help.
    assert result.dtype == np.float32, result.dtype
    np.testing.assert_array_equal(result, np.clip(before, low, high))
    np.testing.assert_array_equal(x, before)
    # END OF YOUR LINES


# YOUR LINES, about 9: which x, low and high? Elements below low, between the two, and above high. NaN. Sizes around
# 256. Every second element of an array. No element. And what has to raise TypeError?
for size in 0, 1, 255, 256, 257, 1000:
    check(random.uniform(-9, 9, size).astype(np.float32), -2, 3)
check(random.uniform(-9, 9, 1000).astype(np.float32)[::2], -2, 3)
check(np.array([1, np.nan, 5], np.float32), -2, 3)
try:
    clip(np.ones(3), -2, 3)
except TypeError:
    pass
else:
    raise AssertionError("an array of float64 is taken")
# END OF YOUR LINES
