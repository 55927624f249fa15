//! What clients are answered: status, headers and JSON bodies, in one place, so that every host answers alike.

use std::fmt;

use serde::Serialize;
use uuid::Uuid;

use super::Health;
use crate::{
    clock::Timestamp,
    description::Description,
    error::{Error, Violation},
    port::{
        Failure, OpenBlob,
        ledger::{Account, JobId},
    },
};

/// Seconds after which a service that takes no requests may take them again.
const RETRY_S: u64 = 5;

/// An answer, for the host to put into its own HTTP.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Headers, `Content-Type` and, where it is known, `Content-Length` included.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
}

/// A body.
pub enum Body {
    /// Whole.
    Bytes(Vec<u8>),
    /// A volatile image, to be read piece by piece.
    Blob(OpenBlob),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Blob(blob) => f.debug_tuple("Blob").field(blob).finish(),
        }
    }
}

impl Response {
    /// A JSON body.
    pub(super) fn json(status: u16, body: Vec<u8>) -> Self {
        let headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("Content-Length", body.len().to_string()),
            ("Cache-Control", "no-store".to_owned()),
            ("X-Content-Type-Options", "nosniff".to_owned()),
        ];
        Self { status, headers, body: Body::Bytes(body) }
    }

    /// The acceptance of a request.
    pub(super) fn accepted(id: JobId) -> Self {
        Self::json(202, body(&Accepted { success: true, code: 202, id: id.0 }))
    }

    /// How a service fares; an error with `id` where it takes no requests.
    pub(super) fn health(health: &Health, id: JobId) -> Self {
        let code = if health.ready { 200 } else { 503 };
        let failed = (!health.ready).then_some(Unready { id: id.0, message: "the service takes no requests now" });
        let response = Self::json(code, body(&HealthBody { success: health.ready, code, failed, health }));
        if health.ready { response } else { response.with("Retry-After", RETRY_S) }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    #[must_use]
    pub(super) fn with_rate(self, rate: Rate) -> Self {
        self.with("X-RateLimit-Limit", rate.limit)
            .with("X-RateLimit-Remaining", rate.remaining)
            .with("X-RateLimit-Reset", rate.reset_s)
    }
}

/// Where a key stands in its rate window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) limit: u64,
    pub(super) remaining: u64,
    pub(super) reset_s: u64,
}

/// A refusal: what a client reads of anything that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Of the request, each of which the message names.
    pub(super) violations: Vec<Violation>,
    /// Seconds until it may go better.
    pub(super) retry_s: Option<u64>,
}

impl Problem {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), headers: Vec::new(), violations: Vec::new(), retry_s: None }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub(super) fn unauthorised() -> Self {
        Self::new(401, "a valid API key is required, as the user name of Basic or the token of Bearer authentication")
            .with("WWW-Authenticate", r#"Basic realm="lapidary", charset="UTF-8", Bearer"#)
    }

    pub(super) fn plain() -> Self {
        Self::new(403, "HTTPS is required")
    }

    pub(super) fn disabled() -> Self {
        Self::new(403, "the account is disabled")
    }

    pub(super) fn not_found() -> Self {
        Self::new(404, "there is nothing at this address")
    }

    pub(super) fn method(allowed: &'static str) -> Self {
        Self::new(405, format!("the method must be {}", allowed.replace(", ", " or "))).with("Allow", allowed)
    }

    pub(super) fn too_large(what: &str, allowed: u64) -> Self {
        Self::new(413, format!("{what} has more than {allowed} bytes"))
    }

    pub(super) fn content_type(wanted: &str) -> Self {
        Self::new(415, format!("the content type must be {wanted}"))
    }

    pub(super) fn no_credits(remaining: u64) -> Self {
        Self::new(
            402,
            format!(
                "the request costs more than the {remaining} credits of the month that are neither used nor held for requests under way"
            ),
        )
    }

    pub(super) fn too_fast(seconds: u64) -> Self {
        let message = format!("the rate limit is exceeded, try again in {seconds} seconds");
        Self { retry_s: Some(seconds), ..Self::new(429, message) }
    }

    pub(super) fn busy(message: &str) -> Self {
        Self { retry_s: Some(RETRY_S), ..Self::new(503, message) }
    }

    pub(super) fn internal() -> Self {
        Self::new(500, "an unexpected failure of the service, which has been recorded")
    }

    pub(super) fn into_response(self, id: JobId) -> Response {
        let mut response = Response::json(self.status, self.body(id));
        response.headers.extend(self.headers);
        response.headers.extend(self.retry_s.map(|seconds| ("Retry-After", seconds.to_string())));
        response
    }

    /// The JSON body for the request `id`.
    pub(super) fn body(&self, id: JobId) -> Vec<u8> {
        body(&Failed { success: false, code: self.status, id: id.0, message: &self.message })
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = error.status();
        if status == 500 {
            tracing::error!(error = &error as &dyn std::error::Error, "unexpected failure");
            return Self::internal();
        }
        let message = error.to_string();
        let violations = if let Error::Request { violations } = error { violations } else { Vec::new() };
        Self { violations, ..Self::new(status, message) }
    }
}

/// The service's own state did not answer. Its clients' destinations are not meant: their failures are theirs to read.
impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        tracing::error!(error = &failure as &dyn std::error::Error, "a port failed");
        if failure.may_pass { Self::busy("the service cannot take requests now") } else { Self::internal() }
    }
}

/// The JSON body of a completed request.
pub(super) fn completed(id: JobId, input: &Description, output: &Description, url: &str) -> Vec<u8> {
    let output = Output { url, description: output, unscored: output.score.is_none().then_some(()) };
    body(&Completed { success: true, code: 200, id: id.0, input, output })
}

/// The JSON body of an account.
pub(super) fn account(account: &Account) -> Vec<u8> {
    let credits = account.credits;
    body(&AccountBody {
        success: true,
        code: 200,
        subscription: Subscription { name: &account.plan },
        credits: CreditsBody {
            total: credits.total,
            used: credits.used,
            remaining: credits.total.saturating_sub(credits.used),
        },
    })
}

/// A fresh request id, whose first bits are the time (UUID v7).
pub(super) fn fresh_id(now: Timestamp) -> JobId {
    JobId(uuid::Builder::from_unix_timestamp_millis(now.millis(), &super::seal::random()).into_uuid())
}

fn body<T: Serialize>(value: &T) -> Vec<u8> {
    // Structures of texts and numbers always serialise.
    serde_json::to_vec(value).unwrap_or_default()
}

#[derive(Serialize)]
struct Accepted {
    success: bool,
    code: u16,
    id: Uuid,
}

#[derive(Serialize)]
struct HealthBody<'a> {
    success: bool,
    code: u16,
    #[serde(flatten)]
    failed: Option<Unready>,
    #[serde(flatten)]
    health: &'a Health,
}

#[derive(Serialize)]
struct Unready {
    id: Uuid,
    message: &'static str,
}

#[derive(Serialize)]
struct Failed<'a> {
    success: bool,
    code: u16,
    id: Uuid,
    message: &'a str,
}

#[derive(Serialize)]
struct Completed<'a> {
    success: bool,
    code: u16,
    id: Uuid,
    input: &'a Description,
    output: Output<'a>,
}

#[derive(Serialize)]
struct Output<'a> {
    url: &'a str,
    #[serde(flatten)]
    description: &'a Description,
    /// That it has no score, as `null`.
    #[serde(rename = "score", skip_serializing_if = "Option::is_none")]
    unscored: Option<()>,
}

#[derive(Serialize)]
struct AccountBody<'a> {
    success: bool,
    code: u16,
    subscription: Subscription<'a>,
    credits: CreditsBody,
}

#[derive(Serialize)]
struct Subscription<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct CreditsBody {
    total: u64,
    used: u64,
    remaining: u64,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> JobId {
        "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap()
    }

    #[test]
    fn bodies_are_those_of_the_interface() {
        let Body::Bytes(accepted) = Response::accepted(id()).body else { panic!("a blob") };
        assert_eq!(
            String::from_utf8(accepted).unwrap(),
            r#"{"success":true,"code":202,"id":"01890a5d-ac96-774b-bcce-b302099a8057"}"#
        );
        assert_eq!(
            String::from_utf8(Problem::too_fast(7).body(id())).unwrap(),
            r#"{"success":false,"code":429,"id":"01890a5d-ac96-774b-bcce-b302099a8057","message":"the rate limit is exceeded, try again in 7 seconds"}"#
        );
    }

    #[test]
    fn an_output_without_a_score_says_so_and_an_input_says_nothing_of_it() {
        let file = r#"{"name":"a.svg","format":"SVG","width":1,"height":2,"frames":1,"colorspace":"RGB","interlaced":null,"sampling":null,"depth":24,"quality":null,"bytes":3,"sha1":"0"}"#;
        let file: Description = serde_json::from_str(file).unwrap();
        let told = |output: &Description| -> serde_json::Value {
            serde_json::from_slice(&completed(id(), &file, output, "https://a.test/b")).unwrap()
        };
        let (none, some) = (told(&file), told(&Description { score: Some(90.5), ..file.clone() }));
        assert_eq!((&none["output"]["score"], none["output"].get("score").is_some()), (&serde_json::Value::Null, true));
        assert_eq!((some["output"]["score"].as_f64(), some["input"].get("score")), (Some(90.5), None));
    }

    #[test]
    fn how_the_service_fares_is_told_like_any_answer() {
        let fares = |ready| {
            let health = Health { ready, waiting: 1, processing: 2, source_bytes: 3, oldest_s: 0.5, notifications: 4 };
            let response = Response::health(&health, id());
            assert_eq!(response.headers.iter().any(|(name, _)| *name == "Retry-After"), !ready);
            let Body::Bytes(bytes) = response.body else { panic!("a blob") };
            String::from_utf8(bytes).unwrap()
        };
        let rest = r#""waiting":1,"processing":2,"source_bytes":3,"oldest_s":0.5,"notifications":4}"#;
        assert_eq!(fares(true), format!(r#"{{"success":true,"code":200,"ready":true,{rest}"#));
        let failed = r#""success":false,"code":503,"id":"01890a5d-ac96-774b-bcce-b302099a8057","message":"the service takes no requests now""#;
        assert_eq!(fares(false), format!(r#"{{{failed},"ready":false,{rest}"#));
    }

    #[test]
    fn internals_are_not_told() {
        let error = Error::internal("decoding", "the secret of /etc/passwd");
        assert_eq!(Problem::from(error), Problem::internal());
        let failure = Failure::lasting("row 7 of table x").because("disk");
        assert_eq!(Problem::from(failure), Problem::internal());
    }

    #[test]
    fn ids_are_of_version_seven_and_sort_by_time() {
        let early = fresh_id(Timestamp::from_millis(1_000));
        let late = fresh_id(Timestamp::from_millis(2_000));
        assert!(early < late);
        assert_eq!((early.0.get_version_num(), early.0.get_variant()), (7, uuid::Variant::RFC4122));
    }
}
