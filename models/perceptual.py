"""SSIMULACRA 2.1 as a loss: after J. Sneyers, Cloudinary (https://github.com/cloudinary/ssimulacra2, BSD 3-clause), whose weights
and constants these are; with a plain Gaussian, and without the weights that hardly count."""

import functools
import math

import torch
from torch.nn import functional as F

MATRIX = ((0.30, 0.622, 0.078), (0.23, 0.692, 0.078), (0.24342269, 0.20476745, 0.55180985))
BIAS = 0.0037930734
# What counts of each channel (X, Y, B) and scale: the mean and the fourth norm of lost structure, new artefacts, lost detail.
WEIGHTS = {
    (0, 1): ((0, 0, 0), (1.104, 0, 0)),
    (0, 2): ((0, 0, 0), (1.842, 11.44, 0)),
    (0, 3): ((0, 0, 0), (1.879, 10.95, 0)),
    (0, 4): ((0, 0.968, 0), (0, 0.998, 0)),
    (1, 0): ((0, 0, 0), (7.467, 0, 17.446)),
    (1, 1): ((0, 0, 0), (6.684, 0, 1.028)),
    (1, 2): ((225.2, 0, 0), (19.213, 0, 0)),
    (1, 3): ((176.4, 0, 0), (24.433, 0.285, 0)),
    (1, 4): ((0, 0, 0), (34.779, 44.836, 0)),
    (2, 3): ((0, 0, 0), (8.827, 23.192, 0)),
    (2, 4): ((95.108, 0.986, 0.983), (0, 171.27, 0.981)),
}


def linear(codes):
    """Of sRGB."""
    codes = codes.clamp(0, 1)
    return torch.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055).clamp_min(1e-6) ** 2.4)


def xyb(light):
    mixed = [sum(weight * plane for weight, plane in zip(row, light.unbind(1))) for row in MATRIX]
    l, m, s = ((plane + BIAS).pow(1 / 3).sub(BIAS ** (1 / 3)) for plane in mixed)
    bright = (l + m) / 2
    return torch.stack([(l - m) * 7 + 0.42, bright + 0.01, s - bright + 0.55], 1)


def window(size, device):
    """The matrix of a Gaussian of 1.5 pixels that is reflected at edges; a product of matrices costs less than a convolution."""
    matrix = torch.zeros(size, size)
    for at in range(size):
        for step in range(-5, 6):
            place = abs(at + step)
            matrix[at, min(place, 2 * (size - 1) - place)] += math.exp(-(step**2) / 4.5)
    return (matrix / matrix.sum(1, keepdim=True)).to(device)


@functools.cache
def windows(size, device):
    """For squares of `size` pixels, and for what is left when they are halved: five times at most, and to six pixels."""
    return [window(size >> scale, device) for scale in range(5) if size >> scale >= 6]


def blurred(planes, window):
    return window @ planes @ window.T


def fourth(map):
    return (map.pow(4).mean((1, 2)) + 1e-12).pow(0.25)


def lost(found, wanted, windows):
    """What each of `found` lacks to a score of 100, in hundreds. Squares of codes of 0 to 1; `windows` of their size."""
    found, wanted, total = linear(found), linear(wanted), 0
    for scale, window in enumerate(windows):
        if scale:
            found, wanted = F.avg_pool2d(found, 2), F.avg_pool2d(wanted, 2)
        a, b = xyb(found), xyb(wanted)
        n = a.shape[0]
        one, two = blurred(torch.cat([a, b]), window), blurred(torch.cat([a * a, b * b]), window)
        three = blurred(a * b, window)
        ma, mb = one[:n], one[n:]
        va, vb, both = two[:n] - ma**2, two[n:] - mb**2, three - ma * mb
        structure = (1 - (1 - (ma - mb) ** 2) * (2 * both + 0.0009) / (va + vb + 0.0009)).clamp_min(0)
        edges = (1 + (a - ma).abs()) / (1 + (b - mb).abs()) - 1
        maps = structure, edges.clamp_min(0), (-edges).clamp_min(0)
        for channel in range(3):
            for map, *weight in zip(maps, *WEIGHTS.get((channel, scale), ((0,) * 3,) * 2)):
                map = map[:, channel]
                if weight[0]:
                    total = total + weight[0] * map.mean((1, 2))
                if weight[1]:
                    total = total + weight[1] * fourth(map)
    total = total * 0.9562382616834844
    bent = total * (2.326765642916932 + total * (6.248496625763138e-5 * total - 0.020884521182843837))
    return bent.clamp_min(1e-3).pow(0.6276336467831387) / 10
