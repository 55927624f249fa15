//! The reader: walks a document and notes all that is wrong with it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    ops::RangeInclusive,
};

use super::{
    choice::Choice,
    json::Json,
    show::{is_private, quoted, shown, shown_field, shown_unknown},
};
use crate::error::{Error, Result, Violation};

/// A part of the request that is a JSON object.
pub(super) trait Object: Sized {
    /// Takes every key that the object knows, each exactly once, whatever the others hold. What is missing or wrong has
    /// been noted by then and is replaced by anything: the value is thrown away.
    fn read(fields: &mut Fields<'_>) -> Self;

    /// The object that [`read`](Self::read) turns into this value; what equals its default is left out.
    fn write(&self) -> Json;
}

/// Reads a whole document.
///
/// # Errors
/// [`Error::Request`] with every violation.
pub(super) fn read<T>(json: &Json, read: impl FnOnce(&mut Fields<'_>) -> T) -> Result<T> {
    match read_what_is_right(json, read) {
        (Some(value), violations) if violations.is_empty() => Ok(value),
        (_, violations) => Err(Error::Request { violations }),
    }
}

/// Reads a whole document as far as it goes. What the violations name has been replaced by anything; there is nothing where
/// the document is no object.
pub(super) fn read_what_is_right<T>(
    json: &Json,
    read: impl FnOnce(&mut Fields<'_>) -> T,
) -> (Option<T>, Vec<Violation>) {
    let mut findings = Findings::default();
    // Nothing is known of a document that is no object, so nothing of it is shown.
    let value = findings.open(String::new(), json, true, |fields| {
        fields.private = false;
        read(fields)
    });
    (value, findings.into_violations())
}

/// What was found wrong so far.
#[derive(Debug, Default)]
struct Findings {
    violations: Vec<Violation>,
    beyond: usize,
}

impl Findings {
    /// A request of the allowed size can hold 100,000 unknown keys; its answer must stay readable. No request has as
    /// many violations as this by mistake.
    const MOST: usize = 1000;

    fn add(&mut self, path: String, value: Option<String>, allowed: impl Into<String>) {
        if self.violations.len() < Self::MOST {
            self.violations.push(Violation { path, value, allowed: allowed.into() });
        } else {
            self.beyond += 1;
        }
    }

    fn into_violations(mut self) -> Vec<Violation> {
        if self.beyond > 0 {
            let allowed = format!("has {} more violations", self.beyond);
            self.violations.push(Violation { path: String::new(), value: None, allowed });
        }
        self.violations
    }

    fn open<T>(
        &mut self,
        path: String,
        json: &Json,
        private: bool,
        read: impl FnOnce(&mut Fields<'_>) -> T,
    ) -> Option<T> {
        let Json::Object(entries) = json else {
            self.add(path, Some(shown(json, private)), "must be an object");
            return None;
        };
        let mut fields = Fields { entries, path, private, known: Vec::new(), findings: self };
        fields.refuse_repeated();
        let value = read(&mut fields);
        fields.refuse_unknown();
        Some(value)
    }
}

/// How the names in a map compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    Ignored,
}

/// Whether the values of a map may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Plain,
    Secret,
}

/// Number and bytes of the entries of a map of texts, right or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Totals {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

/// An object of the document, whose keys are taken one by one; what nobody took is unknown.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    entries: &'a [(String, Json)],
    path: String,
    /// Unknown keys may be misspelled secrets.
    private: bool,
    known: Vec<&'static str>,
    findings: &'a mut Findings,
}

impl<'a> Fields<'a> {
    /// Whether `key` is there, right or wrong.
    pub(super) fn has(&self, key: &str) -> bool {
        self.peek(key).is_some()
    }

    /// Notes that a rule on `key` is broken.
    pub(super) fn refuse(&mut self, key: &str, value: Option<String>, allowed: impl Into<String>) {
        self.findings.add(join(&self.path, key), value, allowed);
    }

    /// Notes that the object as a whole breaks a rule.
    pub(super) fn refuse_whole(&mut self, allowed: &str) {
        self.findings.add(self.path.clone(), None, allowed);
    }

    /// Notes that `key` must not be there, if it is.
    pub(super) fn forbid(&mut self, key: &'static str, allowed: &str) {
        if let Some(json) = self.take(key) {
            self.refuse(key, Some(shown_field(key, json)), allowed);
        }
    }

    /// Notes that `key` is missing, if it is.
    pub(super) fn require(&mut self, key: &'static str, allowed: &str) {
        if !self.has(key) {
            self.refuse(key, None, allowed);
        }
    }

    /// The value of `key` as `convert` makes it; `allowed` is noted where it makes `None`.
    pub(super) fn checked<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        convert: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Option<T> {
        let json = self.take(key)?;
        let value = convert(json);
        if value.is_none() {
            self.refuse(key, Some(shown_field(key, json)), allowed);
        }
        value
    }

    pub(super) fn integer<T>(&mut self, key: &'static str, range: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let allowed = format!("must be an integer from {} to {}", range.start(), range.end());
        self.checked(key, &allowed, |json| integer_within(json, &range))
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.checked(key, "must be true or false", Json::flag)
    }

    pub(super) fn choice<T: Choice>(&mut self, key: &'static str) -> Option<T> {
        self.checked(key, &T::allowed(), |json| json.text().and_then(T::of))
    }

    pub(super) fn text(
        &mut self,
        key: &'static str,
        allowed: &str,
        rule: impl FnOnce(&str) -> bool,
    ) -> Option<&'a str> {
        self.checked(key, allowed, |json| json.text().filter(|text| rule(text)))
    }

    pub(super) fn object<T: Object>(&mut self, key: &'static str) -> Option<T> {
        let json = self.take(key)?;
        self.findings.open(join(&self.path, key), json, is_private(key), T::read)
    }

    /// `true` stands for `shorthand`.
    pub(super) fn object_or_true<T: Object>(&mut self, key: &'static str, shorthand: T) -> Option<T> {
        match self.peek(key) {
            Some(Json::Bool(true)) => {
                self.known.push(key);
                Some(shorthand)
            }
            Some(Json::Object(_)) => self.object(key),
            _ => self.checked(key, "must be true or an object", |_| None),
        }
    }

    /// A list of choices.
    pub(super) fn choices<T: Choice>(&mut self, key: &'static str) -> Option<Vec<T>> {
        let allowed = format!("must be a list whose items {}", T::allowed());
        let items =
            self.checked(key, &allowed, |json| if let Json::Array(items) = json { Some(items) } else { None })?;
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.text().and_then(T::of) {
                Some(value) => values.push(value),
                None => {
                    let path = format!("{}[{index}]", join(&self.path, key));
                    self.findings.add(path, Some(shown(item, is_private(key))), T::allowed());
                }
            }
        }
        Some(values)
    }

    /// A map of texts; `read` makes a name and its text into an entry, or says what is allowed. Empty where absent.
    pub(super) fn map<K: Ord, V>(
        &mut self,
        key: &'static str,
        case: Case,
        values: Values,
        read: impl Fn(&str, &str) -> Result<(K, V), Cow<'static, str>>,
    ) -> BTreeMap<K, V> {
        let (mut map, mut seen) = (BTreeMap::new(), BTreeSet::new());
        let Some(entries) = self.checked(key, "must be an object of strings", entries) else { return map };
        let path = join(&self.path, key);
        for (name, json) in entries {
            let first = seen.insert(if case == Case::Ignored { name.to_ascii_lowercase() } else { name.clone() });
            let entry = json.text().ok_or(Cow::Borrowed("must be a string")).and_then(|text| read(name, text));
            let entry = if first { entry } else { Err(Cow::Borrowed("must be given only once")) };
            match entry {
                Ok((key, value)) => drop(map.insert(key, value)),
                Err(allowed) => {
                    let value = shown(json, values == Values::Secret || is_private(name));
                    self.findings.add(join(&path, name), Some(value), allowed);
                }
            }
        }
        map
    }

    /// The size of the map of texts at `key`; nothing where it is absent or something else.
    pub(super) fn totals(&self, key: &str) -> Totals {
        let entries = self.peek(key).and_then(entries).unwrap_or_default();
        let bytes = entries.iter().map(|(name, json)| name.len() + json.text().map_or(0, str::len)).sum();
        Totals { entries: entries.len(), bytes }
    }

    /// The length of the text at `key`; 0 where it is absent or something else.
    pub(super) fn text_bytes(&self, key: &str) -> usize {
        self.peek(key).and_then(Json::text).map_or(0, str::len)
    }

    fn peek(&self, key: &str) -> Option<&'a Json> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, json)| json)
    }

    fn take(&mut self, key: &'static str) -> Option<&'a Json> {
        self.known.push(key);
        self.peek(key)
    }

    fn refuse_repeated(&mut self) {
        let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
        for (name, _) in self.entries {
            if !seen.insert(name) && repeated.insert(name) {
                self.refuse(name, None, "must be given only once");
            }
        }
    }

    fn refuse_unknown(&mut self) {
        let mut seen = BTreeSet::new();
        let allowed = format!("is not a known key (known are {})", self.known.join(", "));
        for (name, json) in self.entries {
            if !self.known.contains(&name.as_str()) && seen.insert(name) {
                self.refuse(name, Some(shown_unknown(name, json, self.private)), allowed.as_str());
            }
        }
    }
}

/// The integer that `json` is, if it is in `range`.
pub(super) fn integer_within<T: TryFrom<i64> + PartialOrd>(json: &Json, range: &RangeInclusive<T>) -> Option<T> {
    json.integer().and_then(|number| T::try_from(number).ok()).filter(|number| range.contains(number))
}

fn entries(json: &Json) -> Option<&[(String, Json)]> {
    if let Json::Object(entries) = json { Some(entries) } else { None }
}

/// `path` with `key` below it; names that are not plain words are bracketed and quoted.
fn join(path: &str, key: &str) -> String {
    /// A name may be as long as the request; more than this of it helps nobody.
    const LONGEST: usize = 100;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if key.is_empty() || key.len() > LONGEST || !key.chars().all(plain) {
        format!("{path}[{}]", quoted(key))
    } else if path.is_empty() {
        key.into()
    } else {
        format!("{path}.{key}")
    }
}
