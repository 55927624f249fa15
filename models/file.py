"""The file that the crate reads; `src/operation/network/weights.rs` describes it."""

import struct
import zlib
from pathlib import Path

import numpy as np
import torch

from network import Network


def write(network, path):
    values = []
    for layer in network.convolutions():
        # Outputs, inputs, rows, columns to rows, columns, inputs, outputs.
        values.append(layer.weight.detach().permute(2, 3, 1, 0).reshape(-1))
        values.append(layer.bias.detach())
    # To eight significant bits: what is beyond makes files a quarter larger and moves no result by more than 0.003 dB.
    values = torch.cat(values).numpy().astype("<f2").view("<u2")
    values = ((values.astype(int) + 4) & ~7).astype("<u2").view(np.uint8).reshape(-1, 2)
    shape = network.shape
    head = struct.pack("<BBBBHH", 2, shape["unshuffle"], shape["scale"], 0, shape["width"], shape["blocks"])
    # The lower bytes of all, then the higher ones.
    Path(path).write_bytes(b"LPDY" + head + zlib.compress(values.T.tobytes(), 9))


def read(path):
    stored = Path(path).read_bytes()
    _, unshuffle, scale, _, width, blocks = struct.unpack("<BBBBHH", stored[4:12])
    network = Network(unshuffle, scale, width, blocks)
    values = np.frombuffer(zlib.decompress(stored[12:]), np.uint8).reshape(2, -1)
    values, at = np.ascontiguousarray(values.T).view("<f2").astype(np.float32).reshape(-1), 0
    for layer in network.convolutions():
        outputs, inputs = layer.weight.shape[:2]
        weights, at = values[at : at + 9 * inputs * outputs].reshape(3, 3, inputs, outputs), at + 9 * inputs * outputs
        layer.weight.data = torch.from_numpy(weights.copy()).permute(3, 2, 0, 1).contiguous()
        layer.bias.data, at = torch.from_numpy(values[at : at + outputs].copy()), at + outputs
    return network
