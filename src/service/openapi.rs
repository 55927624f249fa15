//! The interface as an OpenAPI 3.1 document, so that every host has it.

/// The document of a service that clients reach at `public_url`, as JSON.
pub fn openapi(public_url: &str) -> String {
    // A URL has no character that JSON would escape, once its own escapes are made.
    let url = public_url.replace(['"', '\\'], "");
    include_str!("openapi.json").replace("{public_url}", &url)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::request::Request;

    #[test]
    fn every_field_of_a_request_is_described_and_every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(&openapi("https://example.com")).unwrap();
        assert_eq!(document["servers"][0]["url"], "https://example.com");
        let described = &document["components"]["schemas"]["FetchRequest"]["properties"];
        let empty = serde_json::json!({});
        for (name, schema) in described.as_object().unwrap() {
            let known = match Request::from_value(&serde_json::json!({name: empty})) {
                Err(error) => !error.to_string().contains("is unknown") && !error.to_string().contains("no such"),
                Ok(_) => true,
            };
            assert!(known && (schema.is_object()), "{name}");
        }
        references(&document, &mut |path| {
            assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
        });
    }

    fn references(value: &Value, found: &mut impl FnMut(&str)) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value.as_str().filter(|_| key == "$ref") {
                        Some(path) => found(path),
                        None => references(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
}
