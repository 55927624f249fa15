"""The one family of networks that is trained here: a residual network on pixels moved into channels.

`unshuffle` moves blocks of pixels into channels first (2 for noise removal, so that it works at half resolution), `scale`
says how many pixels across come out of one at that resolution. All blocks are gone through `passes` times, in the same
order. What the network computes is added to the input, repeated to the size of the output.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Two convolutions around a ReLU, added to what came in. Each pass has biases of its own, and its own shares of what is
    added, by channel."""

    def __init__(self, width, passes):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        nn.init.kaiming_normal_(self.first.weight, a=0.0)
        nn.init.kaiming_normal_(self.second.weight, a=0.0)
        self.second.weight.data *= 0.1
        self.biases = nn.Parameter(torch.zeros(passes, 2, width))
        self.shares = nn.Parameter(torch.full((passes, width), 1 / passes), requires_grad=passes > 1)

    def forward(self, x, at):
        """The pass `at`."""
        first, second = self.biases[at]
        between = F.relu(F.conv2d(x, self.first.weight, first, padding=1))
        return x + F.conv2d(between, self.second.weight * self.shares[at][:, None, None, None], second, padding=1)


class Network(nn.Module):
    """Colour pictures, batch x 3 x height x width, 0 to 1; height and width are multiples of `unshuffle`."""

    def __init__(self, unshuffle, scale, width, blocks, passes=1):
        super().__init__()
        self.shape = {"unshuffle": unshuffle, "scale": scale, "width": width, "blocks": blocks, "passes": passes}
        self.unshuffle, self.scale, self.passes = unshuffle, scale, passes
        self.head = nn.Conv2d(3 * unshuffle**2, width, 3, padding=1)
        self.blocks = nn.ModuleList(Block(width, passes) for _ in range(blocks))
        self.tail = nn.Conv2d(width, 3 * scale**2, 3, padding=1)
        self.tail.weight.data *= 0.1
        nn.init.zeros_(self.tail.bias)

    def forward(self, picture):
        # Zero is grey, and what the convolutions see outside the picture.
        x = F.pixel_unshuffle(picture - 0.5, self.unshuffle).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu" if picture.device.type == "cpu" else "cuda", torch.bfloat16, enabled=self.training):
            start = x = self.head(x)
            for at in range(self.passes):
                for block in self.blocks:
                    x = block(x, at)
            change = F.pixel_shuffle(self.tail(x + start), self.scale)
        times = self.scale // self.unshuffle
        return picture.repeat_interleave(times, 2).repeat_interleave(times, 3) + change.float()
