"""What is trained on: patches of photographs, and of drawings that are made here."""

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Image.MAX_IMAGE_PIXELS = None
# Kodak's pictures by which training is judged, and which it never sees.
KEPT = {"kodim04", "kodim08", "kodim15", "kodim19", "kodim23"}
KINDS = {".png", ".webp", ".jpg", ".jpeg"}
# Photographs that have been through JPEG are reduced by this before they count as originals.
REDUCED_JPEG = 3


def shrink(picture, width, height):
    """Bicubic with antialiasing, a = -0.5, as MATLAB's imresize."""
    return picture.resize((width, height), Image.BICUBIC)


def load(folders, smallest=128):
    """Originals and smaller copies of the large ones, as arrays of bytes."""
    pictures = []
    for path in sorted(path for folder in folders for path in Path(folder).iterdir()):
        if path.suffix.lower() not in KINDS or path.stem in KEPT:
            continue
        picture = Image.open(path).convert("RGB")
        if path.suffix.lower() in {".jpg", ".jpeg"}:
            # To about two megapixels, and by three at the least.
            times = max(REDUCED_JPEG, math.sqrt(picture.width * picture.height / 2e6))
            picture = shrink(picture, int(picture.width / times), int(picture.height / times))
        for scale in (1.0, 0.7, 0.5, 0.35, 0.25):
            width, height = int(picture.width * scale) & ~1, int(picture.height * scale) & ~1
            if scale < 1.0 and width * height < 150_000:
                break
            if min(width, height) >= smallest:
                pictures.append(np.asarray(shrink(picture, width, height)))
    if not pictures:
        raise SystemExit("no pictures of %d pixels or more in %s" % (smallest, ", ".join(map(str, folders))))
    return pictures


def patch(pictures, size, random):
    """A square of `size` pixels, turned and mirrored, with its colours exchanged now and then."""
    if random.random() < 0.1:
        cut = drawing(size, random)
    else:
        picture = pictures[random.choice(len(pictures), p=weights(pictures))]
        top, left = (2 * random.integers(0, (side - size) // 2 + 1) for side in picture.shape[:2])
        cut = picture[top : top + size, left : left + size]
    cut = np.rot90(cut, random.integers(4))
    if random.random() < 0.5:
        cut = cut[:, ::-1]
    if random.random() < 0.2:
        cut = cut[:, :, random.permutation(3)]
    return np.ascontiguousarray(cut)


_weights = {}


def weights(pictures):
    """Each picture by the square root of its area, so that a few large ones do not fill the batches."""
    if id(pictures) not in _weights:
        roots = np.array([math.sqrt(picture.shape[0] * picture.shape[1]) for picture in pictures])
        _weights[id(pictures)] = roots / roots.sum()
    return _weights[id(pictures)]


def drawing(size, random):
    """Lines, shapes, gratings and letters with clean edges, drawn four times as large."""
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
