//! JSON as it was written: in the order of the keys and with repeated keys, which `serde_json::Value` would lose.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, Value};

use super::Secret;
use crate::error::{Error, Result};

/// A JSON value. Its texts are wiped when dropped, since any of them may be a secret.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(Secret),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads UTF-8 text, with or without a byte order mark. Nesting beyond 127 levels is refused.
    pub(super) fn parse(text: &[u8]) -> Result<Self> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        serde_json::from_slice(text).map_err(|error| Error::Json {
            line: error.line(),
            column: error.column(),
            source: Some(error.into()),
        })
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text.expose()) } else { None }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn integer(&self) -> Option<i64> {
        if let Self::Number(number) = self { number.as_i64() } else { None }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }
}

/// An object in the making.
#[derive(Debug, Default)]
pub(super) struct Entries(Vec<(String, Json)>);

impl Entries {
    pub(super) fn put(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    /// Leaves out what is absent.
    pub(super) fn given(self, key: &str, value: Option<impl Into<Json>>) -> Self {
        if let Some(value) = value { self.put(key, value) } else { self }
    }

    /// Leaves out what says nothing.
    pub(super) fn unless<T: Into<Json> + PartialEq>(self, key: &str, value: T, default: &T) -> Self {
        if value == *default { self } else { self.put(key, value) }
    }

    /// An object of texts, left out when empty.
    pub(super) fn texts<'a>(self, key: &str, texts: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let object: Vec<_> = texts.map(|(name, text)| (name.to_owned(), text.into())).collect();
        if object.is_empty() { self } else { self.put(key, Json::Object(object)) }
    }
}

impl From<Entries> for Json {
    fn from(entries: Entries) -> Self {
        Self::Object(entries.0)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<u8> for Json {
    fn from(number: u8) -> Self {
        Self::Number(number.into())
    }
}

impl From<i8> for Json {
    fn from(number: i8) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.as_str().into()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => Self::Object(map.iter().map(|(key, value)| (key.clone(), value.into())).collect()),
        }
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => Self::Number(number.clone()),
            Json::Text(text) => Self::String(text.expose().into()),
            Json::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Json::Object(entries) => {
                Self::Object(entries.iter().map(|(key, value)| (key.clone(), value.into())).collect())
            }
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    /// `-0` comes here, too, although it is an integer.
    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        if number.to_bits() == (-0f64).to_bits() {
            return Ok(Json::Number(0.into()));
        }
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_an_integer_with_and_without_a_sign() {
        assert_eq!(Json::parse(b"[-0,0]").unwrap(), Json::parse(b"[0,0]").unwrap());
        assert_eq!(Json::parse(b"-0").unwrap().integer(), Some(0));
    }

    #[test]
    fn text_comes_back_as_written_with_its_order_and_repeated_keys() {
        let text = r#"{"b":1,"a":[null,true,-2,1.5,"x\n"],"b":{}}"#;
        assert_eq!(serde_json::to_string(&Json::parse(text.as_bytes()).unwrap()).unwrap(), text);
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(Json::parse(b"\xEF\xBB\xBF{}").unwrap(), Json::Object(Vec::new()));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        let deep = "[".repeat(100_000);
        for text in [&b""[..], b"{", b"{}x", b"{a:1}", b"{\"a\":\"\xFF\"}", b"'x'", b"[1,]", deep.as_bytes()] {
            let error = Json::parse(text).unwrap_err();
            assert_eq!(error.status(), 400, "{:?}", String::from_utf8_lossy(text));
        }
        let error = Json::parse(b"{\n  \"url\": secret\n}").unwrap_err();
        assert_eq!(error.to_string(), "the request is not readable as JSON: line 2, column 10");
    }
}
