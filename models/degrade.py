"""What is done to clean patches before the network sees them. Arrays of bytes, height x width x 3."""

import io
import math

import numpy as np
from PIL import Image, ImageFilter

from pictures import shrink

FILTERS = (Image.BICUBIC, Image.BILINEAR, Image.LANCZOS, Image.BOX)


def rounded(picture):
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def jpeg(picture, quality, random):
    stored = io.BytesIO()
    Image.fromarray(picture).save(stored, "JPEG", quality=int(quality), subsampling=int(random.choice([0, 2])))
    return np.asarray(Image.open(stored).convert("RGB"))


def reduced(picture, times):
    """The published tables' way: bicubic, rounded to bytes."""
    return np.asarray(shrink(Image.fromarray(picture), picture.shape[1] // times, picture.shape[0] // times))


def photographed(picture, times, random):
    """Reduced as pictures on the web have been: a little blur, any filter, a little noise, JPEG of quality 30 to 95, more often
    high than low."""
    image = Image.fromarray(picture)
    if random.random() < 0.3:
        image = image.filter(ImageFilter.GaussianBlur(random.uniform(0.1, 0.45) * times))
    image = image.resize((image.width // times, image.height // times), FILTERS[random.integers(4)])
    small = np.asarray(image)
    if random.random() < 0.25:
        small = rounded(small + random.normal(0, random.uniform(0, 6), small.shape))
    if random.random() < 0.85:
        small = jpeg(small, 95 - 65 * random.random() ** 1.5, random)
    return small


def linear(values):
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def encoded(values):
    values = np.clip(values, 0, 1)
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)


def demosaiced(light):
    """Through a Bayer filter (RGGB) and back by bilinear interpolation."""
    masks = np.zeros_like(light)
    masks[0::2, 0::2, 0] = masks[1::2, 1::2, 2] = 1
    masks[0::2, 1::2, 1] = masks[1::2, 0::2, 1] = 1
    def blurred(plane):
        padded = np.pad(plane, 1, mode="reflect")
        rows = padded[:-2] + 2 * padded[1:-1] + padded[2:]
        return rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]
    return np.stack([blurred(light[..., c] * masks[..., c]) / blurred(masks[..., c]) for c in range(3)], -1)


def camera(picture, random):
    """Shot and read noise on linear light, a colour filter array, sRGB, JPEG."""
    light = linear(picture / 255.0)
    shot, read = 10 ** random.uniform(-4, -2), 10 ** random.uniform(-3, -1.5)
    light = light + random.normal(0, 1, light.shape) * np.sqrt(shot * light + read**2)
    if random.random() < 0.7:
        light = demosaiced(light)
    noisy = rounded(encoded(light) * 255)
    return jpeg(noisy, random.integers(60, 99), random) if random.random() < 0.6 else noisy


def coarse(picture, random):
    """What cameras' own noise removal leaves: grains of several pixels, more in chroma than in luma, mostly JPEG."""
    grains = random.normal(0, 1, picture.shape)
    luma, chroma = grains[..., :1], grains[..., 1:]
    luma = spread_out(luma, random.uniform(0, 0.9)) * random.uniform(0, 14)
    red, blue = np.split(spread_out(chroma, random.uniform(0.5, 2.2)) * random.uniform(2, 18), 2, 2)
    noisy = rounded(picture + np.concatenate([luma + red, luma - 0.5 * red - 0.2 * blue, luma + blue], 2))
    return jpeg(noisy, random.integers(60, 99), random) if random.random() < 0.7 else noisy


def spread_out(planes, spread):
    """By a Gaussian around the edges, and then of a deviation of 1 again."""
    weights = [math.exp(-0.5 * (at / max(spread, 1e-3)) ** 2) for at in range(-7, 8)]
    for axis in (0, 1):
        planes = sum(weight * np.roll(planes, at - 7, axis) for at, weight in enumerate(weights) if weight > 1e-3)
    return planes / planes.std()


def greyed(picture):
    return np.repeat(np.asarray(Image.fromarray(picture).convert("L"))[..., None], 3, 2)


def grainy(picture, random):
    """White noise of sigma 0 to 40, more often little than much (three in four), as from a camera (15 %), the rest clean; one in
    ten is grey."""
    grey = random.random() < 0.1
    if grey:
        picture = greyed(picture)
    kind = random.random()
    if kind < 0.75:
        spread = random.normal(0, 40 * random.random() ** 1.2, picture[..., : 1 if grey else 3].shape)
        return rounded(picture + spread), picture
    if kind < 0.9 and not grey:
        return (coarse if random.random() < 0.5 else camera)(picture, random), picture
    return picture, picture


def noisy(picture, random):
    """Nearly half with white noise of sigma 0 to 55, more often little than much, one in ten as from a camera, four in ten through
    JPEG of quality 8 to 95, more often low than high, the rest clean; three in ten are grey."""
    grey = random.random() < 0.3
    if grey:
        picture = greyed(picture)
    kind = random.random()
    if kind < 0.48:
        spread = random.normal(0, 55 * random.random() ** 1.4, picture[..., : 1 if grey else 3].shape)
        return rounded(picture + spread), picture
    if kind < 0.58 and not grey:
        return (coarse if random.random() < 0.4 else camera)(picture, random), picture
    if kind < 0.95:
        light = picture
        if random.random() < 0.2:
            light = rounded(picture + random.normal(0, random.uniform(0, 12), picture[..., : 1 if grey else 3].shape))
        quality = 8 + 87 * random.random() ** 2
        return grey_jpeg(light, quality) if grey else jpeg(light, quality, random), picture
    return picture, picture


def grey_jpeg(picture, quality):
    stored = io.BytesIO()
    Image.fromarray(picture[..., 0]).save(stored, "JPEG", quality=int(quality))
    return np.repeat(np.asarray(Image.open(stored))[..., None], 3, 2)


def softened(picture, spread):
    return np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(spread)))


def spoilt(picture, random):
    """Blurred by 0.4 to 2.2 pixels or enlarged (eight and one in ten), then white noise of sigma 0 to 25 (eight in ten), then JPEG of
    quality 25 to 95 (eight in ten). One in ten is grey."""
    if random.random() < 0.1:
        picture = greyed(picture)
    kind = random.random()
    if kind < 0.8:
        picture = softened(picture, random.uniform(0.4, 2.2))
    elif kind < 0.9:
        image = Image.fromarray(picture)
        small = [int(side / random.uniform(1.2, 2)) for side in image.size]
        picture = np.asarray(image.resize(small, FILTERS[random.integers(4)]).resize(image.size, Image.BICUBIC))
    if random.random() < 0.8:
        picture = rounded(picture + random.normal(0, random.uniform(0, 25), picture.shape))
    if random.random() < 0.8:
        picture = jpeg(picture, 25 + 70 * random.random(), random)
    return picture
