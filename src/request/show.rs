//! What a violation shows of the value that it found: enough to know it again, and no secrets.

use super::{Url, json::Json};

/// Bytes after which the rest of a value is left out.
const ENOUGH: usize = 120;

/// A known field's value.
pub(super) fn shown_field(key: &str, json: &Json) -> String {
    match json.text() {
        Some(text) if key == "url" => Url::from(text).shown(),
        _ => shown(json, is_private(key)),
    }
}

/// An unknown key's value. It may be a secret under a misspelled name, so of text only short words are shown, and those
/// only where neither the name nor the object (`private`) has to do with secrets.
pub(super) fn shown_unknown(key: &str, json: &Json, private: bool) -> String {
    let is_word = json.text().is_some_and(|text| text.len() <= 16);
    let is_text = matches!(json, Json::Text(_) | Json::Array(_) | Json::Object(_));
    shown(json, private || is_private(key) || is_text && !is_word)
}

/// Whether what is called `name` may be, or may hold, a secret.
pub(super) fn is_private(name: &str) -> bool {
    const SIGNS: [&str; 16] = [
        "key", "secret", "token", "pass", "pwd", "auth", "cred", "sign", "cookie", "header", "url", "uri", "store",
        "storage", "hook", "account",
    ];
    let name = name.to_ascii_lowercase();
    SIGNS.iter().any(|sign| name.contains(sign))
}

/// `json` in one line, cut off after [`ENOUGH`] bytes or so; texts and numbers are `***` where `private`.
pub(super) fn shown(json: &Json, private: bool) -> String {
    let mut out = String::new();
    show(json, private, &mut out);
    out
}

/// `text` as JSON, cut off after [`ENOUGH`] bytes or so.
pub(super) fn quoted(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).find(|&at| at >= ENOUGH).unwrap_or(text.len());
    let more = if end < text.len() { "…" } else { "" };
    serde_json::Value::from(format!("{}{more}", &text[..end])).to_string()
}

fn show(json: &Json, private: bool, out: &mut String) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Json::Number(_) | Json::Text(_) if private => out.push_str("***"),
        Json::Number(number) => out.push_str(&number.to_string()),
        Json::Text(text) => out.push_str(&quoted(text.expose())),
        Json::Array(items) => {
            show_all(items, ('[', ']'), out, |item, out| show(item, private, out));
        }
        Json::Object(entries) => show_all(entries, ('{', '}'), out, |(key, value), out| {
            out.push_str(&quoted(key));
            out.push(':');
            show(value, private || is_private(key), out);
        }),
    }
}

fn show_all<T>(items: &[T], (open, close): (char, char), out: &mut String, mut show: impl FnMut(&T, &mut String)) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if out.len() >= ENOUGH {
            out.push('…');
            break;
        }
        show(item, out);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn values_are_shown_as_json_in_one_line() {
        let text = r#"{"a":[1,-2.5,true,null,"x\n"],"b":{}}"#;
        assert_eq!(shown(&parsed(text), false), text);
    }

    #[test]
    fn long_values_are_cut_off() {
        let long = format!("[{}\"{}\"]", "1,".repeat(100), "ü".repeat(1000));
        assert!(shown(&parsed(&long), false).ends_with(",…]"));
        assert!(shown(&parsed(&long), false).len() < 200);
        let text = shown(&Json::from("ü".repeat(1000).as_str()), false);
        assert_eq!(text, format!("\"{}…\"", "ü".repeat(ENOUGH / 2)));
    }

    #[test]
    fn deep_values_are_cut_off() {
        let deep = format!("{}{}", "[{\"key\":".repeat(60), "1") + &"}]".repeat(60);
        assert!(shown(&parsed(&deep), false).len() < 1500);
    }

    #[test]
    fn texts_and_numbers_below_private_names_are_stars() {
        let json = parsed(r#"{"bucket":"b","secretKey":"s","keys":[1,"k",true]}"#);
        assert_eq!(shown(&json, false), r#"{"bucket":"b","secretKey":***,"keys":[***,***,true]}"#);
        assert_eq!(shown(&json, true), r#"{"bucket":***,"secretKey":***,"keys":[***,***,true]}"#);
    }

    #[test]
    fn of_unknown_keys_only_short_words_numbers_and_flags_are_shown() {
        for (key, text, expected) in [
            ("foo", r#""bar""#, r#""bar""#),
            ("foo", "300", "300"),
            ("foo", "false", "false"),
            ("foo", r#""wJalrXUtnFEMI/K7MDENG""#, "***"),
            ("foo", r#"{"a":"bar"}"#, r#"{"a":***}"#),
            ("apiKey", r#""bar""#, "***"),
        ] {
            assert_eq!(shown_unknown(key, &parsed(text), false), expected);
        }
        assert_eq!(shown_unknown("foo", &parsed(r#""bar""#), true), "***");
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        let json = parsed(r#""ftp://user:pass@host/a?b""#);
        assert_eq!(shown_field("url", &json), r#""ftp://***@host/a?***""#);
    }
}
