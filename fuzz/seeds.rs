//! Writes the seeds that fuzzing begins with: `seeds FOLDER` fills `FOLDER/<target>/` with small sound files.

use std::{borrow::Cow, env, error::Error, fs, path::Path};

use lapidary::{
    Limits, Run, Unattended,
    codec::{ApngOptions, Codecs, EncodeOptions, GifOptions, JpegOptions, PngOptions, Sampling, WebpOptions},
    picture::{Channels, Delay, Frame, Frames, Layout, Metadata, Picture, Plays, Samples, Still},
};

/// What `-Cpasses=sancov-module` calls in every binary; the targets have it from libFuzzer.
#[cfg(fuzzing)]
mod coverage {
    #[unsafe(no_mangle)]
    extern "C" fn __sanitizer_cov_8bit_counters_init(_: *mut u8, _: *mut u8) {}
    #[unsafe(no_mangle)]
    extern "C" fn __sanitizer_cov_pcs_init(_: *const usize, _: *const usize) {}
    #[unsafe(no_mangle)]
    extern "C" fn __sanitizer_cov_trace_pc_indir(_: usize) {}
}

const WIDTH: u32 = 19;
const HEIGHT: u32 = 13;

const TEXTS: [&str; 5] = [
    "{}",
    r##"{"optimize": {"compression": "low", "quality": 80}, "resize": {"width": 800, "height": 600, "mode": "pad", "gravity": "top-left", "upscale": false, "background": "#00ff0080"}}"##,
    r#"{"url": "https://user@example.com:8080/a/b.jpg?c=d", "headers": {"Authorization": "Bearer x"}, "upscale": {"factor": 4, "model": "clean"}, "denoise": true, "light": {"strength": 3}}"#,
    r#"{"tone": {"auto": true, "exposure": -100, "sharpness": 100}, "face": {"strength": 1, "target": "largest"}, "output": {"format": "smallest", "encoding": "baseline", "metadata": ["copyright", "all"], "keep_ids": true}}"#,
    r#"{"store": {"provider": "aws", "key": "k", "secret": "s", "bucket": "b", "path": "p", "region": "eu-west-1", "acl": "private"}, "webhook": {"url": "https://example.com/", "delay": 5}}"#,
];

const DRAWINGS: [&str; 4] = [
    r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-opacity=".5"/></linearGradient><pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse"><circle r="2"/></pattern></defs><path id="a" fill="url(#g)" d="M1 1h9q5 5 0 9a3 3 0 0 1-9 0z"/><use href="#a" x="12"/><g opacity=".5" transform="rotate(9)"><rect width="9" height="9" fill="url(#p)" stroke="#123" stroke-dasharray="1 2"/></g></svg>"##,
    r##"<!DOCTYPE svg [<!ENTITY c "fill:#f80;">]><svg xmlns="http://www.w3.org/2000/svg" width="30" height="30"><style>.a, g > path:first-child {mask: url(#m)}</style><mask id="m"><rect width="9" height="9" fill="#fff"/></mask><clipPath id="c"><circle r="9"/></clipPath><filter id="f"><feGaussianBlur stdDeviation="1"/><feTurbulence baseFrequency=".1" numOctaves="2"/><feMorphology radius="1"/></filter><g clip-path="url(#c)"><path class="a" style="&c;" d="M0 0L9 9V0"/></g><g filter="url(#f)"><path d="M2 2h5v5"/></g></svg>"##,
    r##"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><marker id="k"><path d="M0 0h1v1z"/></marker><polyline points="1,1 5 5 8 1" marker-mid="url(#k)"/><image width="5" height="5" xlink:href="data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg'&gt;&lt;circle r='9'/&gt;&lt;/svg&gt;"/><text>a</text></svg>"##,
    r##"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" fill="url(#g)"><radialGradient id="g" href="#h"/><linearGradient id="h"><stop stop-color="red"/></linearGradient><g stroke="url(#p)" marker-end="url(#k)"><path id="t" d="M0 0h5v5"/><switch><text><textPath href="#t">a</textPath></text></switch></g><pattern id="p" width="3" height="3" stroke="none"><use href="#t"/></pattern><marker id="k"><use href="#t"/></marker><filter id="f"><feImage href="#t"/></filter><mask id="m" mask="url(#n)"><use href="#s"/></mask><mask id="n"><circle r="3"/></mask><clipPath id="c" clip-path="url(#d)"><circle r="3"/></clipPath><clipPath id="d"><path d="M0 0h9v9z"/></clipPath><symbol id="s"><rect width="5" height="5" filter="url(#f)"/></symbol><use href="#s" mask="url(#m)" clip-path="url(#c)"/></svg>"##,
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: seeds FOLDER")?;
    let folder = Path::new(&folder);
    for (at, text) in TEXTS.iter().enumerate() {
        write(&folder.join("request_json"), &format!("{at}.json"), text.as_bytes())?;
    }
    for (name, bytes) in files()? {
        let target = if name.starts_with("jpeg") { "jpeg" } else { name.split('-').next().unwrap_or(&name) };
        write(&folder.join("sniff_probe"), &name, &bytes)?;
        write(&folder.join(format!("decode_{target}")), &name, &bytes)?;
        for which in 0..8 {
            write(&folder.join("optimise"), &format!("{name}-{which}"), &[&[which], &bytes[..]].concat())?;
        }
    }
    Ok(())
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    Ok(fs::write(folder.join(name), bytes)?)
}

/// Names and bytes: one file of every coding and shape, with and without metadata.
fn files() -> lapidary::Result<Vec<(String, Vec<u8>)>> {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    let codecs = Codecs::default();
    let exif = b"II*\0\x08\0\0\0\x02\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\x98\x82\x02\0\x04\0\0\0me!\0\0\0\0\0".to_vec();
    let metadata = Metadata { exif: Some(exif), comments: vec!["medium~000000".into()], ..Metadata::default() };
    let mut files = Vec::new();
    for channels in [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba] {
        for (name, options) in encodings() {
            if channels.has_alpha() && name.starts_with("jpeg") {
                continue;
            }
            let bytes = codecs.encode(&mut Still::new(picture(channels)?), &options, run)?;
            let marked = codecs.with_metadata(options.format(), &bytes, &metadata, run)?;
            files.push((format!("{name}-{channels:?}-bare"), bytes));
            files.push((format!("{name}-{channels:?}-marked"), marked));
        }
    }
    files.extend(DRAWINGS.iter().enumerate().map(|(at, text)| (format!("svg-{at}"), text.as_bytes().to_vec())));
    for channels in [Channels::Rgb, Channels::Rgba] {
        for (name, options) in moving_encodings() {
            let bytes = codecs.encode(&mut Moving::new(channels)?, &options, run)?;
            let marked = codecs.with_metadata(options.format(), &bytes, &metadata, run)?;
            files.push((format!("{name}-{channels:?}-moving-bare"), bytes));
            files.push((format!("{name}-{channels:?}-moving-marked"), marked));
        }
    }
    Ok(files)
}

/// Pictures in which a stripe moves.
struct Moving {
    pictures: Vec<Picture>,
    next: usize,
}

impl Moving {
    fn new(channels: Channels) -> lapidary::Result<Self> {
        let count = channels.count();
        let sample = |frame: usize, at: usize| match (at / count + frame * 5) % 19 {
            0..4 => (frame * 40 + at % count * 60) as u8,
            _ if at % count == 3 => {
                if at / count % 7 == 0 {
                    0
                } else {
                    255
                }
            }
            _ => (at / count / 40 * 9) as u8,
        };
        let samples = |frame| (0..WIDTH as usize * HEIGHT as usize * count).map(|at| sample(frame, at)).collect();
        let picture = |frame| Picture::new(WIDTH, HEIGHT, channels, Samples::Eight(samples(frame)));
        Ok(Self { pictures: (0..4).map(picture).collect::<lapidary::Result<_>>()?, next: 0 })
    }
}

impl Frames for Moving {
    fn layout(&self) -> Layout {
        self.pictures[0].layout()
    }

    fn plays(&self) -> Plays {
        Plays::Forever
    }

    fn next(&mut self, _: Run<'_>) -> lapidary::Result<Option<Frame<'_>>> {
        self.next += 1;
        let delay = Delay { numerator: 40 * self.next as u32, ..Delay::NONE };
        Ok(self.pictures.get(self.next - 1).map(|picture| Frame { picture: Cow::Borrowed(picture), delay }))
    }

    fn restart(&mut self) -> lapidary::Result<()> {
        self.next = 0;
        Ok(())
    }
}

fn moving_encodings() -> [(&'static str, EncodeOptions); 5] {
    [
        ("gif-exact", EncodeOptions::Gif(GifOptions::new(0.0))),
        ("gif-lossy", EncodeOptions::Gif(GifOptions::new(20.0))),
        ("apng-plain", EncodeOptions::Apng(ApngOptions { effort: 2 })),
        ("webp-lossy", EncodeOptions::Webp(WebpOptions::lossy(60.0))),
        ("webp-lossless", EncodeOptions::Webp(WebpOptions::lossless())),
    ]
}

fn encodings() -> Vec<(&'static str, EncodeOptions)> {
    let jpeg = |progressive, sampling| {
        let (luma, chroma) = ([12; 64], [20; 64]);
        EncodeOptions::Jpeg(JpegOptions { luma, chroma, sampling, progressive, trellis: false })
    };
    vec![
        ("jpeg-baseline", jpeg(false, Sampling::Half)),
        ("jpeg-progressive", jpeg(true, Sampling::Full)),
        ("png-plain", EncodeOptions::Png(PngOptions { interlaced: false, effort: 2 })),
        ("png-interlaced", EncodeOptions::Png(PngOptions { interlaced: true, effort: 0 })),
        ("webp-lossy", EncodeOptions::Webp(WebpOptions::lossy(60.0))),
        ("webp-lossless", EncodeOptions::Webp(WebpOptions::lossless())),
    ]
}

fn picture(channels: Channels) -> lapidary::Result<Picture> {
    let count = channels.count();
    let sample = |at: usize| (at / count * 7 + at % count * 50 + (at / 5) % 11) as u8;
    let samples = (0..WIDTH as usize * HEIGHT as usize * count).map(sample).collect();
    Picture::new(WIDTH, HEIGHT, channels, Samples::Eight(samples))
}
