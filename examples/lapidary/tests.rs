//! The program as a whole.

use std::{
    fs,
    io::{self, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{arguments::Arguments, interrupt::Interrupt, run};

/// A folder of its own for each test, gone at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lapidary-example-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A small picture, in the format of the name.
    fn picture(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let pixel = |x, y| image::Rgb([(x * 5) as u8, (y * 7) as u8, 90]);
        image::RgbImage::from_fn(40, 30, pixel).save(&path).unwrap();
        path
    }

    /// Exit state and printed lines of a run into the folder `out`.
    fn run(&self, inputs: &[&Path], request: Value) -> (usize, Vec<Value>) {
        self.run_into("out", inputs, request)
    }

    fn run_into(&self, folder: &str, inputs: &[&Path], request: Value) -> (usize, Vec<Value>) {
        let mut out = Vec::new();
        let failed = run(&self.arguments(folder, inputs, request), &Interrupt::default(), &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        (failed, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn arguments(&self, folder: &str, inputs: &[&Path], request: Value) -> Arguments {
        let inputs = inputs.iter().map(PathBuf::from).collect();
        let jobs = NonZeroUsize::new(3).unwrap();
        Arguments { inputs, folder: self.at(folder), request, fonts: Vec::new(), jobs, json: true }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn path(line: &Value) -> PathBuf {
    line["path"].as_str().unwrap().into()
}

#[test]
fn every_input_gets_its_line_in_order_and_failures_do_not_stop_the_others() {
    let place = Place::new("order");
    let (first, last) = (place.picture("a.png"), place.picture("z.jpg"));
    let (missing, text) = (place.at("missing.png"), place.at("text.png"));
    fs::write(&text, "no picture").unwrap();
    let (failed, lines) = place.run(&[&first, &missing, &text, &last], json!({}));
    assert_eq!(failed, 2);
    assert_eq!(
        lines.iter().map(|line| line["success"].as_bool().unwrap()).collect::<Vec<_>>(),
        [true, false, false, true]
    );
    assert_eq!((&lines[1]["code"], &lines[2]["code"]), (&json!(404), &json!(422)));
    assert_eq!((path(&lines[1]), path(&lines[2])), (missing, text));
    assert_eq!((path(&lines[0]), path(&lines[3])), (place.at("out/a.png"), place.at("out/z.jpg")));
    assert_eq!(lines[3]["source"], last.to_str().unwrap());
    for line in [&lines[0], &lines[3]] {
        assert_eq!(fs::metadata(path(line)).unwrap().len(), line["output"]["bytes"].as_u64().unwrap());
        assert!(line["ms"].as_f64().unwrap() >= 0.0);
    }
    assert_eq!(fs::read_dir(place.at("out")).unwrap().count(), 2);
}

#[test]
fn inputs_of_the_same_name_get_outputs_of_their_own() {
    let place = Place::new("same");
    let pictures = ["a/p.png", "b/p.png", "c/p.jpg"].map(|name| place.picture(name));
    let (failed, lines) = place.run(&pictures.each_ref().map(PathBuf::as_path), json!({}));
    assert_eq!(failed, 0);
    assert_eq!(
        [0, 1, 2].map(|i| path(&lines[i])),
        ["out/p.png", "out/p-2.png", "out/p.jpg"].map(|name| place.at(name))
    );
}

#[test]
fn the_extension_follows_the_format() {
    let place = Place::new("extension");
    let (_, lines) = place.run(&[&place.picture("p.png")], json!({"output": {"format": "webp"}}));
    assert_eq!(path(&lines[0]), place.at("out/p.webp"));
    assert_eq!(lapidary::sniff(&fs::read(place.at("out/p.webp")).unwrap()), Some(lapidary::Format::Webp));
}

#[test]
fn no_input_is_overwritten() {
    let place = Place::new("inputs");
    let picture = place.picture("here/p.png");
    let before = fs::read(&picture).unwrap();
    let (failed, lines) = place.run_into("here/../here", &[&picture], json!({}));
    assert_eq!((failed, path(&lines[0]).file_name().unwrap().to_str()), (0, Some("p-2.png")));
    assert_eq!(fs::read(&picture).unwrap(), before);
}

#[test]
fn beside_inputs_no_other_file_is_overwritten() {
    let place = Place::new("beside");
    let (picture, other) = (place.picture("here/p.png"), place.at("here/P.webp"));
    fs::write(&other, "somebody's").unwrap();
    let (failed, lines) = place.run_into("here", &[&picture], json!({"output": {"format": "webp"}}));
    assert_eq!((failed, path(&lines[0]).file_name().unwrap().to_str()), (0, Some("p-2.webp")));
    assert_eq!(fs::read(&other).unwrap(), b"somebody's");
}

#[cfg(unix)]
#[test]
fn no_input_is_overwritten_through_a_link() {
    let place = Place::new("links");
    let picture = place.picture("p.png");
    let before = fs::read(&picture).unwrap();
    std::os::unix::fs::symlink(&place.0, place.at("out")).unwrap();
    assert_eq!(place.run(&[&picture], json!({})).0, 0);
    assert_eq!(fs::read(&picture).unwrap(), before);
}

#[test]
fn a_second_run_replaces_the_results_of_the_first() {
    let place = Place::new("again");
    let picture = place.picture("p.png");
    assert_eq!(place.run(&[&picture], json!({})).1[0]["path"], place.run(&[&picture], json!({})).1[0]["path"]);
    assert_eq!(fs::read_dir(place.at("out")).unwrap().count(), 1);
}

#[test]
fn a_folder_stands_for_the_pictures_in_it_by_name() {
    let place = Place::new("folder");
    for name in ["in/b.png", "in/a.jpg", "in/below/c.png"] {
        place.picture(name);
    }
    fs::copy(place.at("in/a.jpg"), place.at("in/.hidden.jpg")).unwrap();
    fs::write(place.at("in/readme.txt"), "no picture").unwrap();
    fs::write(place.at("in/archive.gz"), [0x1F, 0x8B, 8, 0]).unwrap();
    let (failed, lines) = place.run(&[&place.at("in")], json!({}));
    assert_eq!(failed, 0);
    assert_eq!(lines.iter().map(path).collect::<Vec<_>>(), [place.at("out/a.jpg"), place.at("out/b.png")]);
}

#[test]
fn what_can_be_done_with_no_picture_is_refused_before_any_is_touched() {
    let place = Place::new("request");
    let picture = place.picture("p.png");
    for (request, named) in [
        (json!({"resize": {"width": "wide"}}), "resize.width"),
        (json!({"output": {"format": "avif"}}), "AVIF"),
        (json!({"url": "https://example.com/a.png"}), "url is for services"),
        (json!({"webhook": {"url": "https://example.com/"}}), "webhook is for services"),
    ] {
        let error = run(&place.arguments("out", &[&picture], request), &Interrupt::default(), &mut Vec::new())
            .unwrap_err()
            .to_string();
        assert!(error.contains(named), "{error}");
    }
    assert!(!place.at("out").exists());
}

#[test]
fn what_is_interrupted_reports_no_more_and_leaves_nothing_unnamed() {
    /// Has seen enough with the first report.
    #[derive(Default)]
    struct Reader {
        lines: Vec<u8>,
        interrupt: Interrupt,
    }
    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.interrupt.come();
            self.lines.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = Place::new("interrupt");
    let pictures = ["a.png", "b.png", "c.png", "d.png"].map(|name| place.picture(name));
    let arguments = place.arguments("out", &pictures.each_ref().map(PathBuf::as_path), json!({}));
    let mut reader = Reader::default();
    let interrupt = reader.interrupt.clone();
    assert_eq!(run(&arguments, &interrupt, &mut reader).unwrap(), 0);
    assert_eq!(String::from_utf8(reader.lines).unwrap().lines().count(), 1);
    let files = fs::read_dir(place.at("out")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(files.collect::<Vec<_>>(), ["a.png"]);
}

#[test]
fn what_is_no_font_is_refused_by_its_name() {
    let place = Place::new("fonts");
    let picture = place.picture("a.png");
    fs::create_dir_all(place.at("empty")).unwrap();
    for (font, problem) in [("a.png", "is no font"), ("empty", "has no fonts"), ("none.ttf", "none.ttf")] {
        let arguments = Arguments { fonts: vec![place.at(font)], ..place.arguments("out", &[&picture], json!({})) };
        let error = run(&arguments, &Interrupt::default(), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains(font) && error.contains(problem), "{error}");
    }
}
