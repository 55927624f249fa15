//! The command line, and the request that it makes.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf};

use serde_json::{Map, Value, json};

pub const HELP: &str = "\
Optimises, resizes and converts pictures.

Usage: lapidary [OPTIONS] INPUT...

An INPUT is a picture, or a folder whose pictures are taken (hidden ones and those in folders within are not). Results go
to the output folder under the names of their inputs, with the extension of their format. Where names meet, a number is
added: no input is ever overwritten, nor is any other file where the output folder is that of an input. Elsewhere results
of earlier runs are replaced.

  -o, --output DIR     output folder, created if missing [default: optimised]
      --request JSON   what to do, as in the body of the HTTP interface; @FILE reads it from a file
      --compression P  lossless, low, medium, high or ultra; the stronger, the smaller [default: medium, but results in
                       WebP and APNG are lossless while only passed on, or made from what is lossless]
      --quality N      1 to 100, in place of a preset
      --resize SIZE    WxH, Wx or xH, in pixels
      --format F       auto, jpeg, png, webp, gif, svg (from SVG alone) or smallest [default: auto, as the input]
      --font FILE      font for the text of SVG, or a folder of fonts; may be given several times; without any, text is
                       not drawn where SVG is turned to pixels
      --jobs N         pictures worked on at a time [default: one a processor]
      --json           one line of JSON for every input instead of a table:
                       {\"success\":true,\"input\":{..},\"output\":{..},\"ms\":..,\"source\":\"input\",\"path\":\"file written\"}
                       {\"success\":false,\"code\":422,\"message\":\"..\",\"path\":\"input\"}
  -h, --help           this text
  -V, --version        the version

The options for single settings go over what --request says. Exit status: 0 if all went well, 1 if an input failed (the
others are still done), 2 for wrong usage, 130 by Ctrl-C, which ends the work and leaves what is done.
";

/// What a command line asks for.
#[derive(Debug)]
pub enum Command {
    Help,
    Version,
    Process(Arguments),
}

/// What to process, and how.
#[derive(Debug)]
pub struct Arguments {
    /// Files and folders as given, at least one.
    pub inputs: Vec<PathBuf>,
    /// Output folder.
    pub folder: PathBuf,
    /// The request's JSON; not yet validated.
    pub request: Value,
    /// Fonts for the text of SVG: files, and folders of them.
    pub fonts: Vec<PathBuf>,
    /// Pictures worked on at a time.
    pub jobs: NonZeroUsize,
    /// Whether to print JSON lines.
    pub json: bool,
}

impl Command {
    /// Reads the arguments behind the program's name.
    ///
    /// # Errors
    /// What is wrong with them, as a sentence.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut reader = Reader { rest: arguments.into_iter(), request: None, settings: Vec::new() };
        let (mut inputs, mut folder, mut jobs, mut json) = (Vec::new(), PathBuf::from("optimised"), None, false);
        let mut fonts = Vec::new();
        while let Some(argument) = reader.rest.next() {
            if argument == "-" {
                return Err("pictures are read from files, not from standard input".into());
            }
            let Some((name, value)) = option(&argument) else {
                inputs.push(argument.into());
                continue;
            };
            match name.as_str() {
                "-h" | "--help" => return Ok(Self::Help),
                "-V" | "--version" => return Ok(Self::Version),
                "--json" if value.is_none() => json = true,
                "--" if value.is_none() => inputs.extend(reader.rest.by_ref().map(PathBuf::from)),
                "-o" | "--output" => folder = reader.os_value(&name, value)?.into(),
                "--font" => fonts.push(reader.os_value(&name, value)?.into()),
                "--jobs" => jobs = Some(reader.number(&name, value)?),
                _ => reader.setting(&name, value)?,
            }
        }
        if inputs.is_empty() {
            return Err("no INPUT is given".into());
        }
        let jobs =
            jobs.map_or_else(|| Ok(processors()), |n| NonZeroUsize::new(n).ok_or("--jobs must be at least 1"))?;
        Ok(Self::Process(Arguments { inputs, folder, request: reader.merged(), fonts, jobs, json }))
    }
}

/// Name and attached value of an option; `None` for an input.
fn option(argument: &OsString) -> Option<(String, Option<String>)> {
    let text = argument.to_str().filter(|text| text.starts_with('-'))?;
    match (text.split_once('='), text.strip_prefix("-o")) {
        (_, Some(value)) if !value.is_empty() => Some(("-o".into(), Some(value.into()))),
        (Some((name, value)), _) => Some((name.into(), Some(value.into()))),
        (None, _) => Some((text.into(), None)),
    }
}

struct Reader<I> {
    rest: I,
    request: Option<Value>,
    /// JSON paths of two names with their values, in the order given; `null` removes.
    settings: Vec<([&'static str; 2], Value)>,
}

impl<I: Iterator<Item = OsString>> Reader<I> {
    /// An option that becomes a part of the request.
    fn setting(&mut self, name: &str, value: Option<String>) -> Result<(), String> {
        match name {
            "--request" => self.request = Some(request(&self.value(name, value)?)?),
            "--compression" => {
                let preset = self.value(name, value)?;
                // Goes first, so that a quality of the request goes, and one of the command line stays.
                self.settings.insert(0, (["optimize", "quality"], Value::Null));
                self.settings.push((["optimize", "compression"], preset.into()));
            }
            "--quality" => {
                let quality: i64 = self.number(name, value)?;
                self.settings.push((["optimize", "quality"], quality.into()));
            }
            "--format" => {
                let format = self.value(name, value)?;
                self.settings.push((["output", "format"], format.into()));
            }
            "--resize" => {
                let [width, height] = size(&self.value(name, value)?)?;
                self.settings.extend([(["resize", "width"], width), (["resize", "height"], height)]);
            }
            _ => return Err(format!("{name} is no option")),
        }
        Ok(())
    }

    fn os_value(&mut self, name: &str, attached: Option<String>) -> Result<OsString, String> {
        attached.map(OsString::from).or_else(|| self.rest.next()).ok_or_else(|| format!("{name} needs a value"))
    }

    fn value(&mut self, name: &str, attached: Option<String>) -> Result<String, String> {
        self.os_value(name, attached)?.into_string().map_err(|_| format!("the value of {name} is not UTF-8"))
    }

    fn number<N: std::str::FromStr>(&mut self, name: &str, attached: Option<String>) -> Result<N, String> {
        let value = self.value(name, attached)?;
        value.parse().map_err(|_| format!("{name} must be a whole number, got {value:?}"))
    }

    /// The request with the single settings over it. What has the wrong type is left for validation to name.
    fn merged(self) -> Value {
        let mut request = self.request.unwrap_or_else(|| json!({}));
        for ([object, field], value) in self.settings {
            let Some(root) = request.as_object_mut() else { break };
            let Some(fields) = root.entry(object).or_insert_with(|| Map::new().into()).as_object_mut() else {
                continue;
            };
            match value {
                Value::Null => fields.remove(field),
                value => fields.insert(field.into(), value),
            };
        }
        request
    }
}

fn request(text: &str) -> Result<Value, String> {
    let json = match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?,
        None => text.into(),
    };
    serde_json::from_str(&json).map_err(|error| format!("--request is no JSON: {error}"))
}

/// Width and height; a side that is not given is `null`.
fn size(text: &str) -> Result<[Value; 2], String> {
    let side = |digits: &str| match digits {
        "" => Some(Value::Null),
        _ => digits.bytes().all(|c| c.is_ascii_digit()).then(|| digits.parse::<u64>().ok().map(Value::from))?,
    };
    let sides = text.split_once(['x', 'X']).filter(|(width, height)| !(width.is_empty() && height.is_empty()));
    sides
        .and_then(|(width, height)| Some([side(width)?, side(height)?]))
        .ok_or_else(|| format!("--resize must be WxH, Wx or xH, got {text:?}"))
}

fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, String> {
        match Command::parse(arguments.iter().map(OsString::from))? {
            Command::Process(arguments) => Ok(arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn single_settings_go_over_the_request() {
        let request = r#"{"optimize":{"compression":"low"},"resize":{"height":9,"mode":"fit"}}"#;
        let given = ["--quality=80", "a", "--request", request, "--resize", "800x", "--format", "webp"];
        let expected = json!({
            "optimize": { "compression": "low", "quality": 80 },
            "resize": { "width": 800, "mode": "fit" },
            "output": { "format": "webp" },
        });
        assert_eq!(parse(&given).unwrap().request, expected);
        let optimize = |given: &[&str]| parse(given).unwrap().request["optimize"].clone();
        let low = json!({ "compression": "low" });
        assert_eq!(optimize(&["--compression", "low", "--request", r#"{"optimize":{"quality":10}}"#, "a"]), low);
        let both = json!({ "compression": "low", "quality": 9 });
        assert_eq!(optimize(&["--quality", "9", "--compression", "low", "a"]), both);
    }

    #[test]
    fn a_setting_of_the_wrong_type_is_left_for_validation() {
        let request = |text| parse(&["--quality", "5", "--request", text, "a"]).unwrap().request;
        assert_eq!(request(r#"{"optimize":true}"#), json!({"optimize": true}));
        assert_eq!(request("[]"), json!([]));
    }

    #[test]
    fn values_are_attached_or_follow_and_everything_behind_two_dashes_is_an_input() {
        for given in [["-o", "d", "--json", "--", "--json"], ["--jobs=3", "-od", "--json", "--", "--json"]] {
            let arguments = parse(&given).unwrap();
            assert_eq!((arguments.folder, arguments.json), ("d".into(), true));
            assert_eq!(arguments.inputs, [PathBuf::from("--json")]);
        }
    }

    #[test]
    fn wrong_usage_is_named() {
        let cases: [(&[&str], &str); 10] = [
            (&[], "no INPUT"),
            (&["-"], "from files"),
            (&["-o"], "-o needs a value"),
            (&["--jobs", "0", "a"], "--jobs must be at least 1"),
            (&["--jobs", "x", "a"], "whole number"),
            (&["--resize", "x", "a"], "WxH"),
            (&["--resize", "12", "a"], "WxH"),
            (&["--resize", "+1x2", "a"], "WxH"),
            (&["--request", "{", "a"], "no JSON"),
            (&["--fast", "a"], "--fast is no option"),
        ];
        for (given, expected) in cases {
            let error = parse(given).unwrap_err();
            assert!(error.contains(expected), "{given:?}: {error}");
        }
        let fonts = parse(&["--font", "a.ttf", "--font=b", "c"]).unwrap().fonts;
        assert_eq!(fonts, [PathBuf::from("a.ttf"), "b".into()]);
        assert!(parse(&["--request", "@/no/such/file", "a"]).unwrap_err().contains("cannot read"));
    }
}
