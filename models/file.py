"""The file that the crate reads; `src/operation/network/weights.rs` describes it."""

import struct
import zlib
from pathlib import Path

import numpy as np
import torch

from network import Network


def stored(network):
    """All numbers, in the order in which they are stored: as tensors that can be filled."""
    # Outputs, inputs, rows, columns as rows, columns, inputs, outputs.
    turned = lambda weight: weight.data.permute(2, 3, 1, 0)
    yield turned(network.head.weight)
    yield network.head.bias.data
    for block in network.blocks:
        yield turned(block.first.weight)
        yield block.biases.data[:, 0]
        yield turned(block.second.weight)
        yield block.biases.data[:, 1]
        if network.passes > 1:
            yield block.shares.data
    yield turned(network.tail.weight)
    yield network.tail.bias.data


def write(network, path):
    # To eight significant bits: what is beyond makes files a quarter larger and moves no result by more than 0.003 dB.
    values = torch.cat([one.reshape(-1) for one in stored(network)]).numpy().astype("<f2").view("<u2")
    values = ((values.astype(int) + 4) & ~7).astype("<u2").view(np.uint8).reshape(-1, 2)
    shape = network.shape
    head = struct.pack("<BBBBHH", 2, shape["unshuffle"], shape["scale"], shape["passes"] - 1, shape["width"], shape["blocks"])
    # The lower bytes of all, then the higher ones.
    Path(path).write_bytes(b"LPDY" + head + zlib.compress(values.T.tobytes(), 9))


def read(path):
    packed = Path(path).read_bytes()
    _, unshuffle, scale, again, width, blocks = struct.unpack("<BBBBHH", packed[4:12])
    network = Network(unshuffle, scale, width, blocks, again + 1)
    values = np.frombuffer(zlib.decompress(packed[12:]), np.uint8).reshape(2, -1)
    values, at = torch.from_numpy(np.ascontiguousarray(values.T).view("<f2").astype(np.float32).reshape(-1)), 0
    for one in stored(network):
        one.copy_(values[at : at + one.numel()].view(one.shape))
        at += one.numel()
    return network
