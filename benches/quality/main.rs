//! How near enlarged and cleaned pictures come to their originals, beside classical methods:
//!
//! ```text
//! cargo bench --bench quality -- FOLDER [TASK]
//! ```
//!
//! FOLDER holds originals without loss (PNG, lossless WebP); without one, the shipped picture serves. TASK is the beginning
//! of a name: `x2`, `x4`, `photo`, `noise`, `jpeg`, `clean`; without one all are done. Printed are means over the folder: PSNR
//! and SSIM, of luma and without a border as wide as the factor for enlarging, as in the published tables, of red, green and
//! blue for the rest; and SSIMULACRA2.

mod classical;
mod measures;

use std::{error::Error, path::PathBuf, sync::Arc};

use image::{DynamicImage, RgbImage, codecs::jpeg::JpegEncoder, imageops::FilterType};
use lapidary::{
    Limits, Run, Unattended,
    operation::{Denoise, Model, Models, Operation, Upscale},
    picture::{Channels, Picture, Samples},
};
use measures::Score;

/// A way to a result, by name.
type Method<'a> = (&'a str, Box<dyn Fn(&RgbImage) -> RgbImage + 'a>);

/// Something to be done to all originals.
struct Task<'a> {
    name: String,
    /// How often an original's sides are divided.
    divisor: u32,
    /// Enlarging is judged by luma, without a border.
    border: Option<u32>,
    /// What is made of an original.
    spoil: Box<dyn Fn(&RgbImage) -> RgbImage + 'a>,
    methods: Vec<Method<'a>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    // What cargo passes to every bench is no folder.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let folder = words.next().map_or_else(|| PathBuf::from("examples/pictures"), PathBuf::from);
    let wanted = words.next().unwrap_or_default();
    let mut originals = Vec::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if let Ok(picture) = image::open(&path) {
            originals.push(picture);
        }
    }
    println!("{} pictures in {}", originals.len(), folder.display());
    let models = Models::default();
    for task in tasks(&models).into_iter().filter(|task| task.name.starts_with(&wanted)) {
        println!("\n{:<28}{:>9}{:>9}{:>13}", task.name, "PSNR", "SSIM", "SSIMULACRA2");
        let mut sums: Vec<(&str, Score)> = task.methods.iter().map(|(name, _)| (*name, Score::default())).collect();
        for original in &originals {
            let original = if task.name.contains("grey") { &DynamicImage::from(original.to_luma8()) } else { original };
            let (width, height) = (original.width(), original.height());
            let divided = |side: u32| side / task.divisor * task.divisor;
            let original = original.crop_imm(0, 0, divided(width), divided(height)).to_rgb8();
            let spoiled = (task.spoil)(&original);
            for ((_, method), (_, sum)) in task.methods.iter().zip(&mut sums) {
                *sum += Score::of(&original, &method(&spoiled), task.border);
            }
        }
        for (name, sum) in sums {
            let Score { psnr, ssim, ssimulacra2 } = sum.over(originals.len());
            println!("{name:<28}{psnr:>9.2}{ssim:>9.4}{ssimulacra2:>13.2}");
        }
    }
    Ok(())
}

fn tasks(models: &Models) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    let shrunk = |by: u32| {
        move |picture: &RgbImage| {
            let (width, height) = (picture.width() / by, picture.height() / by);
            image::imageops::resize(picture, width, height, FilterType::CatmullRom)
        }
    };
    for by in [2, 3, 4] {
        let mut methods = filters(by);
        if !models.upscale_clean.is_empty() {
            let clean = &models.upscale_clean;
            methods.push(("lapidary clean", Box::new(move |picture| upscaled(clean, clean, by, picture))));
        }
        tasks.push(Task {
            name: format!("x{by}, reduced by bicubic"),
            divisor: by,
            border: Some(by),
            spoil: Box::new(shrunk(by)),
            methods,
        });
    }
    for by in [2, 4] {
        let mut methods = filters(by);
        if !models.upscale_photo.is_empty() {
            let Models { upscale_photo: photo, upscale_clean: clean, .. } = models;
            methods.push(("lapidary photo", Box::new(move |picture| upscaled(photo, clean, by, picture))));
        }
        let spoil = Box::new(move |picture: &RgbImage| jpeg(&shrunk(by)(picture).into(), 80).to_rgb8());
        tasks.push(Task { name: format!("photo x{by}, JPEG 80"), divisor: by, border: Some(by), spoil, methods });
    }
    let Some(model) = &models.denoise else { return tasks };
    for sigma in [15.0, 25.0, 50.0] {
        let methods: Vec<Method<'_>> = vec![
            ("as it is", Box::new(RgbImage::clone)),
            ("non-local means", Box::new(move |picture| classical::non_local_means(picture, sigma))),
            ("lapidary", Box::new(move |picture| cleaned(model, None, picture))),
        ];
        let spoil = Box::new(move |picture: &RgbImage| classical::noisy(picture, sigma));
        tasks.push(Task { name: format!("noise, sigma {sigma}"), divisor: 1, border: None, spoil, methods });
    }
    for (name, quality, grey) in
        [("jpeg 10", 10, false), ("jpeg 10, grey", 10, true), ("jpeg 40", 40, false), ("jpeg 80", 80, false)]
    {
        let spoil = Box::new(move |picture: &RgbImage| {
            let picture = DynamicImage::from(picture.clone());
            jpeg(&if grey { picture.grayscale() } else { picture }, quality).to_rgb8()
        });
        tasks.push(Task {
            name: name.to_owned(),
            divisor: 1,
            border: None,
            spoil,
            methods: removal(model, Some(quality)),
        });
    }
    tasks.push(Task {
        name: "clean".to_owned(),
        divisor: 1,
        border: None,
        spoil: Box::new(RgbImage::clone),
        methods: removal(model, None),
    });
    tasks
}

fn filters(by: u32) -> Vec<Method<'static>> {
    let filter = |name, filter| -> Method<'static> {
        let method = move |picture: &RgbImage| {
            image::imageops::resize(picture, picture.width() * by, picture.height() * by, filter)
        };
        (name, Box::new(method))
    };
    vec![
        filter("nearest", FilterType::Nearest),
        filter("bicubic", FilterType::CatmullRom),
        filter("Lanczos", FilterType::Lanczos3),
    ]
}

fn removal(model: &Arc<dyn Model>, jpeg: Option<u8>) -> Vec<Method<'_>> {
    vec![("as it is", Box::new(RgbImage::clone)), ("lapidary", Box::new(move |picture| cleaned(model, jpeg, picture)))]
}

fn jpeg(picture: &DynamicImage, quality: u8) -> DynamicImage {
    let mut stored = Vec::new();
    picture.write_with_encoder(JpegEncoder::new_with_quality(&mut stored, quality)).expect("a JPEG is written");
    image::load_from_memory(&stored).expect("a JPEG is read")
}

fn upscaled(first: &[Arc<dyn Model>], then: &[Arc<dyn Model>], factor: u32, picture: &RgbImage) -> RgbImage {
    applied(&Upscale { factor, first: first.to_vec(), then: then.to_vec() }, picture)
}

fn cleaned(model: &Arc<dyn Model>, jpeg: Option<u8>, picture: &RgbImage) -> RgbImage {
    applied(&Denoise { strength: 50, jpeg, model: Arc::clone(model) }, picture)
}

fn applied(operation: &dyn Operation, picture: &RgbImage) -> RgbImage {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    let samples = Samples::Eight(picture.as_raw().clone());
    let result = Picture::new(picture.width(), picture.height(), Channels::Rgb, samples)
        .and_then(|picture| match operation.prepare(&picture, run)? {
            Some(step) => step.apply(picture, run),
            None => Ok(picture),
        })
        .expect("the operation succeeds");
    let (width, height) = (result.width(), result.height());
    RgbImage::from_raw(width, height, result.eight().expect("8 bits stay 8").to_vec()).expect("the samples fit")
}
