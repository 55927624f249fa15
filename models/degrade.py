"""What is done to clean patches before the network sees them. Batches of codes, n x 3 x height x width of 0 to 255, each patch with
a draw of its own; sides are multiples of 16. No choice depends on the device's answers, so that a GPU need never be waited for."""

import functools
import math

import torch
from torch.nn import functional as F

# The half width of each filter of pixels taken in, and its weights; bicubic with a = -0.5, as MATLAB's imresize.
FILTERS = (
    (2, lambda x: (1.5 * x - 2.5) * x**2 + 1 if x < 1 else ((2.5 - 0.5 * x) * x - 4) * x + 2),
    (1, lambda x: 1 - x),
    (3, lambda x: sinc(x) * sinc(x / 3)),
    (0.5, lambda x: 1),
)
# JPEG's example tables (ITU-T T.81, annex K), for luma and for chroma.
LUMA = """16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62
18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101 72 92 95 98 112 100 103 99"""
CHROMA = """17 18 24 47 99 99 99 99 18 21 26 66 99 99 99 99 24 26 56 99 99 99 99 99 47 66 99 99 99 99 99 99
99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99"""


def sinc(x):
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def rounded(picture):
    return (picture + 0.5).floor().clamp(0, 255)


def uniform(like, low=0.0, high=1.0):
    """One number a patch."""
    return low + (high - low) * torch.rand(len(like), 1, 1, 1, device=like.device)


def chance(like, share):
    return uniform(like) < share


def noise(like, grey=None):
    """White, of a deviation of 1; the same in all channels where `grey`."""
    white = torch.randn_like(like)
    return white if grey is None else torch.where(grey, white[:, :1], white)


@functools.cache
def resampling(kind, size, into, device):
    """The matrix by which a filter makes `into` pixels of `size`, with antialiasing, as Pillow's."""
    half, weigh = FILTERS[kind]
    scale = max(1.0, size / into)
    rows = torch.zeros(into, size)
    for at in range(into):
        centre = (at + 0.5) * size / into
        first, last = max(0, int(centre - half * scale + 0.5)), min(size, int(centre + half * scale + 0.5))
        for pixel in range(first, last):
            x = abs(pixel + 0.5 - centre) / scale
            rows[at, pixel] = weigh(x) if x < half or half == 0.5 else 0
    return (rows / rows.sum(1, keepdim=True)).to(device)


@functools.cache
def shrinking(size, into, device):
    return torch.stack([resampling(kind, size, into, device) for kind in range(len(FILTERS))])


@functools.cache
def enlarged(size, device):
    """Shrunk by 1.2 to 2 and made large again by bicubic interpolation, as one matrix for each filter and size."""
    sizes = [round(size / (1.2 + 0.1 * step)) for step in range(9)]
    back = {small: resampling(0, small, size, device) for small in sizes}
    return torch.stack([back[small] @ way for small in sizes for way in shrinking(size, small, device)])


@functools.cache
def distances(size, device):
    at = torch.arange(size, device=device, dtype=torch.float32)
    return (at - at[:, None]) ** 2


def blurring(like, spread):
    """The matrices of Gaussians of `spread` pixels, one a patch."""
    weights = torch.exp(-0.5 * distances(like.shape[-1], like.device) / spread.clamp_min(1e-3) ** 2)
    return weights / weights.sum(-1, keepdim=True)


def both_ways(picture, matrices):
    return matrices @ picture @ matrices.transpose(-1, -2)


def one_of(matrices, like):
    """Any of them for each patch."""
    chosen = torch.randint(len(matrices), (len(like),), device=like.device)
    return matrices[chosen][:, None]


@functools.cache
def tables(device):
    tables = [torch.tensor([int(one) for one in table.split()]).view(8, 8) for table in (LUMA, CHROMA, CHROMA)]
    return torch.stack(tables).float().to(device)


@functools.cache
def cosines(device):
    angles = torch.arange(8)[:, None] * (2 * torch.arange(8) + 1) * math.pi / 16
    matrix = torch.cos(angles) / 2
    matrix[0] /= math.sqrt(2)
    return matrix.to(device)


def quantised(planes, steps):
    """Through the cosine transform of blocks of eight, in steps, and back."""
    n, channels, height, width = planes.shape
    matrix = cosines(planes.device)
    blocks = planes.reshape(n, channels, height // 8, 8, width // 8, 8).transpose(3, 4) - 128
    steps = steps[:, :, None, None]
    blocks = matrix.T @ ((matrix @ blocks @ matrix.T / steps).round() * steps) @ matrix
    return rounded(blocks.transpose(3, 4).reshape(planes.shape) + 128)


def jpeg(picture, quality, halved):
    """As libjpeg stores and shows pictures, but for some roundings. `quality` of 1 to 100; chroma is subsampled (4:2:0) where
    `halved`."""
    light = luma(picture)
    planes = rounded(torch.cat([light, (picture[:, 2:] - light) / 1.772 + 128, (picture[:, :1] - light) / 1.402 + 128], 1))
    quality = quality.floor()
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality).floor()
    steps = ((tables(picture.device) * scale + 50) / 100).floor().clamp(1, 255)
    whole = quantised(planes, steps)
    small = quantised(rounded(F.avg_pool2d(planes[:, 1:], 2)), steps[:, 1:])
    large = rounded(F.interpolate(small, scale_factor=2, mode="bilinear", align_corners=False))
    light, (cb, cr) = whole[:, :1], torch.where(halved, large, whole[:, 1:]).sub(128).split(1, 1)
    return rounded(torch.cat([light + 1.402 * cr, light - 0.344136 * cb - 0.714136 * cr, light + 1.772 * cb], 1))


def stored(picture, quality, where):
    """By JPEG, some with chroma subsampling."""
    return torch.where(where, jpeg(picture, quality, chance(picture, 0.5)), picture)


def reduced(picture, times):
    """The published tables' way: bicubic, rounded to bytes."""
    size = picture.shape[-1]
    return rounded(both_ways(picture, resampling(0, size, size // times, picture.device)))


def photographed(picture, times):
    """Reduced as pictures on the web have been: a little blur, any filter, a little noise, JPEG of quality 30 to 95, more often
    high than low."""
    size = picture.shape[-1]
    spread = uniform(picture, 0.1, 0.45) * times * chance(picture, 0.3)
    filters = one_of(shrinking(size, size // times, picture.device), picture)
    small = rounded(both_ways(picture, filters @ blurring(picture, spread)))
    small = rounded(small + noise(small) * uniform(small, 0, 6) * chance(small, 0.25))
    return stored(small, 95 - 65 * uniform(small) ** 1.5, chance(small, 0.85))


def linear(codes):
    return torch.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)


def encoded(light):
    light = light.clamp(0, 1)
    return torch.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


@functools.cache
def mosaic(height, width, device):
    """Which pixels a Bayer filter (RGGB) gives to which colour."""
    masks = torch.zeros(1, 3, height, width)
    masks[:, 0, 0::2, 0::2] = masks[:, 2, 1::2, 1::2] = 1
    masks[:, 1, 0::2, 1::2] = masks[:, 1, 1::2, 0::2] = 1
    return masks.to(device)


@functools.cache
def tent(device):
    side = torch.tensor([1.0, 2.0, 1.0])
    return (side[:, None] * side).view(1, 1, 3, 3).repeat(3, 1, 1, 1).to(device)


def demosaiced(light):
    """Through a Bayer filter and back by bilinear interpolation."""
    masks = mosaic(*light.shape[2:], light.device)
    near = lambda planes: F.conv2d(F.pad(planes, (1, 1, 1, 1), mode="reflect"), tent(light.device), groups=3)
    return near(light * masks) / near(masks)


def camera(picture):
    """Shot and read noise on linear light, a colour filter array, sRGB."""
    light = linear(picture / 255)
    shot, read = 10 ** uniform(picture, -4, -2), 10 ** uniform(picture, -3, -1.5)
    light = light + noise(light) * torch.sqrt(shot * light + read**2)
    return rounded(encoded(torch.where(chance(light, 0.7), demosaiced(light), light)) * 255)


def coarse(picture):
    """What cameras' own noise removal leaves: grains of several pixels, more in chroma than in luma."""
    grains = noise(picture)
    def spread_out(planes, spread):
        planes = both_ways(planes, blurring(planes, spread))
        return planes / planes.std((1, 2, 3), keepdim=True)
    luma = spread_out(grains[:, :1], uniform(grains, 0, 0.9)) * uniform(grains, 0, 14)
    red, blue = (spread_out(grains[:, 1:], uniform(grains, 0.5, 2.2)) * uniform(grains, 2, 18)).split(1, 1)
    return rounded(picture + torch.cat([luma + red, luma - 0.5 * red - 0.2 * blue, luma + blue], 1))


def luma(picture):
    red, green, blue = picture.split(1, 1)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def greyed(picture, where):
    return torch.where(where, rounded(luma(picture)), picture)


def from_cameras(picture, where, coarsely):
    """As a camera left it, seven or six in ten through JPEG."""
    coarsely = chance(picture, coarsely)
    taken = torch.where(coarsely, coarse(picture), camera(picture))
    stores = chance(picture, 0.7) & coarsely | chance(picture, 0.6) & ~coarsely
    return torch.where(where, taken, picture), where & stores


def grainy(picture):
    """White noise of sigma 0 to 40, more often little than much (three in four), as from a camera (15 %), the rest clean; one in
    ten is grey. Returns what was made of it, and the original."""
    grey, kind = chance(picture, 0.1), uniform(picture)
    picture = greyed(picture, grey)
    seen = rounded(picture + noise(picture, grey) * 40 * uniform(picture) ** 1.2 * (kind < 0.75))
    seen, stores = from_cameras(seen, (kind >= 0.75) & (kind < 0.9) & ~grey, 0.5)
    return stored(seen, uniform(seen, 60, 99), stores), picture


def noisy(picture):
    """Nearly half with white noise of sigma 0 to 55, more often little than much, one in ten as from a camera, four in ten through
    JPEG of quality 8 to 95, more often low than high, the rest clean; three in ten are grey. Returns what was made of it, and the
    original."""
    grey, kind = chance(picture, 0.3), uniform(picture)
    picture = greyed(picture, grey)
    white, taken = kind < 0.48, (kind >= 0.48) & (kind < 0.58) & ~grey
    spoils = (kind < 0.95) & ~white & ~taken
    spread = 55 * uniform(picture) ** 1.4 * white + uniform(picture, 0, 12) * (spoils & chance(picture, 0.2))
    seen = rounded(picture + noise(picture, grey) * spread)
    seen, stores = from_cameras(seen, taken, 0.4)
    quality = torch.where(spoils, 8 + 87 * uniform(seen) ** 2, uniform(seen, 60, 99))
    return stored(seen, quality, stores | spoils), picture


def softened(picture, spread):
    return rounded(both_ways(picture, blurring(picture, spread)))


def spoilt(picture):
    """Blurred by 0.4 to 2.2 pixels or enlarged (eight and one in ten), then white noise of sigma 0 to 25 (eight in ten), then JPEG
    of quality 25 to 95 (eight in ten). One in ten is grey. Returns what was made of it, and the original."""
    kind = uniform(picture)
    picture = greyed(picture, chance(picture, 0.1))
    seen = softened(picture, uniform(picture, 0.4, 2.2) * (kind < 0.8))
    large = rounded(both_ways(picture, one_of(enlarged(picture.shape[-1], picture.device), picture)))
    seen = torch.where((kind >= 0.8) & (kind < 0.9), large, seen)
    seen = rounded(seen + noise(seen) * uniform(seen, 0, 25) * chance(seen, 0.8))
    return stored(seen, uniform(seen, 25, 95), chance(seen, 0.8)), picture
