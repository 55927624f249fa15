"""Writes the file that the crate reads, of a checkpoint. README.md says what is in it."""

import argparse
import struct

import torch

from network import Network


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("checkpoint")
    options.add_argument("file")
    asked = options.parse_args()
    stored = torch.load(asked.checkpoint, weights_only=True)
    network = Network(**stored["shape"])
    network.load_state_dict(stored["mean"])
    shape = stored["shape"]
    with open(asked.file, "wb") as file:
        file.write(b"LPDY" + struct.pack("<BBBBHH", 1, shape["unshuffle"], shape["scale"], 0, shape["width"], shape["blocks"]))
        for layer in network.convolutions():
            # Outputs, inputs, rows, columns to rows, columns, inputs, outputs.
            file.write(layer.weight.detach().permute(2, 3, 1, 0).contiguous().half().numpy().tobytes())
            file.write(layer.bias.detach().half().numpy().tobytes())
    print("%s: %d steps, judged %s" % (asked.file, stored["step"], stored.get("judged")))


if __name__ == "__main__":
    main()
