//! The interface as an OpenAPI 3.1 document, so that every host has it.

/// The document of a service that clients reach at `public_url`, as JSON.
pub fn openapi(public_url: &str) -> String {
    // A URL has no character that JSON would escape, once its own escapes are made.
    let url = public_url.trim_end_matches('/').replace(['"', '\\'], "");
    include_str!("openapi.json").replace("{public_url}", &url)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        clock::Timestamp,
        request::Request,
        service::webhook::{SigningSecret, sign},
    };

    #[test]
    fn every_field_of_a_request_is_described_and_every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(&openapi("https://example.com/")).unwrap();
        assert_eq!(document["servers"][0]["url"], "https://example.com", "paths begin with a slash");
        let described = &document["components"]["schemas"]["FetchRequest"]["properties"];
        assert_eq!(names(described), known(json!({ "colour": 1 })));
        for (name, schema) in described.as_object().unwrap() {
            let of_reference = schema["$ref"].as_str().and_then(|path| document.pointer(path.trim_start_matches('#')));
            let schema = of_reference.or(schema.pointer("/oneOf/1")).unwrap_or(schema);
            if !schema["properties"].is_null() {
                assert_eq!(names(&schema["properties"]), known(json!({ name: { "colour": 1 } })), "{name}");
            }
        }
        references(&document, &mut |path| {
            assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
        });
    }

    #[test]
    fn every_endpoint_is_described_with_its_refusal_of_other_methods() {
        let document: Value = serde_json::from_str(&openapi("https://example.com")).unwrap();
        let paths = &document["paths"];
        for path in ["/1.0/fetch", "/1.0/upload", "/1.0/results/{id}", "/1.0/account", "/volatile/{link}/{name}"] {
            let operation = paths[path].as_object().and_then(|methods| methods.values().next()).expect(path);
            assert!(operation["responses"]["405"].is_object(), "{path}");
        }
        let uploads = names(&paths["/1.0/upload"]["post"]["requestBody"]["content"]);
        assert!(uploads.iter().eq(["multipart/form-data", "multipart/mixed"]), "{uploads:?}");
    }

    #[test]
    fn the_notification_is_described_with_the_headers_that_sign_it() {
        let document: Value = serde_json::from_str(&openapi("https://example.com")).unwrap();
        let described = document["webhooks"]["finished"]["post"]["parameters"].as_array().unwrap();
        let signed = sign(&[SigningSecret::generate()], "id", Timestamp::default(), b"");
        let mut described: Vec<_> = described.iter().map(|header| header["name"].as_str().unwrap()).collect();
        described.sort_unstable();
        assert!(signed.iter().map(|(name, _)| *name).eq(described));
    }

    #[test]
    fn a_destination_is_a_connector_or_provider_key_and_secret() {
        let document: Value = serde_json::from_str(&openapi("https://example.com")).unwrap();
        let ways = &document["components"]["schemas"]["Store"]["oneOf"];
        assert_eq!(
            ways[0],
            json!({"required": ["id"], "properties": {"provider": false, "key": false, "secret": false}})
        );
        assert_eq!(ways[1], json!({"required": ["provider", "key", "secret"], "properties": {"id": false}}));
    }

    fn names(properties: &Value) -> BTreeSet<String> {
        properties.as_object().unwrap().keys().cloned().collect()
    }

    /// The keys that the reader names where one is unknown.
    fn known(request: Value) -> BTreeSet<String> {
        let refusal = Request::from_value(&request).unwrap_err().to_string();
        let (_, known) = refusal.split_once("colour is not a known key (known are ").expect(&refusal);
        known.split_once(')').unwrap().0.split(", ").map(str::to_owned).collect()
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
