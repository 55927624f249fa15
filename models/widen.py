"""Makes a checkpoint to start from of a file that ships: for a larger scale, of which it enlarges as that does at first and repeats
pixels beyond; for work at half resolution on pictures that keep their size; with more blocks, which change nothing at first; or with
more passes through them, which add less each."""

import argparse

import torch

import file
from network import Network


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


def deepened(network, blocks):
    """New blocks stand evenly among the old ones and add nothing: their second convolutions are zero."""
    shape, state = {**network.shape, "blocks": blocks}, network.state_dict()
    deep = Network(**shape)
    for block in deep.blocks:
        block.second.weight.data.zero_()
    old = network.shape["blocks"]
    places = [(2 * at + 1) * blocks // (2 * old) for at in range(old)]
    for name, value in state.items():
        if name.startswith("blocks."):
            _, at, rest = name.split(".", 2)
            name = "blocks.%d.%s" % (places[int(at)], rest)
        deep.state_dict()[name].copy_(value)
    return deep


def repeated(network, passes):
    """Each pass adds its share of what one pass added, so that all together begin near to it."""
    again = Network(**{**network.shape, "passes": passes})
    for block, one in zip(again.blocks, network.blocks):
        block.biases.data[:] = one.biases.data
        block.biases.data[:, 1] /= passes
    state = {name: value for name, value in network.state_dict().items() if not name.endswith(("biases", "shares"))}
    again.load_state_dict(state, strict=False)
    return again


def folded(network):
    """Each weight of the head is shared out among the four pixels that a pixel unshuffle puts in one place."""
    shape, state = {**network.shape, "unshuffle": 2}, network.state_dict()
    state["head.weight"] = state["head.weight"].repeat_interleave(4, 1) / 4
    # What it adds belongs to an enlarged picture: it begins with little of that.
    state["tail.weight"], state["tail.bias"] = 0.3 * state["tail.weight"], 0 * state["tail.bias"]
    folded = Network(**shape)
    folded.load_state_dict(state)
    return folded


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file")
    options.add_argument("checkpoint")
    options.add_argument("--scale", type=int, default=4, help="a multiple of the file's")
    options.add_argument("--half", action="store_true", help="of a file for twice: at half resolution instead")
    options.add_argument("--blocks", type=int, help="as many blocks in place of the file's, at its scale")
    options.add_argument("--passes", type=int, help="as many passes through the blocks, at the file's scale")
    asked = options.parse_args()
    network = file.read(asked.file)
    if asked.passes:
        start = repeated(network, asked.passes)
    elif asked.half:
        start = folded(network)
    elif asked.blocks:
        start = deepened(network, asked.blocks)
    else:
        start = widened(network, asked.scale)
    torch.save({"shape": start.shape, "mean": start.state_dict(), "step": 0}, asked.checkpoint)


if __name__ == "__main__":
    main()
