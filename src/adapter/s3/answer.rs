//! What an answer says of a bucket.

use http::{HeaderMap, StatusCode};

use super::{super::http::fetch::may_pass, of_bucket};
use crate::port::Failure;

/// An answer that is no success.
pub(super) struct Refusal<'a> {
    pub(super) bucket: &'a str,
    pub(super) region: &'a str,
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    /// XML, if it is as documented; empty to a HEAD.
    pub(super) body: &'a str,
}

impl Refusal<'_> {
    /// As a failure that names the bucket and the reason.
    pub(super) fn failure(&self) -> Failure {
        let code = element(self.body, "Code").filter(|code| is_word(code)).unwrap_or_default();
        // New buckets redirect until the names of the vendor know them.
        let settling = self.status == StatusCode::TEMPORARY_REDIRECT
            // The host's clock is wrong, which is no fault of the client's.
            || matches!(
                code,
                "RequestTimeout" | "OperationAborted" | "SlowDown" | "InternalError" | "RequestTimeTooSkewed"
            );
        Failure {
            may_pass: settling || may_pass(self.status),
            ..of_bucket(self.bucket)(Failure::lasting(self.reason(code)))
        }
    }

    fn reason(&self, code: &str) -> String {
        if let Some(region) = self.other_region(code) {
            return format!("it is not in region {} but in {region}", self.region);
        }
        let known = match (self.status.as_u16(), code) {
            (_, "NoSuchBucket") | (404, _) => "there is no such bucket",
            (_, "InvalidAccessKeyId") => "the access key id is unknown",
            (_, "SignatureDoesNotMatch") => "the secret does not belong to the access key id",
            (_, "AccessControlListNotSupported" | "InvalidBucketAclWithObjectOwnership") => {
                "it takes no acl but bucket-owner-full-control"
            }
            (301, _) | (_, "PermanentRedirect" | "AuthorizationHeaderMalformed") => "it is in another region",
            (403, "AccessDenied" | "") => "the access key may not write objects and their acl",
            _ => return format!("the storage answered with status {}{}", self.status.as_u16(), in_brackets(code)),
        };
        format!("{known}{}", in_brackets(code))
    }

    fn other_region(&self, code: &str) -> Option<&str> {
        let misplaced = self.status == StatusCode::MOVED_PERMANENTLY
            || matches!(
                code,
                "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException"
            );
        let told = self.headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
        let region = told.or_else(|| element(self.body, "Region"))?;
        (misplaced && is_word(region) && region != self.region).then_some(region)
    }
}

fn in_brackets(code: &str) -> String {
    if code.is_empty() { String::new() } else { format!(" ({code})") }
}

/// Whether it can be shown to anybody, whoever wrote it.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
}

/// The text of the first element of a name that has no attributes.
pub(super) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(status: u16, region: Option<&str>, body: &str) -> (String, bool) {
        let mut headers = HeaderMap::new();
        if let Some(region) = region {
            headers.insert("x-amz-bucket-region", region.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        let failure = Refusal { bucket: "photos", region: "us-east-1", status, headers: &headers, body }.failure();
        (failure.message, failure.may_pass)
    }

    #[test]
    fn a_refusal_names_the_bucket_and_the_reason() {
        let xml =
            |code: &str| format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>m</Message></Error>");
        for (status, code, message) in [
            (404, "NoSuchBucket", "there is no such bucket (NoSuchBucket)"),
            (403, "InvalidAccessKeyId", "the access key id is unknown (InvalidAccessKeyId)"),
            (403, "SignatureDoesNotMatch", "the secret does not belong to the access key id (SignatureDoesNotMatch)"),
            (403, "AccessDenied", "the access key may not write objects and their acl (AccessDenied)"),
            (
                400,
                "AccessControlListNotSupported",
                "it takes no acl but bucket-owner-full-control (AccessControlListNotSupported)",
            ),
            (400, "InvalidStorageClass", "the storage answered with status 400 (InvalidStorageClass)"),
            (301, "PermanentRedirect", "it is in another region (PermanentRedirect)"),
            (400, "<b>x</b>", "the storage answered with status 400"),
        ] {
            assert_eq!(failure(status, None, &xml(code)), (format!("bucket photos: {message}"), false));
        }
        assert_eq!(failure(403, None, "").0, "bucket photos: the access key may not write objects and their acl");
    }

    #[test]
    fn a_bucket_elsewhere_is_said_to_be_there() {
        let elsewhere = ("bucket photos: it is not in region us-east-1 but in eu-west-1".to_owned(), false);
        assert_eq!(failure(301, Some("eu-west-1"), ""), elsewhere);
        let malformed = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>";
        assert_eq!(failure(400, None, malformed), elsewhere);
        assert_eq!(failure(403, Some("us-east-1"), "").0, failure(403, None, "").0);
        assert_eq!(failure(301, Some("<script>"), "").0, "bucket photos: it is in another region");
    }

    #[test]
    fn what_may_pass_is_said_to() {
        for (status, code) in [(500, "InternalError"), (503, "SlowDown"), (503, ""), (429, ""), (400, "RequestTimeout")]
        {
            assert!(failure(status, None, &format!("<Error><Code>{code}</Code></Error>")).1, "{status} {code}");
        }
        assert!(failure(409, None, "<Code>OperationAborted</Code>").1 && failure(307, None, "").1);
        assert!(failure(403, None, "<Code>RequestTimeTooSkewed</Code>").1, "until the host's clock is right again");
        assert!(!failure(400, None, "<Code>EntityTooLarge</Code>").1);
    }
}
