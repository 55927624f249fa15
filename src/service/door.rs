//! The interface's endpoints, from the facts of an HTTP request to an answer.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;
use futures_core::Stream;

use super::{
    Inner, Service,
    gate::{Admitted, api_key},
    response::{self, Problem, Rate, Response, fresh_id},
    upload::{AROUND_PARTS, boundary},
};
use crate::{
    port::ledger::{AccountId, JobId, Standing},
    request::{Request, Way},
};

/// What a host knows of an HTTP request.
#[derive(Clone, Copy, Default)]
pub struct Call<'a> {
    /// `GET`, `POST`, …
    pub method: &'a str,
    /// The path alone, as it was sent, without what a host has put in front of it: `/1.0/fetch`.
    pub path: &'a str,
    /// Whether it came by HTTPS, to this process or to a proxy that the host trusts.
    pub secure: bool,
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// The `Content-Length` header.
    pub content_length: Option<u64>,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("method", &self.method).field("endpoint", &Endpoint::of(self.path).0).finish()
    }
}

/// A body as it comes in.
pub type Incoming = Pin<Box<dyn Stream<Item = Result<Bytes, Box<dyn std::error::Error + Send + Sync>>> + Send>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Fetch,
    Upload,
    Result,
    Account,
    Image,
    Nothing,
}

impl Endpoint {
    /// The endpoint of a path, and what follows it.
    fn of(path: &str) -> (Self, &str) {
        match path {
            "/1.0/fetch" => (Self::Fetch, ""),
            "/1.0/upload" => (Self::Upload, ""),
            "/1.0/account" => (Self::Account, ""),
            _ => path
                .strip_prefix("/1.0/results/")
                .map(|id| (Self::Result, id))
                .or_else(|| path.strip_prefix("/volatile/").map(|link| (Self::Image, link)))
                .unwrap_or((Self::Nothing, "")),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Upload => "upload",
            Self::Result => "results",
            Self::Account => "account",
            Self::Image => "volatile",
            Self::Nothing => "none",
        }
    }

    const fn methods(self) -> &'static str {
        match self {
            Self::Fetch | Self::Upload => "POST",
            Self::Result | Self::Account | Self::Image => "GET, HEAD",
            Self::Nothing => "",
        }
    }
}

impl Service {
    /// Answers a request to any path of the interface: the endpoints below `/1.0/`, and volatile images below
    /// `/volatile/`. What else a host serves, it routes itself.
    pub async fn answer(&self, call: Call<'_>, body: Incoming) -> Response {
        let inner = &self.0;
        let id = fresh_id(inner.now());
        let endpoint = Endpoint::of(call.path).0;
        let (answer, rate) = inner.answer(id, call, body).await;
        let response = answer.unwrap_or_else(|problem| problem.into_response(id)).with_rate(rate);
        let status = response.status.to_string();
        metrics::counter!("lapidary_requests_total", "endpoint" => endpoint.name(), "status" => status).increment(1);
        response
    }
}

impl Inner {
    async fn answer(self: &Arc<Self>, id: JobId, call: Call<'_>, body: Incoming) -> (Result<Response, Problem>, Rate) {
        if !call.secure {
            return (Err(Problem::plain()), self.gate.full());
        }
        let (endpoint, rest) = Endpoint::of(call.path);
        let routed = match endpoint {
            Endpoint::Nothing => Err(Problem::not_found()),
            _ if !endpoint.methods().split(", ").any(|method| method == call.method) => {
                Err(Problem::method(endpoint.methods()))
            }
            _ => Ok(()),
        };
        if endpoint == Endpoint::Image && routed.is_ok() {
            return (self.image(rest).await, self.gate.full());
        }
        let admitted = match self.admit(call.authorization).await {
            Ok(admitted) => admitted,
            // Without a key there is nothing to find, whatever the path.
            Err((problem, rate)) if problem.status == 401 => return (Err(routed.err().unwrap_or(problem)), rate),
            Err((problem, rate)) => return (Err(problem), rate),
        };
        let answer = match routed {
            Err(problem) => Err(problem),
            Ok(()) if admitted.holder.disabled => Err(Problem::disabled()),
            Ok(()) => self.serve(endpoint, rest, id, admitted.holder.account, call, body).await,
        };
        (answer, admitted.rate)
    }

    async fn admit(&self, authorization: Option<&str>) -> Result<Admitted, (Problem, Rate)> {
        let key = authorization.and_then(api_key).ok_or_else(|| (Problem::unauthorised(), self.gate.full()))?;
        self.gate.admit(&*self.ports.ledger, self.keyring.mac(key.expose()), self.now()).await
    }

    async fn serve(
        self: &Arc<Self>,
        endpoint: Endpoint,
        rest: &str,
        id: JobId,
        account: AccountId,
        call: Call<'_>,
        body: Incoming,
    ) -> Result<Response, Problem> {
        match endpoint {
            Endpoint::Fetch => {
                self.check_open()?;
                if !call.content_type.is_some_and(is_json) {
                    return Err(Problem::content_type("application/json"));
                }
                let allowed = self.settings.json_bytes;
                if call.content_length.is_some_and(|length| length > allowed) {
                    return Err(Problem::too_large("the body", allowed));
                }
                let text = self.json(account, body).await?;
                let (request, wrong) = Request::read_what_is_right(Way::Fetch, &text)?;
                self.check(account, &request, wrong).await?;
                self.accept(id, account, request, None, self.now()).await?;
                Ok(Response::accepted(id))
            }
            Endpoint::Upload => {
                self.check_open()?;
                let wanted = "multipart/form-data with a boundary";
                let boundary = call.content_type.and_then(boundary).ok_or_else(|| Problem::content_type(wanted))?;
                self.check_length(call.content_length)?;
                self.upload(id, account, boundary, body).await?;
                Ok(Response::accepted(id))
            }
            Endpoint::Result => self.result(account, rest).await,
            Endpoint::Account => {
                let found = self.ports.ledger.account(account, self.now()).await?;
                let found = found.ok_or_else(Problem::unauthorised)?;
                Ok(Response::json(200, response::account(&found)))
            }
            Endpoint::Image | Endpoint::Nothing => Err(Problem::not_found()),
        }
    }

    async fn result(&self, account: AccountId, id: &str) -> Result<Response, Problem> {
        let unknown = || Problem::new(404, "there is no request of this id");
        let id: JobId = id.parse().map_err(|_| unknown())?;
        let job = self.ports.ledger.job(account, id).await?.ok_or_else(unknown)?;
        Ok(match job.standing {
            Standing::Accepted | Standing::Processing => Response::accepted(id).with("Retry-After", 1),
            Standing::Settled { status, body } => Response::json(status, body),
        })
    }

    /// Refuses work while the service closes.
    pub(super) fn check_open(&self) -> Result<(), Problem> {
        if self.is_open() { Ok(()) } else { Err(Problem::busy("the service is shutting down")) }
    }

    /// Refuses an upload that says itself that it is too long: its file, its data, and room for what is between them.
    fn check_length(&self, length: Option<u64>) -> Result<(), Problem> {
        let allowed = self.engine.limits().source_bytes;
        let room = self.settings.json_bytes.saturating_add(AROUND_PARTS);
        let fits = length.is_none_or(|length| length <= allowed.saturating_add(room));
        if fits { Ok(()) } else { Err(Problem::too_large("the file", allowed)) }
    }
}

fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
