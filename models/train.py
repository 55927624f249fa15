"""Trains one network. See README.md.

The learning rate falls with the share of the budget that is used up, so a run can be as long or short as there is time;
`--from` starts from the weights of an earlier run, `--resume` goes on with one that was interrupted.
"""

import argparse
import copy
import math
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

import degrade
import perceptual
from network import Network
from pictures import KEPT, Pictures, files

TASKS = {
    # Name: what it is made of, pixels across of a patch of the original.
    "clean": ({"unshuffle": 1, "scale": 2, "width": 32, "blocks": 14, "passes": 2}, 192),
    "photo": ({"unshuffle": 1, "scale": 2, "width": 32, "blocks": 16}, 128),
    "clean4": ({"unshuffle": 1, "scale": 4, "width": 32, "blocks": 14}, 192),
    "photo4": ({"unshuffle": 1, "scale": 4, "width": 32, "blocks": 11}, 192),
    "denoise": ({"unshuffle": 2, "scale": 2, "width": 64, "blocks": 6}, 96),
    "face": ({"unshuffle": 2, "scale": 2, "width": 32, "blocks": 5, "passes": 2}, 96),
    "grain": ({"unshuffle": 2, "scale": 2, "width": 32, "blocks": 5}, 96),
}
# Those that take noise out.
CLEANING = ("denoise", "grain")


def pair(task, original):
    """What the network sees, and what it should say. Codes."""
    if task == "denoise":
        return degrade.noisy(original)
    if task == "face":
        return degrade.spoilt(original)
    if task == "grain":
        return degrade.grainy(original)
    scale = TASKS[task][0]["scale"]
    if task.startswith("clean"):
        return degrade.reduced(original, scale), original
    return degrade.photographed(original, scale), original


def luma(picture):
    """ITU-R BT.601, of 0 to 1, without the offset."""
    red, green, blue = picture.split(1, 1)
    return (65.481 * red + 128.553 * green + 24.966 * blue) / 255


def structure(found, wanted, windows):
    """What eyes miss first, at four sizes of luma: 1 - SSIM (Z. Wang et al., TIP 2004), and how much less or more stands out of
    its surroundings than should, as SSIMULACRA2 (J. Sneyers, 2022) counts it."""
    total = 0
    for scale, window in enumerate(windows):
        if scale:
            found, wanted = F.avg_pool2d(found, 2), F.avg_pool2d(wanted, 2)
        blurred = lambda plane: perceptual.blurred(plane, window)
        a, b = blurred(found), blurred(wanted)
        aa, bb, ab = blurred(found**2) - a**2, blurred(wanted**2) - b**2, blurred(found * wanted) - a * b
        total = total + (1 - (2 * a * b + 1e-4) * (2 * ab + 9e-4) / ((a**2 + b**2 + 1e-4) * (aa + bb + 9e-4))).mean()
        total = total + 3 * F.l1_loss((found - a).abs(), (wanted - b).abs())
    return total / len(windows)


# Compiled, since this is most of a step otherwise; on processors that takes a C++ compiler, and a minute.
@torch.compile
def seen_by_eyes(found, wanted, windows):
    return 0.1 * (structure(luma(found), luma(wanted), windows[:4]) + perceptual.lost(found, wanted, windows).mean())


def loss(found, wanted, task):
    """L1; for photographs, where decibels reward blur, mostly what eyes see. (That alone leaves edges soft.) For noise removal the
    root of each patch's squared error, so that little noise counts as much as much noise."""
    if task in CLEANING:
        return torch.sqrt((found - wanted).square().mean((1, 2, 3)) + (1 / 255) ** 2).mean()
    both = F.l1_loss(found, wanted)
    exact = 0.4 * both + 0.6 * F.l1_loss(luma(found), luma(wanted))
    if task.startswith("clean"):
        return exact
    return exact + seen_by_eyes(found, wanted, perceptual.windows(wanted.shape[-1], wanted.device))


def psnr(a, b):
    return -10 * math.log10(max(torch.mean((a - b) ** 2).item(), 1e-10))


def held_back(folders):
    """The middle of every picture that is kept for judging, 256 pixels across."""
    paths = [path for path in files(folders) if path.stem in KEPT or not path.stem.startswith("kodim")]
    for path in paths[:: max(1, len(paths) // 12)]:
        picture = torch.from_numpy(np.array(Image.open(path).convert("RGB"))).permute(2, 0, 1)[None].float()
        top, left = ((side - 256) // 2 & ~1 for side in picture.shape[2:])
        yield picture[:, :, top : top + 256, left : left + 256]


def spoilt(task, picture):
    """What the network is judged by, by name."""
    one = lambda number: torch.full((1, 1, 1, 1), float(number))
    stored = lambda picture, quality: degrade.jpeg(picture, one(quality), one(1) > 0)
    noisy = lambda picture, sigma: degrade.rounded(picture + sigma * degrade.noise(picture))
    if task in CLEANING:
        by_noise = {str(sigma): noisy(picture, sigma) for sigma in (15, 25, 50)}
        return by_noise | {"jpeg10": stored(picture, 10), "clean": picture}
    if task == "face":
        blurred = degrade.softened(picture, one(1.5))
        return {"blur": blurred, "all": stored(noisy(blurred, 15), 40), "clean": picture}
    reduced = degrade.reduced(picture, TASKS[task][0]["scale"])
    by_jpeg = {} if task.startswith("clean") else {str(quality): stored(reduced, quality) for quality in (80, 50)}
    return {"": reduced} | by_jpeg


def questions(task, folders, device):
    """Name, what the network sees and what it should say; made on the processor, and so the same everywhere."""
    torch.manual_seed(1)
    asked = [(name, seen, picture) for picture in held_back(folders) for name, seen in spoilt(task, picture).items()]
    return [(name, seen.to(device) / 255, picture.to(device) / 255) for name, seen, picture in asked]


@torch.no_grad()
def judge(network, task, asked):
    """On pictures that training never sees: decibels of all colours, or of luma and SSIMULACRA2; of `face` that alone."""
    network.eval()
    sums = {}
    def note(name, value):
        sums.setdefault(name, []).append(value)
    for name, seen, wanted in asked:
        found = (network(seen).clamp(0, 1) * 255).round() / 255
        if task in CLEANING:
            note(name, psnr(found, wanted))
            if name == "jpeg10":
                note("gain10", psnr(found, wanted) - psnr(seen, wanted))
            continue
        windows = perceptual.windows(wanted.shape[-1], wanted.device)
        note("score" + name, 100 - 100 * perceptual.lost(found, wanted, windows).item())
        if task != "face":
            edge = TASKS[task][0]["scale"]
            inner = (slice(None), slice(None), slice(edge, -edge), slice(edge, -edge))
            note("psnr" + name, psnr(luma(found)[inner], luma(wanted)[inner]))
    network.train()
    return {name: sum(values) / len(values) for name, values in sums.items()}


def recorded(step):
    """All of a step's work as one for the GPU to replay (a CUDA graph), since to ask for each kernel takes longer than it runs."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("task", choices=TASKS)
    options.add_argument("--pictures", nargs="+", required=True, help="folders of originals to train on")
    options.add_argument("--judge", nargs="+", required=True, help="folders of originals to judge by")
    options.add_argument("--out", required=True, help="where checkpoints go")
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--judge-minutes", type=float, default=8, help="how often")
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--rate", type=float, default=1.5e-3)
    options.add_argument("--from", dest="start", help="checkpoint whose weights to start from")
    options.add_argument("--blocks", type=int, help="as many in place of the task's")
    options.add_argument("--passes", type=int, help="as many through the blocks in place of the task's")
    options.add_argument("--resume", action="store_true", help="go on with the checkpoint in --out")
    options.add_argument("--threads", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    shape, size = TASKS[asked.task]
    shape = {**shape, "blocks": asked.blocks or shape["blocks"], "passes": asked.passes or shape.get("passes", 1)}
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = Network(**shape).to(device, memory_format=torch.channels_last)
    # The fastest of the convolutions at hand for each shape.
    torch.backends.cudnn.benchmark = True
    network.train()
    # Compiled for a GPU, where half of a step is what stands between the convolutions.
    answer = torch.compile(network) if device.type == "cuda" else network
    mean, step, used, best = copy.deepcopy(network), 0, 0.0, -math.inf
    # As tensors, so that they can change between replays of a recorded step.
    rate, keep = torch.tensor(asked.rate, device=device), torch.tensor(0.0, device=device)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=rate, weight_decay=1e-4, betas=(0.9, 0.99), fused=True, capturable=device.type == "cuda")
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    last = out / "last.pt"
    if asked.start:
        weights = torch.load(asked.start, map_location=device, weights_only=True)["mean"]
        network.load_state_dict(weights)
        mean.load_state_dict(weights)
    if asked.resume and last.exists():
        stored = torch.load(last, map_location=device, weights_only=True)
        network.load_state_dict(stored["network"])
        mean.load_state_dict(stored["mean"])
        optimiser.load_state_dict(stored["optimiser"])
        for group in optimiser.param_groups:
            group["lr"] = rate
        step, used, best = stored["step"], stored["used"], stored["best"]
    pictures, originals = Pictures(asked.pictures, device), questions(asked.task, asked.judge, device)
    torch.manual_seed(asked.seed)
    total = torch.zeros((), device=device)

    def learn():
        seen, wanted = (side / 255 for side in pair(asked.task, pictures.patches(asked.batch, size)))
        optimiser.zero_grad(set_to_none=True)
        error = loss(answer(seen), wanted, asked.task)
        error.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimiser.step()
        # The average of the last thousand steps or so is what is kept.
        with torch.no_grad():
            for slow, fast in zip(mean.parameters(), network.parameters()):
                slow.lerp_(fast, 1 - keep)
        total.add_(error.detach())

    print("%d pictures, %d to judge by, %d parameters" % (
        pictures.count, len(originals), sum(p.numel() for p in network.parameters())), flush=True)
    budget, before, judged, since, first = asked.minutes * 60, time.monotonic(), used, step, step
    while used < budget:
        share = used / budget
        rate.fill_(asked.rate * min(1, (step + 1) / 300) * (0.5 * (1 + math.cos(math.pi * share)) + 1e-3))
        keep.fill_(min(0.999, step / (step + 10)))
        if step - first == 3 and device.type == "cuda":
            learn = recorded(learn)
        learn()
        step += 1
        if device.type == "cuda" and step % 50 == 0:
            # The clock is read here, the steps run there.
            torch.cuda.synchronize()
        now = time.monotonic()
        used, before = used + now - before, now
        if used - judged > asked.judge_minutes * 60 or used >= budget:
            judged = used
            found = judge(mean, asked.task, originals)
            score = sum(found.values()) / len(found)
            print("%6d steps %6.1f min rate %.6f loss %.5f %s" % (step, used / 60, rate.item(), total.item() / (step - since),
                " ".join("%s %.3f" % one for one in found.items())), flush=True)
            total.zero_()
            since = step
            state = {"shape": shape, "network": network.state_dict(), "mean": mean.state_dict(),
                     "optimiser": optimiser.state_dict(), "step": step, "used": used, "best": max(best, score)}
            torch.save(state, last)
            if score > best:
                best = score
                torch.save({"shape": shape, "mean": mean.state_dict(), "step": step, "judged": found}, out / "best.pt")


if __name__ == "__main__":
    main()
