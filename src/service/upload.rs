//! Uploads: multipart bodies whose file goes to the blobs while it comes in.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use multer::{Field, Multipart};
use tokio::sync::SemaphorePermit;

use super::{
    Incoming, Inner,
    disposition::Disposition,
    response::Problem,
    shares::{Share, Shares},
    submit::Uploaded,
};
use crate::{
    error::Violation,
    port::{
        BlobKey, BlobWriter,
        ledger::{AccountId, JobId},
    },
    request::{Request, Way},
};

/// The boundary of a `multipart/form-data` or `multipart/mixed` body.
pub(super) fn boundary(content_type: &str) -> Option<String> {
    let mut parts = content_type.split(';').map(str::trim);
    let kind = parts.next()?;
    if !["multipart/form-data", "multipart/mixed"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        return None;
    }
    // Only the parameter matters, and multer reads it of form data alone, with neither blanks before a semicolon nor nothing
    // between two, which RFC 9110 allows.
    let parameters: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    multer::parse_boundary(format!("multipart/form-data; {}", parameters.join("; "))).ok()
}

/// Bytes around the parts: what precedes the first, boundaries, headers. multer holds them in memory, and looks through
/// all of them again with every chunk that comes.
pub(super) const AROUND_PARTS: u64 = 64 << 10;

/// For a JSON body to come in, which is held in memory meanwhile.
const JSON_TIME: Duration = Duration::from_secs(30);

/// Bytes of a JSON body that come in without a place among the uploads. Most have fewer, so that uploads hold up no fetch.
const SMALL_JSON: usize = 16 << 10;

/// What an upload is made of: the request, and the file, which is not durable yet.
struct Parts {
    data: Option<Vec<u8>>,
    file: Option<(Box<dyn BlobWriter>, Uploaded)>,
}

/// A place among the uploads, until it is dropped.
type Slot<'a> = (SemaphorePermit<'a>, Share);

impl Inner {
    /// A place among the uploads, of those that the account may have.
    fn slot_for(&self, account: AccountId) -> Result<Slot<'_>, Problem> {
        let too_many = || Problem::busy("too many uploads are on their way");
        let permit = self.uploads.try_acquire().map_err(|_| too_many())?;
        let share = self.uploading.take(account, Shares::most(self.settings.uploads)).ok_or_else(too_many)?;
        Ok((permit, share))
    }

    /// Reads an upload to its end and accepts it, which takes the time that it takes: what the ledger was asked for is not
    /// taken back.
    pub(super) async fn upload(
        self: &Arc<Self>,
        id: JobId,
        account: AccountId,
        boundary: String,
        body: Incoming,
    ) -> Result<(), Problem> {
        let _slot = self.slot_for(account)?;
        let Parts { data, file } = in_time(self.settings.receiving, self.parts(id, boundary, body)).await?;
        let (request, mut wrong) = Request::read_what_is_right(Way::Upload, data.as_deref().unwrap_or(b"{}"))?;
        let Some((writer, uploaded)) = file else {
            wrong.insert(0, Violation { path: "file".into(), value: None, allowed: "is required".into() });
            return self.check(account, &request, wrong).await;
        };
        self.check(account, &request, wrong).await?;
        writer.finish().await?;
        self.accept(id, account, request, Some(uploaded), self.now()).await
    }

    async fn parts(&self, id: JobId, boundary: String, body: Incoming) -> Result<Parts, Problem> {
        let room = Arc::<AtomicU64>::default();
        let mut parts = Multipart::new(Paced { body, paused: true, room: Arc::clone(&room) }, boundary);
        let (mut data, mut file) = (None, None);
        loop {
            room.store(AROUND_PARTS, Ordering::Relaxed);
            let Some(part) = parts.next_field().await.map_err(broken)? else { break };
            // Whoever reads a part counts its bytes.
            room.store(u64::MAX, Ordering::Relaxed);
            let disposition = part.headers().get("content-disposition");
            let Disposition { name, file_name } =
                disposition.map_or_else(Disposition::default, |disposition| Disposition::parse(disposition.as_bytes()));
            match name.as_deref() {
                Some("file") if file.is_none() => file = Some(self.receive(id, part, file_name).await?),
                Some("data") if data.is_none() => data = Some(self.read_data(part).await?),
                Some(name @ ("file" | "data")) => return Err(Problem::new(422, format!("{name} is given twice"))),
                name => {
                    let name = name.unwrap_or_default().chars().take(50).collect::<String>();
                    return Err(Problem::new(422, format!("the parts must be file and data, got {name:?}")));
                }
            }
        }
        Ok(Parts { data, file })
    }

    async fn receive(
        &self,
        id: JobId,
        mut part: Field<'_>,
        name: Option<String>,
    ) -> Result<(Box<dyn BlobWriter>, Uploaded), Problem> {
        let allowed = self.engine.limits().source_bytes;
        let mut writer = self.ports.blobs.create(BlobKey::Source(id)).await?;
        let mut bytes = 0_u64;
        while let Some(chunk) = part.chunk().await.map_err(broken)? {
            bytes += chunk.len() as u64;
            if bytes > allowed {
                return Err(Problem::too_large("the file", allowed));
            }
            writer.write(&chunk).await?;
        }
        Ok((writer, Uploaded::new(bytes, name.as_deref())))
    }

    async fn read_data(&self, mut part: Field<'_>) -> Result<Vec<u8>, Problem> {
        let mut data = Vec::new();
        while let Some(chunk) = part.chunk().await.map_err(broken)? {
            data.extend_from_slice(&chunk);
            if data.len() as u64 > self.settings.json_bytes {
                return Err(Problem::too_large("data", self.settings.json_bytes));
            }
        }
        Ok(data)
    }

    /// Reads a JSON body to its end.
    pub(super) async fn json(&self, account: AccountId, body: Incoming) -> Result<Vec<u8>, Problem> {
        in_time(self.settings.receiving.min(JSON_TIME), self.text(account, body)).await
    }

    async fn text(&self, account: AccountId, body: Incoming) -> Result<Vec<u8>, Problem> {
        let mut body = pin!(body);
        let (mut text, mut slot) = (Vec::new(), None);
        while let Some(chunk) = std::future::poll_fn(|context| body.as_mut().poll_next(context)).await {
            let chunk = chunk.map_err(|_| Problem::new(400, "the body broke off"))?;
            text.extend_from_slice(&chunk);
            if text.len() as u64 > self.settings.json_bytes {
                return Err(Problem::too_large("the body", self.settings.json_bytes));
            }
            if text.len() > SMALL_JSON && slot.is_none() {
                slot = Some(self.slot_for(account)?);
            }
        }
        Ok(text)
    }
}

/// Ends what waits for a body that does not come.
async fn in_time<T>(time: Duration, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    let late = |_| Problem::new(400, format!("the body did not come in within {} s", time.as_secs()));
    tokio::time::timeout(time, work).await.map_err(late)?
}

/// A body that gives one chunk at a time: multer reads on for as long as something is ready, and would hold a whole file
/// in memory.
struct Paced {
    body: Incoming,
    paused: bool,
    /// Bytes that may still come before something must be found in them.
    room: Arc<AtomicU64>,
}

/// The body goes on and on without a part.
#[derive(Debug, thiserror::Error)]
#[error("there are more than {AROUND_PARTS} bytes around the parts")]
struct NoPart;

impl Stream for Paced {
    type Item = <Incoming as Stream>::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.paused {
            self.paused = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let room = self.room.load(Ordering::Relaxed);
        if room == 0 {
            return Poll::Ready(Some(Err(NoPart.into())));
        }
        let next = self.body.as_mut().poll_next(context);
        self.paused = next.is_pending();
        if let Poll::Ready(Some(Ok(chunk))) = &next {
            self.room.store(room.saturating_sub(chunk.len() as u64), Ordering::Relaxed);
        }
        next
    }
}

/// What is wrong with a multipart body, without echoing any of it.
fn broken(error: multer::Error) -> Problem {
    let what = match error {
        multer::Error::StreamReadFailed(source) if source.is::<NoPart>() => "has too much around its parts",
        multer::Error::IncompleteFieldData { .. } | multer::Error::IncompleteStream => "ends before its last boundary",
        multer::Error::IncompleteHeaders | multer::Error::ReadHeaderFailed(_) => "has a part with broken headers",
        multer::Error::StreamReadFailed(_) => "broke off",
        _ => "is broken",
    };
    Problem::new(400, format!("the multipart body {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_of_either_kind_is_found() {
        for (content_type, expected) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("Multipart/Form-Data;charset=utf-8; boundary=\"a b\"", Some("a b")),
            ("multipart/mixed; boundary=abc", Some("abc")),
            ("multipart/form-data ;\tboundary=abc ; charset=utf-8", Some("abc")),
            ("multipart/form-data;; boundary=abc;", Some("abc")),
            ("multipart/form-data", None),
            ("multipart/related; boundary=abc", None),
            ("application/json", None),
        ] {
            assert_eq!(boundary(content_type).as_deref(), expected, "{content_type}");
        }
    }
}
