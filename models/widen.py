"""Makes a checkpoint for a larger scale of a file that ships: at first it enlarges as that does, and repeats pixels beyond."""

import argparse
import struct

import numpy as np
import torch

from network import Network


def read(path):
    """The network of a file that `export.py` wrote."""
    with open(path, "rb") as file:
        stored = file.read()
    _, unshuffle, scale, _, width, blocks = struct.unpack("<BBBBHH", stored[4:12])
    network = Network(unshuffle, scale, width, blocks)
    values, at = np.frombuffer(stored[12:], np.float16).astype(np.float32), 0
    for layer in network.convolutions():
        outputs, inputs = layer.weight.shape[:2]
        weights, at = values[at : at + 9 * inputs * outputs].reshape(3, 3, inputs, outputs), at + 9 * inputs * outputs
        layer.weight.data = torch.from_numpy(weights.copy()).permute(3, 2, 0, 1).contiguous()
        layer.bias.data, at = torch.from_numpy(values[at : at + outputs].copy()), at + outputs
    return network


def widened(network, scale):
    shape = {**network.shape, "scale": scale}
    times, state = scale // network.scale, network.state_dict()
    channel = lambda colour, y, x: (colour * network.scale + y // times) * network.scale + x // times
    channels = [channel(colour, y, x) for colour in range(3) for y in range(scale) for x in range(scale)]
    for name in ("tail.weight", "tail.bias"):
        state[name] = state[name][channels]
    wide = Network(**shape)
    wide.load_state_dict(state)
    return wide


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file")
    options.add_argument("checkpoint")
    options.add_argument("--scale", type=int, default=4, help="a multiple of the file's")
    asked = options.parse_args()
    wide = widened(read(asked.file), asked.scale)
    torch.save({"shape": wide.shape, "mean": wide.state_dict(), "step": 0}, asked.checkpoint)


if __name__ == "__main__":
    main()
