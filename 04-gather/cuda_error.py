"""CUDA's error codes as Python exceptions."""


class CudaError(RuntimeError):
    """A CUDA call failed: .code (700), .name ("cudaErrorIllegalAddress") and .text (in words)."""

    def __init__(self, code: int, name: str, text: str) -> None:
        super().__init__(code, name, text)  # all three in args: the exception can be pickled
        self.code, self.name, self.text = code, name, text

    def __str__(self) -> str:
        return f"CUDA error {self.code}, {self.name}: {self.text}"


def exception_for(code: int, name: str, text: str, wanted_bytes: int) -> Exception:
    """The exception for a library's code: MemoryError if the device has no room, else CudaError."""
    if name == "cudaErrorMemoryAllocation":
        size = f" ({wanted_bytes} bytes)" if wanted_bytes else ""
        return MemoryError(f"the GPU has no room for these arrays{size}")
    return CudaError(code, name, text)
