//! What holds for all requests, tried on many made up by a fixed seed.

use super::*;

/// Xorshift, as good as needed to mix cases.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn within<T: TryFrom<i64>>(&mut self, from: i64, to: i64) -> T {
        let number = match self.below(4) {
            0 => from,
            1 => to,
            _ => from + self.below((to - from + 1).unsigned_abs()).cast_signed(),
        };
        T::try_from(number).ok().expect("a range that fits its type")
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).expect("an index")]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }
}

fn resize(dice: &mut Dice) -> Resize {
    let mode = dice.pick(ResizeMode::ALL);
    let side = |dice: &mut Dice| dice.within(1, i64::from(LONGEST_SIDE_PX));
    let (width, height) = (side(dice), side(dice));
    let all = mode != ResizeMode::Auto;
    let which = dice.below(3);
    Resize {
        width: (all || which != 0).then_some(width),
        height: (all || which != 1).then_some(height),
        mode,
        gravity: dice.pick(Gravity::ALL),
        upscale: dice.coin(),
        background: dice.maybe(|dice| Rgba([(); 4].map(|()| dice.within(0, 255)))),
    }
}

fn tone(dice: &mut Dice) -> Tone {
    Tone {
        auto: dice.coin(),
        exposure: dice.maybe(|dice| dice.within(-100, 100)).unwrap_or_default(),
        contrast: dice.maybe(|dice| dice.within(-100, 100)).unwrap_or_default(),
        highlights: dice.maybe(|dice| dice.within(-100, 100)).unwrap_or_default(),
        shadows: dice.maybe(|dice| dice.within(-100, 100)).unwrap_or_default(),
        saturation: dice.maybe(|dice| dice.within(-100, 100)).unwrap_or_default(),
        warmth: dice.maybe(|dice| dice.within(-100, 100)).unwrap_or_default(),
        sharpness: dice.maybe(|dice| dice.within(0, 100)).unwrap_or_default(),
    }
}

fn texts(dice: &mut Dice) -> BTreeMap<String, String> {
    const VALUES: [&str; 4] = ["", "a b", "größe", "x/y:z@1"];
    (0..dice.below(4)).map(|n| (format!("name-{n}"), dice.pick(&VALUES).into())).collect()
}

fn store(dice: &mut Dice) -> Store {
    let bucket = dice.pick(&["abc", "a-b.c9", "123"]);
    let plain = if dice.coin() {
        Store::connector("connector 1", bucket, "eu-1")
    } else {
        Store::inline(dice.pick(Provider::ALL), ("key", "se\"cret\\ü"), bucket, "eu-1")
    };
    Store {
        path: dice.maybe(|dice| dice.pick(&["", "a/b", "ü \"x\""]).into()),
        acl: dice.pick(Acl::ALL),
        class: dice.pick(StorageClass::ALL),
        metadata: texts(dice),
        headers: (0..dice.below(3)).map(|_| (dice.pick(ObjectHeader::ALL), "a, b".into())).collect(),
        tags: texts(dice),
        ..plain
    }
}

fn request(dice: &mut Dice) -> Request {
    Request {
        url: dice.maybe(|dice| dice.pick(&["http://a", "https://u:p@bücher.example/ä b?x#y"]).into()),
        optimize: dice.maybe(|dice| Optimize {
            compression: dice.maybe(|dice| dice.pick(Compression::ALL)),
            quality: dice.maybe(|dice| dice.within(1, 100)),
        }),
        resize: dice.maybe(resize),
        upscale: dice.maybe(|dice| Upscale { factor: dice.within(1, 8), model: dice.pick(UpscaleModel::ALL) }),
        denoise: dice.maybe(|dice| Denoise::strength(dice.within(0, 100))),
        light: dice.maybe(|dice| Light::strength(dice.pick(&[0, 49, 50, 100]))),
        tone: dice.maybe(tone),
        face: dice.maybe(|dice| Face { strength: dice.pick(&[0, 79, 80, 100]), target: dice.pick(FaceTarget::ALL) }),
        output: Output {
            format: dice.pick(OutputFormat::ALL),
            encoding: dice.maybe(|dice| dice.pick(Encoding::ALL)),
            metadata: (0..dice.below(4)).map(|_| dice.pick(MetadataKind::ALL)).collect(),
            keep_ids: dice.coin(),
        },
        headers: (0..dice.below(3)).map(|n| (format!("X-{n}"), format!("\"value\" {n}").into())).collect(),
        store: dice.maybe(store),
        webhook: dice.maybe(|dice| Webhook { url: "https://u:p@a/?x".into(), delay: dice.within(0, 86_400) }),
    }
}

#[test]
fn every_request_comes_back_from_its_json() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for _ in 0..3000 {
        let request = request(&mut dice);
        assert!(request.validate().is_ok(), "{request:?}");
        let value = request.to_json();
        assert_eq!(Request::from_value(&value).unwrap(), request);
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(Request::from_json(text.as_bytes()).unwrap(), request);
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}

#[test]
fn canonical_json_comes_back_letter_by_letter() {
    for text in [
        r#"{}"#,
        r#"{"url":"https://user:pass@example.com/a.jpg?x=1"}"#,
        r#"{"optimize":{}}"#,
        r#"{"optimize":{"compression":"medium"}}"#,
        r#"{"optimize":{"compression":"ultra","quality":1}}"#,
        r##"{"resize":{"width":800,"height":600,"mode":"pad","gravity":"top-left","upscale":false,"background":"#ffffff80"}}"##,
        r#"{"upscale":{"factor":4,"model":"clean"},"denoise":true,"light":{"strength":10},"tone":true,"face":true}"#,
        r#"{"denoise":{"strength":0},"light":true,"tone":{},"face":{"strength":0,"target":"largest"}}"#,
        r#"{"tone":{"auto":true,"exposure":-100,"contrast":1,"highlights":2,"shadows":3,"saturation":4,"warmth":5,"sharpness":6}}"#,
        r#"{"output":{"format":"smallest","encoding":"baseline","metadata":[],"keep_ids":true}}"#,
        r#"{"output":{"metadata":["location","date","date"]}}"#,
        r#"{"headers":{"Accept":"image/png","x-key":"s"}}"#,
        r#"{"store":{"provider":"aws","key":"k","secret":"s","bucket":"abc","region":"r","path":"a/b","acl":"private","class":"glacier","metadata":{"a":"b"},"headers":{"Expires":"0","Cache-Control":"x"},"tags":{"t":""}}}"#,
        r#"{"store":{"id":"c1","bucket":"abc","region":"r","path":""},"webhook":{"url":"https://a/","delay":1}}"#,
    ] {
        let request = Request::from_json(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
    }
}

#[test]
fn defaults_and_other_spellings_come_back_with_the_same_meaning() {
    for (text, canonical) in [
        (r#"{"output":{"format":"jpg"}}"#, r#"{"output":{"format":"jpeg"}}"#),
        (r#"{"output":{"format":"auto","metadata":["copyright"],"keep_ids":false}}"#, "{}"),
        (r#"{"resize":{"upscale":true,"mode":"auto","height":1}}"#, r#"{"resize":{"height":1}}"#),
        (r##"{"resize":{"width":1,"background":"#FFFFFFff"}}"##, r##"{"resize":{"width":1,"background":"#ffffff"}}"##),
        (
            r#"{"denoise":{"strength":50},"tone":{"auto":true,"warmth":0},"face":{}}"#,
            r#"{"denoise":true,"tone":true,"face":true}"#,
        ),
        (r#"{"headers":{}}"#, "{}"),
        (r#"{"webhook":{"delay":0,"url":"http://a"}}"#, r#"{"webhook":{"url":"http://a"}}"#),
    ] {
        let request = Request::from_json(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), canonical);
        assert_eq!(Request::from_json(canonical.as_bytes()).unwrap(), request);
    }
}

#[test]
fn broken_bodies_are_refused_or_read_and_never_panic() {
    let mut dice = Dice(7);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut text = serde_json::to_vec(&request(&mut dice)).unwrap();
        for _ in 0..dice.below(3) {
            let at = dice.within::<usize>(0, text.len().cast_signed() as i64 - 1);
            text[at] = dice.pick(b"\"{}[]:,0-x\\\xFF");
        }
        match Request::from_json(&text) {
            Ok(request) => {
                read += 1;
                assert_eq!(Request::from_value(&request.to_json()).unwrap(), request);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}
