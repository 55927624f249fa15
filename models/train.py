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
from pictures import KEPT, load, patch

TASKS = {
    # Name: what it is made of, pixels across of a patch of the original.
    "clean": ({"unshuffle": 1, "scale": 2, "width": 32, "blocks": 14}, 112),
    "photo": ({"unshuffle": 1, "scale": 2, "width": 32, "blocks": 16}, 112),
    "clean4": ({"unshuffle": 1, "scale": 4, "width": 32, "blocks": 14}, 192),
    "photo4": ({"unshuffle": 1, "scale": 4, "width": 32, "blocks": 11}, 192),
    "denoise": ({"unshuffle": 2, "scale": 2, "width": 64, "blocks": 6}, 96),
    "face": ({"unshuffle": 2, "scale": 2, "width": 32, "blocks": 5}, 96),
    "grain": ({"unshuffle": 2, "scale": 2, "width": 32, "blocks": 5}, 96),
}
# Those that take noise out.
CLEANING = ("denoise", "grain")


def pair(task, original, random):
    """What the network sees, and what it should say."""
    if task == "denoise":
        return degrade.noisy(original, random)
    if task == "face":
        return degrade.spoilt(original, random), original
    if task == "grain":
        return degrade.grainy(original, random)
    scale = TASKS[task][0]["scale"]
    if task.startswith("clean"):
        return degrade.reduced(original, scale), original
    return degrade.photographed(original, scale, random), original


def tensor(pictures):
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float() / 255


def luma(picture):
    """ITU-R BT.601, of 0 to 1, without the offset."""
    weights = torch.tensor([65.481, 128.553, 24.966], device=picture.device).view(1, 3, 1, 1) / 255
    return (picture * weights).sum(1, keepdim=True)


def blurred(plane):
    """By a Gaussian of 1.5 pixels, as in SSIM."""
    window = torch.exp(-(torch.arange(-5, 6, device=plane.device) ** 2) / 4.5)
    window = (window / window.sum()).view(1, 1, 1, -1)
    return F.conv2d(F.conv2d(plane, window), window.transpose(2, 3))


def structure(found, wanted):
    """What eyes miss first, at four sizes of luma: 1 - SSIM (Z. Wang et al., TIP 2004), and how much less or more stands out of
    its surroundings than should, as SSIMULACRA2 (J. Sneyers, 2022) counts it."""
    total = 0
    for scale in range(4):
        a, b = blurred(found), blurred(wanted)
        aa, bb, ab = blurred(found**2) - a**2, blurred(wanted**2) - b**2, blurred(found * wanted) - a * b
        total = total + (1 - (2 * a * b + 1e-4) * (2 * ab + 9e-4) / ((a**2 + b**2 + 1e-4) * (aa + bb + 9e-4))).mean()
        inner = (slice(None), slice(None), slice(5, -5), slice(5, -5))
        total = total + 3 * F.l1_loss((found[inner] - a).abs(), (wanted[inner] - b).abs())
        if scale < 3:
            found, wanted = F.avg_pool2d(found, 2), F.avg_pool2d(wanted, 2)
        if min(found.shape[2:]) < 14:
            break
    return total / 4


# Compiled, since this is most of a step otherwise; on processors that takes a C++ compiler, and a minute.
@torch.compile
def seen_by_eyes(found, wanted):
    return 0.1 * structure(luma(found), luma(wanted)) + 0.06 * perceptual.lost(found, wanted).mean()


def loss(found, wanted, task):
    """L1; for photographs, where decibels reward blur, mostly what eyes see. (That alone leaves edges soft.) For noise removal the
    root of each patch's squared error, so that little noise counts as much as much noise."""
    if task in CLEANING:
        return torch.sqrt((found - wanted).square().mean((1, 2, 3)) + (1 / 255) ** 2).mean()
    both = F.l1_loss(found, wanted)
    exact = 0.4 * both + 0.6 * F.l1_loss(luma(found), luma(wanted))
    if task.startswith("clean"):
        return exact
    return exact + seen_by_eyes(found, wanted)


def psnr(a, b):
    return -10 * math.log10(max(torch.mean((a - b) ** 2).item(), 1e-10))


@torch.no_grad()
def judge(network, task, originals):
    """Decibels on pictures that training never sees: over bicubic for enlarging, over the input for noise removal."""
    network.eval()
    random, sums = np.random.default_rng(1), {}
    for original in originals:
        if task in CLEANING:
            seen = {
                "15": degrade.rounded(original + random.normal(0, 15, original.shape)),
                "25": degrade.rounded(original + random.normal(0, 25, original.shape)),
                "50": degrade.rounded(original + random.normal(0, 50, original.shape)),
                "jpeg10": degrade.jpeg(original, 10, random),
                "clean": original,
            }
        elif task == "face":
            blurred = degrade.softened(original, 1.5)
            noisy = degrade.rounded(blurred + random.normal(0, 15, original.shape))
            seen = {"blur": blurred, "all": degrade.jpeg(noisy, 40, random), "clean": original}
        else:
            seen = {task: pair(task, original, random)[0]}
        wanted = tensor([original])
        for name, picture in seen.items():
            found = network(tensor([picture])).clamp(0, 1)
            found = (found * 255).round() / 255
            if task == "face":
                sums.setdefault(name, []).append(100 - 100 * perceptual.lost(found, wanted).item())
            elif task not in CLEANING:
                scale = TASKS[task][0]["scale"]
                bicubic = F.interpolate(tensor([picture]), scale_factor=scale, mode="bicubic").clamp(0, 1)
                inner = (slice(None), slice(None), slice(scale, -scale), slice(scale, -scale))
                y, reference = luma(found)[inner], luma(wanted)[inner]
                sums.setdefault("psnr", []).append(psnr(y, reference))
                sums.setdefault("ssimulacra2", []).append(100 - 100 * perceptual.lost(found, wanted).item())
                sums.setdefault("gain", []).append(psnr(y, reference) - psnr(luma(bicubic)[inner], reference))
            else:
                sums.setdefault(name, []).append(psnr(found, wanted))
                if name == "jpeg10":
                    sums.setdefault("gain10", []).append(psnr(found, wanted) - psnr(tensor([picture]), wanted))
    network.train()
    return {name: sum(values) / len(values) for name, values in sums.items()}


def held_back(folders):
    """The middle of every picture that is kept for judging, 256 pixels across."""
    originals = []
    for path in sorted(path for folder in folders for path in Path(folder).iterdir()):
        if path.suffix.lower() == ".webp" and (path.stem in KEPT or not path.stem.startswith("kodim")):
            picture = np.asarray(Image.open(path).convert("RGB"))
            top, left = ((side - 256) // 2 & ~1 for side in picture.shape[:2])
            originals.append(picture[top : top + 256, left : left + 256])
    return originals[:: max(1, len(originals) // 12)]


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
    options.add_argument("--resume", action="store_true", help="go on with the checkpoint in --out")
    options.add_argument("--threads", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    shape, size = TASKS[asked.task]
    shape = {**shape, "blocks": asked.blocks or shape["blocks"]}
    random = np.random.default_rng(asked.seed)
    torch.manual_seed(asked.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = Network(**shape).to(device, memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(network.parameters(), lr=asked.rate, weight_decay=1e-4, betas=(0.9, 0.99))
    mean, step, used, best = copy.deepcopy(network).float(), 0, 0.0, -math.inf
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    last = out / "last.pt"
    if asked.start:
        weights = torch.load(asked.start, weights_only=True)["mean"]
        network.load_state_dict(weights)
        mean.load_state_dict(weights)
    if asked.resume and last.exists():
        stored = torch.load(last, weights_only=True)
        network.load_state_dict(stored["network"])
        mean.load_state_dict(stored["mean"])
        optimiser.load_state_dict(stored["optimiser"])
        step, used, best = stored["step"], stored["used"], stored["best"]
    pictures, originals = load(asked.pictures), held_back(asked.judge)
    print("%d pictures, %d to judge by, %d parameters" % (
        len(pictures), len(originals), sum(p.numel() for p in network.parameters())), flush=True)
    network.train()
    budget, before, losses, judged = asked.minutes * 60, time.monotonic(), [], used
    while used < budget:
        share = used / budget
        rate = asked.rate * min(1, (step + 1) / 300) * (0.5 * (1 + math.cos(math.pi * share)) + 1e-3)
        for group in optimiser.param_groups:
            group["lr"] = rate
        pairs = [pair(asked.task, patch(pictures, size, random), random) for _ in range(asked.batch)]
        seen, wanted = (tensor(side).to(device) for side in zip(*pairs))
        optimiser.zero_grad(set_to_none=True)
        error = loss(network(seen), wanted, asked.task)
        error.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimiser.step()
        # The average of the last thousand steps or so is what is kept.
        keep = min(0.999, step / (step + 10))
        with torch.no_grad():
            for slow, fast in zip(mean.parameters(), network.parameters()):
                slow.lerp_(fast, 1 - keep)
        losses.append(error.item())
        step += 1
        now = time.monotonic()
        used, before = used + now - before, now
        if used - judged > asked.judge_minutes * 60 or used >= budget:
            judged = used
            found = judge(mean, asked.task, originals)
            score = sum(found.values()) / len(found)
            print("%6d steps %6.1f min rate %.6f loss %.5f %s" % (
                step, used / 60, rate, sum(losses) / len(losses), " ".join("%s %.3f" % one for one in found.items())), flush=True)
            losses.clear()
            state = {"shape": shape, "network": network.state_dict(), "mean": mean.state_dict(),
                     "optimiser": optimiser.state_dict(), "step": step, "used": used, "best": max(best, score)}
            torch.save(state, last)
            if score > best:
                best = score
                torch.save({"shape": shape, "mean": mean.state_dict(), "step": step, "judged": found}, out / "best.pt")


if __name__ == "__main__":
    main()
