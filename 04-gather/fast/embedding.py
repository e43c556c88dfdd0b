"""Twelve hours find their places round a clock: an embedding that PyTorch trains, with take and add_at.

Build: make build
Run:   python3 embedding.py
"""

import torch

from gather import add_at, take


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, source, index):
        ctx.save_for_backward(index)
        ctx.shape = source.shape
        return take(source.detach(), index, axis=0)

    @staticmethod
    def backward(ctx, grad):
        (index,) = ctx.saved_tensors
        source_grad = grad.new_zeros(ctx.shape)
        add_at(source_grad, index, grad.contiguous())
        return source_grad, None  # an index has no derivative


def train(device):
    """Yields, at some steps: the step, the loss, and the hours in the order in which they lie round the centre."""
    torch.manual_seed(1)
    places = torch.randn(12, 2).to(device).requires_grad_()  # x and y of each hour
    hours = torch.arange(12, device=device)
    pairs = torch.stack([hours.repeat(12), hours.repeat_interleave(12)])  # each hour with each: 2 x 144
    wanted = (2 * torch.sin((pairs[0] - pairs[1]) * torch.pi / 12)) ** 2  # their distance on a circle, squared
    optimizer = torch.optim.Adam([places], lr=0.1)
    for step in range(101):
        a, b = Gather.apply(places, pairs)
        loss = (((a - b) ** 2).sum(1) - wanted).square().mean()
        if step in (0, 20, 100):
            x, y = (places - places.mean(0)).T.detach()
            yield step, loss.item(), torch.atan2(y, x).argsort().tolist()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    source = torch.randn(5, 3, dtype=torch.float64, device=device, requires_grad=True)
    print("gradcheck:", torch.autograd.gradcheck(Gather.apply, (source, torch.tensor([4, 0, 4, 4], device=device))))
    for step, loss, order in train(device):
        at = order.index(0)
        print(f"step {step:3}, loss {loss:.2f}:", *order[at:], *order[:at])
