"""The gather as an operation that torch.compile knows, for which PyTorch has to be 2.4 or newer.

Build: make build
Run:   python3 compiled.py
"""

import torch

from gather import add_at, take


@torch.library.custom_op("course::gather", mutates_args=())
def gather(source: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return take(source.detach().contiguous(), index.contiguous(), axis=0)


@torch.library.custom_op("course::gather_back", mutates_args=())
def gather_back(grad: torch.Tensor, index: torch.Tensor, rows: int) -> torch.Tensor:
    source_grad = grad.new_zeros(rows, *grad.shape[index.dim() :])
    add_at(source_grad, index.contiguous(), grad.detach().contiguous())
    return source_grad


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])
    ctx.rows = inputs[0].shape[0]


def backward(ctx, grad):
    return gather_back(grad, *ctx.saved_tensors, ctx.rows), None


gather.register_fake(lambda source, index: source.new_empty(index.shape + source.shape[1:]))
gather_back.register_fake(lambda grad, index, rows: grad.new_empty(rows, *grad.shape[index.dim() :]))
gather.register_autograd(backward, setup_context=keep)

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    source = torch.randn(5, 3, dtype=torch.float64, device=device, requires_grad=True)
    index = torch.tensor([[4, 0], [4, 4]], device=device)
    print("opcheck:", set(torch.library.opcheck(gather, (source, index)).values()))
    backend = "inductor" if device == "cuda" else "aot_eager"  # which needs no C++ compiler
    step = torch.compile(lambda source, index: (2 * gather(source, index)).sum(), fullgraph=True, backend=backend)
    step(source, index).backward()
    print(source.grad[:, 0].tolist())
