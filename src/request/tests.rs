//! The rules of every object, and what holds for all requests.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::error::Error;

mod properties;

fn violations(way: Way, text: &str) -> Vec<String> {
    match Request::from_json_for(way, text.as_bytes()) {
        Ok(_) => Vec::new(),
        Err(Error::Request { violations }) => violations.iter().map(ToString::to_string).collect(),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// That `text` is refused for exactly these reasons.
fn refused(text: &str, reasons: &[&str]) {
    assert_eq!(violations(Way::Engine, text), reasons, "{text}");
}

fn accepted(text: &str) {
    assert_eq!(violations(Way::Engine, text), [""; 0], "{text}");
}

/// A store by connector with `more` in it.
fn store(more: &str) -> String {
    format!(r#"{{"store":{{"id":"c1","bucket":"my-bucket","region":"eu-1"{more}}}}}"#)
}

#[test]
fn all_violations_are_reported_in_the_order_of_the_fields() {
    refused(
        r#"{
            "webhook": {"delay": 86401},
            "quality": 3,
            "resize": {"width": "wide", "height": 0, "mode": "cover", "widht": 300},
            "optimize": {"compression": "max", "quality": 101},
            "output": {"metadata": ["copyright", "gps"], "keep_ids": 1}
        }"#,
        &[
            r#"optimize.compression must be one of lossless, low, medium, high, ultra, got "max""#,
            "optimize.quality must be an integer from 1 to 100, got 101",
            r#"resize.width must be an integer from 1 to 16383, got "wide""#,
            "resize.height must be an integer from 1 to 16383, got 0",
            r#"resize.mode must be one of auto, fit, fill, pad, got "cover""#,
            "resize.widht is not a known key (known are width, height, mode, gravity, upscale, background), got 300",
            r#"output.metadata[1] must be one of copyright, profile, date, location, all, got "gps""#,
            "output.keep_ids must be true or false, got 1",
            "webhook.url is required",
            "webhook.delay must be an integer from 0 to 86400, got 86401",
            "quality is not a known key (known are url, optimize, resize, upscale, denoise, light, tone, face, output, \
             headers, store, webhook), got 3",
        ],
    );
}

#[test]
fn a_body_that_is_no_json_is_told_from_one_that_is_not_allowed() {
    assert_eq!(Request::from_json(b"{").unwrap_err().status(), 400);
    assert_eq!(Request::from_json(b"[]").unwrap_err().status(), 422);
    refused("[1,2]", &["the request must be an object, got [***,***]"]);
    refused("null", &["the request must be an object, got null"]);
}

#[test]
fn only_integers_are_integers() {
    for (written, shown) in [
        ("800.0", "800.0"),
        ("8e2", "800.0"),
        ("\"800\"", "\"800\""),
        ("null", "null"),
        ("true", "true"),
        ("[8]", "[8]"),
    ] {
        let reason = format!("resize.width must be an integer from 1 to 16383, got {shown}");
        refused(&format!(r#"{{"resize":{{"width":{written}}}}}"#), &[&reason]);
    }
    for beyond in ["-1", "16384", "4294967297", "18446744073709551615", "-9223372036854775808"] {
        let reason = format!("resize.width must be an integer from 1 to 16383, got {beyond}");
        refused(&format!(r#"{{"resize":{{"width":{beyond}}}}}"#), &[&reason]);
    }
}

#[test]
fn a_number_is_accepted_at_both_ends_of_its_range_and_refused_beyond() {
    for (object, field, more, range) in [
        ("optimize", "quality", "", 1..=100),
        ("resize", "width", "", 1..=16_383),
        ("resize", "height", "", 1..=16_383),
        ("upscale", "factor", "", 1..=8),
        ("denoise", "strength", "", 0..=100),
        ("light", "strength", "", 0..=100),
        ("tone", "exposure", "", -100..=100),
        ("tone", "contrast", "", -100..=100),
        ("tone", "highlights", "", -100..=100),
        ("tone", "shadows", "", -100..=100),
        ("tone", "saturation", "", -100..=100),
        ("tone", "warmth", "", -100..=100),
        ("tone", "sharpness", "", 0..=100),
        ("face", "strength", "", 0..=100),
        ("webhook", "delay", r#","url":"https://a/""#, 0..=86_400),
    ] {
        let text = |number: i32| format!(r#"{{"{object}":{{"{field}":{number}{more}}}}}"#);
        accepted(&text(*range.start()));
        accepted(&text(*range.end()));
        for beyond in [range.start() - 1, range.end() + 1] {
            let kind = if object == "upscale" { "a positive integer" } else { "an integer" };
            let reason =
                format!("{object}.{field} must be {kind} from {} to {}, got {beyond}", range.start(), range.end());
            refused(&text(beyond), &[&reason]);
        }
    }
}

#[test]
fn every_word_is_accepted_and_no_other() {
    for (object, field, more, words) in [
        ("optimize", "compression", "", "lossless, low, medium, high, ultra"),
        ("resize", "mode", r#","width":1,"height":1"#, "auto, fit, fill, pad"),
        (
            "resize",
            "gravity",
            r#","width":1"#,
            "center, top, bottom, left, right, top-left, top-right, bottom-left, bottom-right, smart, face, faces",
        ),
        ("upscale", "model", r#","factor":2"#, "photo, clean"),
        ("face", "target", "", "all, largest"),
        ("output", "format", "", "auto, jpeg, jpg, png, webp, gif, svg, avif, smallest"),
        ("output", "encoding", "", "progressive, baseline"),
        (
            "store",
            "acl",
            r#","id":"c","bucket":"abc","region":"r""#,
            "private, public-read, public-read-write, aws-exec-read, authenticated-read, bucket-owner-read, \
             bucket-owner-full-control",
        ),
        (
            "store",
            "class",
            r#","id":"c","bucket":"abc","region":"r""#,
            "standard, reduced-redundancy, standard-ia, onezone-ia, intelligent-tiering, glacier, deep-archive",
        ),
        (
            "store",
            "provider",
            r#","key":"k","secret":"s","bucket":"abc","region":"r""#,
            "aws, google, digitalocean, custom",
        ),
    ] {
        let text = |value: &str| format!(r#"{{"{object}":{{"{field}":{value}{more}}}}}"#);
        words.split(", ").for_each(|word| accepted(&text(&format!("\"{word}\""))));
        for value in ["\"\"", "\"AUTO\"", "\" auto\"", "7", "null", "[]"] {
            refused(&text(value), &[&format!("{object}.{field} must be one of {words}, got {value}")]);
        }
    }
}

#[test]
fn unknown_keys_are_refused_in_every_object() {
    for (object, more) in [
        ("optimize", ""),
        ("resize", r#","width":1"#),
        ("upscale", r#","factor":2"#),
        ("denoise", ""),
        ("light", ""),
        ("tone", ""),
        ("face", ""),
        ("output", ""),
        ("store", r#","id":"c","bucket":"abc","region":"r""#),
        ("webhook", r#","url":"https://a/""#),
    ] {
        let found = violations(Way::Engine, &format!(r#"{{"{object}":{{"colour":true{more}}}}}"#));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("{object}.colour is not a known key (known are ")), "{found:?}");
        assert!(found[0].ends_with("), got true"), "{found:?}");
    }
}

#[test]
fn odd_keys_are_quoted_and_long_ones_cut_off() {
    let known = "is not a known key (known are compression, quality)";
    refused(r#"{"optimize":{"":1}}"#, &[&format!(r#"optimize[""] {known}, got 1"#)]);
    refused(r#"{"optimize":{"a.b\n":1}}"#, &[&format!(r#"optimize["a.b\n"] {known}, got 1"#)]);
    let long = format!(r#"{{"optimize":{{"{}":1}}}}"#, "a".repeat(100_000));
    refused(&long, &[&format!(r#"optimize["{}…"] {known}, got 1"#, "a".repeat(120))]);
}

#[test]
fn a_key_given_twice_is_refused_wherever_it_is() {
    refused(r#"{"resize":{"width":1},"resize":{"width":2}}"#, &["resize must be given only once"]);
    refused(r#"{"resize":{"width":1,"width":1}}"#, &["resize.width must be given only once"]);
    refused(
        r#"{"optimize":{"quality":0,"quality":1,"quality":2}}"#,
        &["optimize.quality must be given only once", "optimize.quality must be an integer from 1 to 100, got 0"],
    );
    refused(r#"{"headers":{"a":"1","a":"2"}}"#, &["headers.a must be given only once, got ***"]);
    refused(&store(r#","tags":{"a":"1","a":"2"}"#), &[r#"store.tags.a must be given only once, got "2""#]);
}

#[test]
fn objects_are_objects() {
    for object in ["optimize", "resize", "upscale", "output"] {
        for value in ["null", "true", "1", "[]", r#""medium""#] {
            refused(&format!(r#"{{"{object}":{value}}}"#), &[&format!("{object} must be an object, got {value}")]);
        }
    }
    refused(
        r#"{"store":"AKIA","webhook":"https://u:p@a/"}"#,
        &["store must be an object, got ***", "webhook must be an object, got ***"],
    );
}

#[test]
fn enhancements_are_true_or_objects() {
    for object in ["denoise", "light", "tone", "face"] {
        accepted(&format!(r#"{{"{object}":true}}"#));
        accepted(&format!(r#"{{"{object}":{{}}}}"#));
        for value in ["false", "null", "1", "[]", r#""true""#] {
            let reason = format!("{object} must be true or an object, got {value}");
            refused(&format!(r#"{{"{object}":{value}}}"#), &[&reason]);
        }
    }
}

#[test]
fn true_stands_for_the_defaults_and_automatic_tone() {
    let request = Request::from_json(br#"{"denoise":true,"light":true,"tone":true,"face":true}"#).unwrap();
    let built = Request::new()
        .denoise(Denoise::strength(50))
        .light(Light::strength(50))
        .tone(Tone { auto: true, ..Tone::default() })
        .face(Face::strength(80).target(FaceTarget::All));
    assert_eq!(request, built);
    let empty = Request::from_json(br#"{"denoise":{},"light":{},"tone":{},"face":{}}"#).unwrap();
    assert_eq!(empty, built.tone(Tone::default()));
}

#[test]
fn a_resize_needs_a_side_and_cropping_or_filling_needs_both() {
    accepted(r#"{"resize":{"width":1}}"#);
    accepted(r#"{"resize":{"height":1}}"#);
    refused(r#"{"resize":{}}"#, &["resize must have a width, a height or both"]);
    refused(r#"{"resize":{"mode":"auto","upscale":false}}"#, &["resize must have a width, a height or both"]);
    refused(r#"{"resize":{"width":0}}"#, &["resize.width must be an integer from 1 to 16383, got 0"]);
    for mode in ["fit", "fill", "pad"] {
        accepted(&format!(r#"{{"resize":{{"width":1,"height":1,"mode":"{mode}"}}}}"#));
        let (width, height) =
            (format!("resize.width is required for mode {mode}"), format!("resize.height is required for mode {mode}"));
        refused(&format!(r#"{{"resize":{{"width":1,"mode":"{mode}"}}}}"#), &[&height]);
        refused(&format!(r#"{{"resize":{{"height":1,"mode":"{mode}"}}}}"#), &[&width]);
        refused(&format!(r#"{{"resize":{{"mode":"{mode}"}}}}"#), &[&width, &height]);
    }
}

#[test]
fn a_background_is_a_colour() {
    accepted(r##"{"resize":{"width":1,"background":"#00ff7F"}}"##);
    accepted(r##"{"resize":{"width":1,"background":"#00ff7F80"}}"##);
    for value in [r#""white""#, r##""#fff""##, "0", "[0,0,0]"] {
        let reason = format!("resize.background must be a colour as #rrggbb or #rrggbbaa, got {value}");
        refused(&format!(r#"{{"resize":{{"width":1,"background":{value}}}}}"#), &[&reason]);
    }
}

#[test]
fn flags_are_true_or_false() {
    accepted(r#"{"resize":{"width":1,"upscale":false},"tone":{"auto":false},"output":{"keep_ids":true}}"#);
    refused(
        r#"{"resize":{"width":1,"upscale":"no"},"tone":{"auto":1},"output":{"keep_ids":null}}"#,
        &[
            r#"resize.upscale must be true or false, got "no""#,
            "tone.auto must be true or false, got 1",
            "output.keep_ids must be true or false, got null",
        ],
    );
}

#[test]
fn an_upscale_needs_its_factor() {
    refused(r#"{"upscale":{"model":"clean"}}"#, &["upscale.factor is required"]);
    refused(r#"{"upscale":{"factor":2.5}}"#, &["upscale.factor must be a positive integer from 1 to 8, got 2.5"]);
}

#[test]
fn metadata_is_a_list_of_kinds() {
    accepted(r#"{"output":{"metadata":[]}}"#);
    accepted(r#"{"output":{"metadata":["copyright","profile","date","location","all"]}}"#);
    let kinds = "must be one of copyright, profile, date, location, all";
    refused(
        r#"{"output":{"metadata":"all"}}"#,
        &[&format!(r#"output.metadata must be a list whose items {kinds}, got "all""#)],
    );
    refused(
        r#"{"output":{"metadata":[1,"all","x"]}}"#,
        &[&format!("output.metadata[0] {kinds}, got 1"), &format!(r#"output.metadata[2] {kinds}, got "x""#)],
    );
}

#[test]
fn the_way_of_the_image_decides_on_the_url() {
    let with = r#"{"url":"https://u:p@a/b.jpg?t","resize":{}}"#;
    let side = "resize must have a width, a height or both";
    assert_eq!(violations(Way::Engine, with), [side]);
    assert_eq!(violations(Way::Fetch, with), [side]);
    let upload = r#"url must not be given with an upload, got "https://***@a/b.jpg?***""#;
    assert_eq!(violations(Way::Upload, with), [upload, side]);
    let without = r#"{"resize":{}}"#;
    assert_eq!(violations(Way::Engine, without), [side]);
    assert_eq!(violations(Way::Fetch, without), ["url is required", side]);
    assert_eq!(violations(Way::Upload, without), [side]);
    let built = Request::new().url("https://a/");
    assert!(built.validate_for(Way::Fetch).is_ok() && built.validate_for(Way::Upload).is_err());
    assert!(Request::new().validate_for(Way::Fetch).is_err() && Request::new().validate_for(Way::Upload).is_ok());
}

#[test]
fn addresses_are_http_or_https_with_a_host() {
    accepted(r#"{"url":"http://u:p@a.example:81/größe 1.jpg?x#y"}"#);
    accepted(r#"{"webhook":{"url":"https://u:p@a.example/hook?x=%20"}}"#);
    for (value, shown) in
        [("\"ftp://u:p@a/?t\"", "\"ftp://***@a/?***\""), ("\"\"", "\"\""), ("7", "***"), ("null", "null")]
    {
        let image = format!("url must be an http or https URL with a host, got {shown}");
        refused(&format!(r#"{{"url":{value}}}"#), &[&image]);
        let hook = format!("webhook.url must be an http or https URL as of RFC 3986, got {shown}");
        refused(&format!(r#"{{"webhook":{{"url":{value}}}}}"#), &[&hook]);
    }
    refused(
        r#"{"webhook":{"url":"https://a/ä"}}"#,
        &[r#"webhook.url must be an http or https URL as of RFC 3986, got "https://a/ä""#],
    );
}

#[test]
fn headers_and_addresses_have_bounds() {
    let headers = |count: usize, value: &str| {
        let all: Vec<String> = (0..count).map(|at| format!("\"a{at}\":\"{value}\"")).collect();
        format!("{{\"headers\":{{{}}}}}", all.join(","))
    };
    accepted(&headers(100, ""));
    refused(&headers(101, ""), &["headers must have at most 100 entries, got 101 entries"]);
    refused(
        &headers(2, &"x".repeat(8_192)),
        &["headers must have at most 16384 bytes over all names and values, got 16388 bytes"],
    );
    let url = |bytes: usize| format!("https://a.com/{}", "x".repeat(bytes - 14));
    accepted(&format!("{{\"url\":{:?},\"webhook\":{{\"url\":{:?}}}}}", url(16_384), url(16_384)));
    refused(
        &format!("{{\"url\":{:?},\"webhook\":{{\"url\":{:?}}}}}", url(16_385), url(16_386)),
        &[
            "url must have at most 16384 bytes, got 16385 bytes",
            "webhook.url must have at most 16384 bytes, got 16386 bytes",
        ],
    );
}

#[test]
fn fetch_headers_are_checked_and_their_values_never_shown() {
    accepted(r#"{"headers":{}}"#);
    accepted(r#"{"headers":{"Authorization":"Bearer x","X-A":""}}"#);
    refused(r#"{"headers":["a"]}"#, &["headers must be an object of strings, got [***]"]);
    refused(
        r#"{"headers":{"Host":"x","TE":"x","a b":"x","X":"a\nb","Y":1,"x-a":"1","X-A":"2"}}"#,
        &[
            "headers.Host must not be set, it follows from the request, got ***",
            "headers.TE must not be a hop-by-hop header, got ***",
            r#"headers["a b"] must be named by an HTTP token, got ***"#,
            "headers.X must be a string without control characters, got ***",
            "headers.Y must be a string, got ***",
            "headers.X-A must be given only once, got ***",
        ],
    );
}

#[test]
fn a_destination_is_a_connector_or_complete_credentials() {
    let with = |more: &str| format!(r#"{{"store":{{"bucket":"abc","region":"r"{more}}}}}"#);
    accepted(&with(r#","id":"c1""#));
    accepted(&with(r#","provider":"aws","key":"k","secret":"s""#));
    refused(&with(""), &["store must have an id, or provider, key and secret"]);
    for extra in [r#","provider":"aws""#, r#","key":"k""#, r#","secret":"s""#] {
        let text = with(&format!(r#","id":"c1"{extra}"#));
        refused(&text, &["store.id must not be given together with provider, key or secret"]);
    }
    refused(
        &with(r#","key":"k""#),
        &["store.provider is required where id is not given", "store.secret is required where id is not given"],
    );
    let text = "must be a string without control characters, and not empty";
    refused(
        &with(r#","provider":"aws","key":"","secret":12345"#),
        &[&format!("store.key {text}, got ***"), &format!("store.secret {text}, got ***")],
    );
    refused(&with(r#","id":"""#), &[&format!(r#"store.id {text}, got """#)]);
    refused(r#"{"store":{"id":"c"}}"#, &["store.bucket is required", "store.region is required"]);
}

#[test]
fn buckets_have_names_of_s3() {
    let with = |provider: &str, bucket: &str| {
        format!(r#"{{"store":{{"provider":"{provider}","key":"k","secret":"s","bucket":"{bucket}","region":"r"}}}}"#)
    };
    for bucket in ["abc", "a-b.c9", "123", &"a".repeat(63)] {
        accepted(&with("aws", bucket));
        accepted(&with("google", bucket));
    }
    for bucket in
        ["", "ab", &"a".repeat(64), "Abc", "a..b", "-ab", "ab-", ".ab", "ab.", "a/b", "192.168.5.4", "äbc", "a b"]
    {
        for provider in ["aws", "google"] {
            let found = violations(Way::Engine, &with(provider, bucket));
            assert!(found.len() == 1 && found[0].starts_with("store.bucket must be a bucket name: "), "{found:?}");
        }
    }
    accepted(&with("google", "my_bucket"));
    accepted(&with("custom", "my_bucket"));
    assert_eq!(violations(Way::Engine, &with("aws", "my_bucket")).len(), 1);
    assert_eq!(violations(Way::Engine, &with("digitalocean", "my_bucket")).len(), 1);
}

#[test]
fn regions_are_labels_of_host_names() {
    let with = |region: &str| format!(r#"{{"store":{{"id":"c","bucket":"abc","region":"{region}"}}}}"#);
    ["eu-central-1", "EU", "auto", "fra1"].iter().for_each(|region| accepted(&with(region)));
    for region in ["", "a.b", "a/b", "-a", "a-", "a b", "a@b", "ä", &"a".repeat(64)] {
        let found = violations(Way::Engine, &with(region));
        assert!(found.len() == 1 && found[0].starts_with("store.region must be a region: "), "{found:?}");
    }
}

#[test]
fn paths_stay_below_the_bucket() {
    for path in ["", "a", "a/b.c/", "größe/ä b", "a..b", "...", &"a".repeat(1024)] {
        accepted(&store(&format!(r#","path":"{path}""#)));
    }
    for path in
        ["/", "/a", "..", "a/../b", "a/..", ".", "a/./b", "a\\nb", "a\\u0000", &"a".repeat(1025), &"ä".repeat(513)]
    {
        let found = violations(Way::Engine, &store(&format!(r#","path":"{path}""#)));
        assert!(found.len() == 1 && found[0].starts_with("store.path must be a string of at most 1024"), "{found:?}");
    }
}

#[test]
fn object_headers_are_six_and_compare_without_case() {
    accepted(&store(
        r#","headers":{"expires":"0","CACHE-CONTROL":"no-store","Content-Type":"a/b","content-Encoding":"gzip",
          "Content-Language":"de","Content-Disposition":"inline"}"#,
    ));
    refused(
        &store(r#","headers":{"X-A":"b","Expires":"a\nb","expires":"0"}"#),
        &[
            "store.headers.X-A must be named one of Expires, Cache-Control, Content-Type, Content-Encoding, \
         Content-Language, Content-Disposition, got \"b\"",
            r#"store.headers.Expires must be a string without control characters, got "a\nb""#,
            r#"store.headers.expires must be given only once, got "0""#,
        ],
    );
    refused(
        &store(r#","headers":{"Authorization":"b"}"#),
        &["store.headers.Authorization must be named one of Expires, Cache-Control, Content-Type, Content-Encoding, \
         Content-Language, Content-Disposition, got ***"],
    );
}

#[test]
fn object_metadata_is_limited_to_2_kib() {
    accepted(&store(&format!(r#","metadata":{{"a":"{}"}}"#, "x".repeat(2047))));
    refused(
        &store(&format!(r#","metadata":{{"a":"{}"}}"#, "x".repeat(2048))),
        &["store.metadata must have at most 2048 bytes over all names and values, got 2049 bytes"],
    );
    refused(
        &store(r#","metadata":{"a b":"x","a":"x\ny","b":1,"c":"1","C":"2"}"#),
        &[
            r#"store.metadata["a b"] must be named by an HTTP token, got "x""#,
            r#"store.metadata.a must be a string without control characters, got "x\ny""#,
            "store.metadata.b must be a string, got 1",
            r#"store.metadata.C must be given only once, got "2""#,
        ],
    );
}

#[test]
fn tags_have_the_limits_of_s3() {
    let tags = |count: usize| (0..count).map(|n| format!(r#""t{n}":"{n}""#)).collect::<Vec<_>>().join(",");
    let with = |tags: &str| store(&format!(r#","tags":{{{tags}}}"#));
    accepted(&with(&tags(10)));
    refused(&with(&tags(11)), &["store.tags must have at most 10 entries, got 11 entries"]);
    accepted(&with(&format!(r#""{}":"{}""#, "ä".repeat(128), "ö".repeat(256))));
    accepted(&with(r#""A a+-=._:/@9":"A a+-=._:/@9","a":"","A":"""#));
    for (name, value, reason) in [
        ("", "x", "must be named by 1 to 128"),
        (&*"a".repeat(129), "x", "must be named by 1 to 128"),
        ("a&b", "x", "must be named by 1 to 128"),
        ("AWS:a", "x", "must not be named with aws: in front"),
        ("a", &"a".repeat(257), "must be a string of at most 256"),
        ("a", "a\\nb", "must be a string of at most 256"),
    ] {
        let found = violations(Way::Engine, &with(&format!(r#""{name}":"{value}""#)));
        assert!(found.len() == 1 && found[0].contains(reason), "{found:?}");
    }
}

#[test]
fn more_than_a_thousand_violations_are_counted() {
    let keys: Vec<_> = (0..1234).map(|n| format!(r#""k{n}":0"#)).collect();
    let found = violations(Way::Engine, &format!(r#"{{"optimize":{{{}}}}}"#, keys.join(",")));
    assert_eq!(found.len(), 1001);
    assert_eq!(found.last().map(String::as_str), Some("the request has 234 more violations"));
}

#[test]
fn no_secret_is_printed_or_named_in_a_violation() {
    let wrong = r#"{
        "url": "htps://SECRET:SECRET@a/?SECRET", "headers": {"host": "SECRET", "x": ["SECRET"]}, "apiKey": "SECRET",
        "stoer": {"id": "SECRET"}, "store": {"key": ["SECRET"], "secret": {"a": "SECRET"}, "secert": "SECRET"},
        "webhook": {"url": {"SECRET": "SECRET"}, "Url": "SECRET"}, "resize": {"width": {"secret": "SECRET"}}
    }"#
    .replace(r#"{"SECRET": "#, r#"{"a": "#);
    let found = violations(Way::Engine, &wrong);
    assert_eq!(found.len(), 14, "{found:#?}");
    assert!(!found.join("\n").contains("SECRET"), "{found:#?}");

    let request = Request::new()
        .url("https://SECRET:SECRET@a/?SECRET#SECRET")
        .header("x", "SECRET")
        .store(Store::inline(Provider::Aws, ("SECRET", "SECRET"), "abc", "r"))
        .webhook(Webhook::to("https://SECRET@a/?SECRET"));
    request.validate().unwrap();
    assert!(!format!("{request:?} {request:#?}").contains("SECRET"));
    assert_eq!(request.to_json().to_string().matches("SECRET").count(), 9);
}

#[test]
fn requests_built_in_rust_are_held_to_the_same_rules() {
    let mut store = Store::connector("", "B", "r").path("/a").metadata("a b", "x");
    store.tags = (0..11).map(|n| (n.to_string(), String::new())).collect();
    let request = Request {
        headers: BTreeMap::from([("a".into(), "1".into()), ("A".into(), "2".into())]),
        ..Request::new()
            .url("nowhere")
            .quality(0)
            .resize(Resize { height: None, ..Resize::fit(0, 1) })
            .upscale(Upscale::by(9))
            .denoise(Denoise::strength(101))
            .tone(Tone::default().exposure(-101).sharpness(101))
            .store(store)
            .webhook(Webhook::to("").delay(86_401))
    };
    let built = request.validate().unwrap_err().to_string();
    assert_eq!(built, Request::from_value(&request.to_json()).unwrap_err().to_string());
    let paths: Vec<_> = built.split("; ").map(|text| text.split(' ').next().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "url",
            "optimize.quality",
            "resize.width",
            "resize.height",
            "upscale.factor",
            "denoise.strength",
            "tone.exposure",
            "tone.sharpness",
            "headers.a",
            "store.id",
            "store.bucket",
            "store.path",
            "store.metadata[\"a",
            "store.tags",
            "webhook.url",
            "webhook.delay",
        ]
    );
}

#[test]
fn serde_reads_by_the_same_rules_and_names_every_violation() {
    let error = serde_json::from_str::<Request>(r#"{"optimize":{"quality":0,"x":1},"optimize":{}}"#).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("optimize must be given only once; optimize.quality must be") && text.contains("optimize.x"));
    let resize: Resize = serde_json::from_value(json!({"width": 5, "mode": "auto"})).unwrap();
    assert_eq!(resize, Resize::to_width(5));
    assert_eq!(serde_json::to_value(resize).unwrap(), json!({"width": 5}));
    assert!(serde_json::from_value::<Store>(json!({"id": "c"})).is_err());
}
