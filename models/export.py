"""Writes the file that the crate reads, of a checkpoint."""

import argparse

import torch

import file
from network import Network


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("checkpoint")
    options.add_argument("file")
    asked = options.parse_args()
    stored = torch.load(asked.checkpoint, map_location="cpu", weights_only=True)
    network = Network(**stored["shape"])
    network.load_state_dict(stored["mean"])
    file.write(network, asked.file)
    print("%s: %d steps, judged %s" % (asked.file, stored["step"], stored.get("judged")))


if __name__ == "__main__":
    main()
