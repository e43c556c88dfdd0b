"""Exercise 7, clip_test: the test of a module. It ends with an AssertionError if a result of clip is wrong.

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
    # END OF YOUR LINES


# YOUR LINES, about 9: which x, low and high? Elements below low, between the two, and above high. NaN. Sizes around
# 256. Every second element of an array. No element. And what has to raise TypeError?
# END OF YOUR LINES
