# Part of gather.pyx: arrays of other CUDA libraries, which GPU to work on, and the order on it.

cdef extern from "gather.cuh" nogil:
    enum gather_mode:
        GATHER_RAISE, GATHER_WRAP, GATHER_CLIP
    struct gather_job:
        const void *source
        const void *index
        void *result
        size_t N, M
        int element_bytes, index_bytes
        gather_mode mode
        void *stream
        int keep_result
    enum:
        GATHER_ANY_DEVICE, GATHER_NO_DEVICE
    int gather_device_count(int *count)
    int gather_device_of(const void *pointer, int *device)
    int gather_use_device(int device, int *before)
    int gather_wait_for(void *stream, void *other)

cdef dict dtypes = {}  # of typestr: np.dtype(typestr) takes longer
cdef dict torch_dtypes = {"torch.float32": np.dtype(np.float32), "torch.float64": np.dtype(np.float64),
                          "torch.int32": np.dtype(np.int32), "torch.int64": np.dtype(np.int64)}
cdef object torch_tensor = None  # PyTorch's class, once one of its tensors was here


cdef bint is_torch(x):
    global torch_tensor
    kind = type(x)
    if torch_tensor is None and kind.__module__ == "torch" and kind.__name__ == "Tensor":
        torch_tensor = kind
    return kind is torch_tensor


cdef View torch_view(x):
    """A contiguous CUDA tensor of PyTorch, or None. It has __cuda_array_interface__ too, which takes longer."""
    if not (x.is_cuda and x.is_contiguous()) or x.requires_grad or x.is_neg():
        return None
    cdef object dtype = torch_dtypes.get(x.dtype)
    if dtype is None:
        dtype = torch_dtypes.get(str(x.dtype))
        if dtype is None:
            return None
        torch_dtypes[x.dtype] = dtype
    cdef View view = View.__new__(View)
    view.describe((x.numel(),) if x.dim() == 1 else tuple(x.shape), dtype)
    view.data, view.on_device, view.device = x.data_ptr(), True, x.get_device()
    return None if is_misaligned(view) else view


cdef View cuda_view(str name, interface, bint writeable):
    """What a __cuda_array_interface__ describes."""
    cdef View view = View.__new__(View)
    typestr = interface["typestr"]
    dtype = dtypes.get(typestr)
    if dtype is None:
        if not isinstance(typestr, str) or not np.dtype(typestr).isnative or np.dtype(typestr).hasobject:
            raise TypeError(f"{name}: numbers in this machine's byte order are taken, not {typestr!r}")
        dtype = dtypes.setdefault(typestr, np.dtype(typestr))
    view.describe(interface["shape"], dtype)
    view.data, read_only = interface["data"]
    view.on_device = True
    strides, stream = interface.get("strides"), interface.get("stream")
    view.stream = 0 if stream is None or stream == 1 else stream  # 1: the default stream
    if strides is not None and view.size > 0 and tuple(strides) != c_strides(view):
        raise ValueError(f"{name}: a contiguous CUDA array is taken")
    if writeable and read_only:
        raise ValueError(f"{name}: the array is read-only")
    if interface.get("mask") is not None:
        raise TypeError(f"{name}: a CUDA array without a mask is taken")
    if is_misaligned(view):
        raise ValueError(f"{name}: its address, {view.data:#x}, is no multiple of {view.itemsize}")
    view.device = GATHER_ANY_DEVICE
    if view.size > 0:
        check(gather_device_of(<void *>view.data, &view.device))
        if view.device == GATHER_NO_DEVICE:
            raise ValueError(f"{name}: there is no CUDA memory at its address, {view.data:#x}")
    return view


cdef int devices = 0  # of this machine, once somebody asked


cdef int use_device_of(View source, View index, View out) except -2:
    """Makes the device on which these arrays lie the current one; returns which was, or -1 if nothing changed."""
    global devices
    cdef int device = GATHER_ANY_DEVICE, before = -1
    cdef View view
    if devices == 1:
        return -1
    for view in (source, index, out):
        if view is not None and view.on_device and view.device != GATHER_ANY_DEVICE:
            if device != GATHER_ANY_DEVICE and device != view.device:
                raise ValueError(f"source, index and out: one GPU is taken, not both {device} and {view.device}")
            device = view.device
    if device == GATHER_ANY_DEVICE:
        return -1
    if devices == 0:
        check(gather_device_count(&devices))
    if devices > 1:
        check(gather_use_device(device, &before))
    return before


cdef int use_device(int device) noexcept:
    """Back to the device that use_device_of() returned."""
    cdef int before
    return 0 if device == -1 else gather_use_device(device, &before)


cdef tuple c_strides(View view):
    strides, stride = [], view.itemsize
    for n in reversed(view.shape):
        strides.append(stride)
        stride *= n
    return tuple(reversed(strides))


def stream_handle(stream):
    """A stream as an int: one already, or an object with __cuda_stream__(), as cuda.core has them."""
    try:
        handle = operator.index(stream)
    except TypeError:
        if not hasattr(stream, "__cuda_stream__"):
            raise TypeError(f"stream: an int or what has __cuda_stream__() is taken, not {stream!r}") from None
        handle = stream.__cuda_stream__()[1]
    return 0 if handle == 1 else handle


cdef int wait_for(gather_job *job, View view) except -1:
    if view.on_device and <void *>view.stream != job.stream:
        check(gather_wait_for(job.stream, <void *>view.stream))
    return 0


cdef int order_streams(gather_job *job, handle, View source, View index, View out) except -1:
    """The stream to work on: told, or one that an array names. It waits for what the others have pending."""
    if handle is not None:
        job.stream = <void *><size_t>handle
    else:  # that of an array in ordinary memory is 0
        job.stream = <void *>(index.stream or source.stream or out.stream)
    wait_for(job, source)
    wait_for(job, index)
    wait_for(job, out)
    return 0


cdef int let_wait(gather_job *job, View view) except -1:
    """After a launch: who goes on with this array on another stream must not change what is still being read."""
    if <void *>view.stream != job.stream:
        check(gather_wait_for(<void *>view.stream, job.stream))
    return 0
