//! AWS Signature Version 4 in the `Authorization` header, with the body's hash, as of
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>, and in the query of an address, as of
//! `…/sigv4-query-string-auth.html`.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{AUTHORIZATION, HOST, InvalidHeaderValue},
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{clock::Timestamp, percent, request::Secret};

/// Who signs, where, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signer<'a> {
    pub(super) key: &'a Secret,
    pub(super) secret: &'a Secret,
    pub(super) region: &'a str,
    pub(super) now: Timestamp,
}

impl Signer<'_> {
    /// Adds `x-amz-date`, `x-amz-content-sha256` and `Authorization` to the headers of a request to `url`. All headers are
    /// signed, `Host` among them, which is left to whoever sends them.
    pub(super) fn sign(
        &self,
        method: &Method,
        (host, url): (&str, &url::Url),
        headers: &mut HeaderMap,
        body_sha256: &str,
    ) -> Result<(), InvalidHeaderValue> {
        let (date, time) = self.date_and_time();
        headers.insert(HeaderName::from_static("x-amz-date"), HeaderValue::try_from(&time)?);
        headers.insert(HeaderName::from_static("x-amz-content-sha256"), HeaderValue::try_from(body_sha256)?);
        headers.insert(HOST, HeaderValue::try_from(host)?);
        let (canonical, signed) = canonical_headers(headers);
        headers.remove(HOST);
        let (path, query) = (url.path(), canonical_query(url));
        let request = format!("{method}\n{path}\n{query}\n{canonical}\n{signed}\n{body_sha256}");
        let scope = self.scope(&date);
        let signature = self.signature((&date, &time), &request);
        let authorization = Zeroizing::new(format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={signed},Signature={signature}",
            self.key.expose()
        ));
        let mut value = HeaderValue::try_from(authorization.as_str())?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        Ok(())
    }

    /// Adds to `url` what lets whoever has it GET what is there, from now on for `life_s` seconds.
    pub(super) fn presign(&self, (host, url): (&str, &mut url::Url), life_s: u64) {
        let (date, time) = self.date_and_time();
        url.query_pairs_mut()
            .append_pair("X-Amz-Algorithm", "AWS4-HMAC-SHA256")
            .append_pair("X-Amz-Credential", &format!("{}/{}", self.key.expose(), self.scope(&date)))
            .append_pair("X-Amz-Date", &time)
            .append_pair("X-Amz-Expires", &life_s.to_string())
            .append_pair("X-Amz-SignedHeaders", "host");
        let query = canonical_query(url);
        let request = format!("GET\n{}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD", url.path());
        let signature = self.signature((&date, &time), &request);
        // As it was signed, so that no server has to agree on how blanks are written.
        url.set_query(Some(&format!("{query}&X-Amz-Signature={signature}")));
    }

    fn scope(&self, date: &str) -> String {
        format!("{date}/{}/s3/aws4_request", self.region)
    }

    fn signature(&self, (date, time): (&str, &str), request: &str) -> String {
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{}\n{}", self.scope(date), hex(&Sha256::digest(request)));
        hex(&*hmac(&*self.signing_key(date), &text))
    }

    fn signing_key(&self, date: &str) -> Zeroizing<[u8; 32]> {
        let secret = Zeroizing::new(format!("AWS4{}", self.secret.expose()));
        [date, self.region, "s3", "aws4_request"]
            .iter()
            .fold(None, |key: Option<Zeroizing<[u8; 32]>>, part| {
                Some(hmac(key.as_deref().map_or(secret.as_bytes(), |key| key), part))
            })
            .unwrap_or_default()
    }

    /// `20130524` and `20130524T000000Z`.
    fn date_and_time(&self) -> (String, String) {
        let (year, month, day) = self.now.date();
        let date = format!("{year:04}{month:02}{day:02}");
        let second = self.now.seconds() % 86_400;
        let time = format!("{date}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60);
        (date, time)
    }
}

fn hmac(key: &[u8], text: &str) -> Zeroizing<[u8; 32]> {
    // HMAC takes keys of every length.
    #[allow(clippy::unwrap_used, reason = "cannot fail")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    Zeroizing::new(mac.finalize().into_bytes().into())
}

pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        // Writing to a string does not fail.
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// The lines of all headers in the order of their names, and the names.
fn canonical_headers(headers: &HeaderMap) -> (String, String) {
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    let line = |name: &&str| {
        let values = headers.get_all(*name).iter().map(|value| {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        });
        format!("{name}:{}\n", values.collect::<Vec<_>>().join(","))
    };
    (names.iter().map(line).collect(), names.join(";"))
}

/// Names and values, encoded again and in order.
fn canonical_query(url: &url::Url) -> String {
    let mut pairs: Vec<_> = url
        .query_pairs()
        .map(|(name, value)| format!("{}={}", percent::encode(&name, b""), percent::encode(&value, b"")))
        .collect();
    pairs.sort_unstable();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    /// The signature of an example of Amazon's documentation.
    fn signature(method: Method, path: &str, given: &[(&'static str, &str)], body_sha256: &str) -> (String, String) {
        let (key, secret) = ("AKIAIOSFODNN7EXAMPLE".into(), "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into());
        let now = Timestamp::from_millis(1_369_353_600_000);
        let signer = Signer { key: &key, secret: &secret, region: "us-east-1", now };
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.insert(*name, HeaderValue::try_from(*value).unwrap());
        }
        let host = "examplebucket.s3.amazonaws.com";
        let url = url::Url::parse(&format!("https://{host}{path}")).unwrap();
        signer.sign(&method, (host, &url), &mut headers, body_sha256).unwrap();
        assert!(headers[AUTHORIZATION].is_sensitive() && !headers.contains_key(HOST));
        let authorization = headers[AUTHORIZATION].to_str().unwrap();
        let part = |name: &str| {
            let from = authorization.find(name).unwrap() + name.len();
            authorization[from..].split(',').next().unwrap().to_owned()
        };
        assert_eq!(part("Credential="), "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request");
        (part("SignedHeaders="), part("Signature="))
    }

    #[test]
    fn the_documented_put_is_signed_as_documented() {
        let given = [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")];
        let body_sha256 = hex(&Sha256::digest("Welcome to Amazon S3."));
        let (signed, signature) = signature(Method::PUT, "/test%24file.text", &given, &body_sha256);
        assert_eq!(signed, "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class");
        assert_eq!(signature, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    }

    #[test]
    fn the_documented_gets_are_signed_as_documented() {
        let range = [("range", "bytes=0-9")];
        for (path, given, expected) in [
            ("/test.txt", range.as_slice(), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            ("/?lifecycle", &[], "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            ("/?max-keys=2&prefix=J", &[], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            ("/?prefix=J&max-keys=2", &[], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ] {
            assert_eq!(signature(Method::GET, path, given, EMPTY).1, expected, "{path}");
        }
    }

    #[test]
    fn the_documented_address_is_signed_as_documented() {
        let (key, secret) = ("AKIAIOSFODNN7EXAMPLE".into(), "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into());
        let now = Timestamp::from_millis(1_369_353_600_000);
        let signer = Signer { key: &key, secret: &secret, region: "us-east-1", now };
        let host = "examplebucket.s3.amazonaws.com";
        let mut url = url::Url::parse(&format!("https://{host}/test.txt")).unwrap();
        signer.presign((host, &mut url), 86_400);
        assert_eq!(
            url.as_str(),
            "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
             &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        );
    }

    #[test]
    fn values_are_signed_with_single_blanks() {
        let once = signature(Method::GET, "/", &[("x-amz-meta-a", "b c")], EMPTY);
        assert_eq!(signature(Method::GET, "/", &[("x-amz-meta-a", "  b   c ")], EMPTY), once);
        assert_ne!(signature(Method::GET, "/", &[("x-amz-meta-a", "bc")], EMPTY), once);
    }
}
