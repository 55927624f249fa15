"""What is trained on: patches of photographs, and of drawings that are made here."""

import math
import multiprocessing
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

Image.MAX_IMAGE_PIXELS = None
# Kodak's pictures by which training is judged, and which it never sees.
KEPT = {"kodim04", "kodim08", "kodim15", "kodim19", "kodim23"}
KINDS = {".png", ".webp", ".jpg", ".jpeg"}
# Photographs that have been through JPEG are reduced by this before they count as originals.
REDUCED_JPEG = 3
# Pixels across of a drawing, and of a photograph at least: no patch is larger.
SMALLEST = 192
DRAWINGS = 1200


def shrink(picture, width, height):
    """Bicubic with antialiasing, a = -0.5, as MATLAB's imresize."""
    return picture.resize((width, height), Image.BICUBIC)


def files(folders):
    """The pictures in them, by name."""
    paths = sorted(path for folder in folders for path in Path(folder).iterdir())
    return [path for path in paths if path.suffix.lower() in KINDS]


def copies(path):
    """An original and smaller copies of it where it is large, as arrays of bytes."""
    picture = Image.open(path).convert("RGB")
    if path.suffix.lower() in {".jpg", ".jpeg"}:
        # To about two megapixels, and by three at the least.
        times = max(REDUCED_JPEG, math.sqrt(picture.width * picture.height / 2e6))
        picture = shrink(picture, int(picture.width / times), int(picture.height / times))
    found = []
    for scale in (1.0, 0.7, 0.5, 0.35, 0.25):
        width, height = int(picture.width * scale) & ~1, int(picture.height * scale) & ~1
        if scale < 1.0 and width * height < 150_000:
            break
        if min(width, height) >= SMALLEST:
            found.append(np.asarray(shrink(picture, width, height)))
    return found


class Pictures:
    """Originals and drawings, all pixels in one row on the device."""

    def __init__(self, folders, device):
        paths = [path for path in files(folders) if path.stem not in KEPT]
        with multiprocessing.Pool() as workers:
            photographs = [copy for found in workers.imap(copies, paths) for copy in found]
            drawings = workers.map(drawing, range(DRAWINGS), chunksize=8)
        if not photographs:
            raise SystemExit("no pictures of %d pixels or more in %s" % (SMALLEST, ", ".join(map(str, folders))))
        self.count = len(paths)
        pictures = photographs + drawings
        sides = torch.tensor([picture.shape[:2] for picture in pictures])
        # Each photograph by the square root of its area, so that a few large ones do not fill the batches; one in ten is drawn.
        areas = sides.prod(1)
        weights = areas.sqrt()
        weights[: len(photographs)] *= 0.9 / weights[: len(photographs)].sum()
        weights[len(photographs) :] *= 0.1 / weights[len(photographs) :].sum()
        self.shares = weights.cumsum(0).to(device)
        self.starts, self.sides = (areas.cumsum(0) - areas).to(device), sides.to(device)
        self.pixels = torch.from_numpy(np.concatenate([picture.reshape(-1, 3) for picture in pictures])).to(device)

    def patches(self, count, size):
        """Squares of `size` pixels, turned and mirrored, with their colours exchanged now and then: codes, count x 3 x size x
        size."""
        device = self.pixels.device
        draw = lambda *shape: torch.rand(*shape, device=device)
        chosen = torch.searchsorted(self.shares, draw(count)).clamp_max(len(self.shares) - 1)
        corners = 2 * (draw(count, 2) * ((self.sides[chosen] - size) // 2 + 1)).long()
        y, x = torch.meshgrid(*[torch.arange(size, device=device)] * 2, indexing="ij")
        down, across, turned = (draw(3, count, 1, 1) < 0.5).unbind()
        y, x = torch.where(turned, x, y), torch.where(turned, y, x)
        y, x = torch.where(down, size - 1 - y, y), torch.where(across, size - 1 - x, x)
        rows = corners[:, 0, None, None] + y
        places = self.starts[chosen, None, None] + rows * self.sides[chosen, 1, None, None] + corners[:, 1, None, None] + x
        codes = self.pixels[places].permute(0, 3, 1, 2).float()
        order = torch.where(draw(count, 1) < 0.2, draw(count, 3).argsort(1), torch.arange(3, device=device))
        return codes.gather(1, order[:, :, None, None].expand_as(codes))


def drawing(seed):
    """Lines, shapes, gratings and letters with clean edges, drawn four times as large."""
    random, size = np.random.default_rng(seed), SMALLEST
    large = size * 4
    colour = lambda: tuple(int(c) for c in random.integers(0, 256, 3))
    canvas = Image.new("RGB", (large, large), colour())
    draw = ImageDraw.Draw(canvas)
    for _ in range(random.integers(2, 9)):
        kind = random.integers(5)
        x, y, across = random.integers(0, large), random.integers(0, large), random.integers(16, large)
        if kind == 0:
            ends = [tuple(int(v) for v in random.integers(-size, large + size, 2)) for _ in range(2)]
            draw.line(ends, fill=colour(), width=int(random.integers(2, 32)))
        elif kind == 1:
            draw.ellipse((x - across // 2, y - across // 2, x + across // 2, y + across // 2), fill=colour())
        elif kind == 2:
            draw.polygon([tuple(int(v) for v in random.integers(0, large, 2)) for _ in range(4)], fill=colour())
        elif kind == 3:
            ink, step = colour(), int(random.integers(10, 60))
            for at in range(-large, 2 * large, step):
                draw.line((at, y, at + across - large // 2, y + across), fill=ink, width=max(2, step // 2))
        else:
            font = ImageFont.load_default(int(random.integers(32, 160)))
            letters = "".join(chr(random.integers(33, 127)) for _ in range(24))
            draw.text((x - across, y - 20), letters, fill=colour(), font=font)
    return np.asarray(canvas.resize((size, size), Image.BOX))
