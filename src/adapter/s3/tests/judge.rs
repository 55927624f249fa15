//! A bucket of this machine that believes nobody: it works signatures out for itself, from the octets that came.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::clock::{Clock, SystemClock, Timestamp};

pub(super) const KEY: &str = "AKIDEXAMPLE";
pub(super) const SECRET: &str = "canary/wJalr+XUtnFEMI";
pub(super) const BUCKET: &str = "photos";
pub(super) const REGION: &str = "eu-west-1";

/// An object, as it was put.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// What happens to the next request in place of what should.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    Status(u16),
    /// The connection ends before the request is whole.
    Cut,
    /// Nothing, for ever.
    Hang,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Kept>,
    faults: VecDeque<Fault>,
    requests: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Judge {
    pub(super) port: u16,
    state: Arc<Mutex<State>>,
}

impl Judge {
    pub(super) async fn sits() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let judge = Self { port: listener.local_addr().unwrap().port(), state: Arc::default() };
        let serving = judge.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        judge
    }

    pub(super) fn faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().unwrap().faults.extend(faults);
    }

    pub(super) fn object(&self, path: &str) -> Option<Kept> {
        self.state.lock().unwrap().objects.get(path).cloned()
    }

    pub(super) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    async fn serve(self, mut stream: TcpStream) -> io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let fault = {
            let mut state = self.state.lock().unwrap();
            state.requests += 1;
            state.faults.pop_front()
        };
        match fault {
            Some(Fault::Cut) => {
                stream.read_u8().await?;
                return Ok(());
            }
            Some(Fault::Hang) => return std::future::pending().await,
            _ => {}
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.split("\r\n");
        let request: Vec<_> = lines.next().unwrap().split(' ').collect();
        let split = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: BTreeMap<_, _> = lines.filter_map(split).collect();
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let (status, answer) = match fault {
            Some(Fault::Status(status)) => (status, b"<Error><Code>InternalError</Code></Error>".to_vec()),
            _ => self.answer(request[0], request[1], &headers, body),
        };
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&answer).await
    }

    fn answer(&self, method: &str, target: &str, headers: &BTreeMap<String, String>, body: Vec<u8>) -> (u16, Vec<u8>) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let error = |status, code: &str| (status, format!("<Error><Code>{code}</Code></Error>").into_bytes());
        let verified = if query.contains("X-Amz-Signature=") {
            verify_presigned(method, path, query, headers)
        } else {
            verify(method, path, query, headers, &body)
        };
        if let Err((status, xml)) = verified {
            return (status, xml.into_bytes());
        }
        if !path.starts_with(&format!("/{BUCKET}/")) {
            return error(404, "NoSuchBucket");
        }
        let mut state = self.state.lock().unwrap();
        match method {
            "PUT" => {
                state.objects.insert(path.to_owned(), Kept { headers: headers.clone(), body });
                (200, Vec::new())
            }
            "DELETE" => {
                state.objects.remove(path);
                (204, Vec::new())
            }
            _ if query.contains("list-type=2") => (200, list(&state.objects, query).into_bytes()),
            _ => match state.objects.get(path) {
                Some(kept) => (200, kept.body.clone()),
                None => error(404, "NoSuchKey"),
            },
        }
    }
}

/// Two a page; the token is the last name.
fn list(objects: &BTreeMap<String, Kept>, query: &str) -> String {
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let start = format!("/{BUCKET}/");
    let prefix = value("prefix").unwrap_or_default().replace("%2F", "/");
    let after = value("continuation-token").or_else(|| value("start-after")).unwrap_or_default().replace("%2F", "/");
    let names: Vec<_> = objects.keys().filter_map(|path| path.strip_prefix(&start)).collect();
    let left: Vec<_> = names.into_iter().filter(|name| name.starts_with(&prefix) && *name > after.as_str()).collect();
    let contents: String = left
        .iter()
        .take(2)
        .map(|name| {
            format!("<Contents><Key>{name}</Key><LastModified>2026-01-01T00:00:01.000Z</LastModified></Contents>")
        })
        .collect();
    let more = if left.len() > 2 {
        format!("<NextContinuationToken>{}</NextContinuationToken>", left[1])
    } else {
        String::new()
    };
    format!("<ListBucketResult><IsTruncated>{}</IsTruncated>{more}{contents}</ListBucketResult>", left.len() > 2)
}

/// Signature Version 4 in a query, by the letter of its documentation, at this moment.
fn verify_presigned(
    method: &str,
    path: &str,
    query: &str,
    headers: &BTreeMap<String, String>,
) -> Result<(), (u16, String)> {
    let denied = |code: &str| Err((403, format!("<Error><Code>{code}</Code></Error>")));
    let (signed, signature) = query.split_once("&X-Amz-Signature=").unwrap();
    let mut pairs: Vec<_> = signed.split('&').collect();
    pairs.sort_unstable();
    let signed = pairs.join("&");
    let value = |name: &str| {
        pairs.iter().find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap_or_else(|| panic!("no {name}"))
    };
    let credential = value("X-Amz-Credential").replace("%2F", "/");
    let Some(scope) = credential.strip_prefix(KEY).and_then(|rest| rest.strip_prefix('/')) else {
        return denied("InvalidAccessKeyId");
    };
    let (date, time) = (scope.split('/').next().unwrap(), value("X-Amz-Date"));
    assert_eq!((scope, value("X-Amz-SignedHeaders")), (format!("{date}/{REGION}/s3/aws4_request").as_str(), "host"));
    let number = |from: usize, to: usize| time[from..to].parse::<u64>().unwrap();
    let midnight = Timestamp::from_date(number(0, 4), number(4, 6), number(6, 8)).unwrap();
    let begins = midnight + Duration::from_secs(number(9, 11) * 3600 + number(11, 13) * 60 + number(13, 15));
    let life = value("X-Amz-Expires").parse().unwrap();
    assert!((1..=604_800).contains(&life));
    if SystemClock::new().now() >= begins + Duration::from_secs(life) {
        return denied("AccessDenied");
    }
    let request = format!("{method}\n{path}\n{signed}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD", headers["host"]);
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", lower(&Sha256::digest(request)));
    if sign(date, REGION, &text) == signature { Ok(()) } else { denied("SignatureDoesNotMatch") }
}

fn lower(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// By the key of `SECRET`.
fn sign(date: &str, region: &str, text: &str) -> String {
    let mac = |key: &[u8], text: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let key = [date, region, "s3", "aws4_request"]
        .iter()
        .fold(format!("AWS4{SECRET}").into_bytes(), |key, part| mac(&key, part));
    lower(&mac(&key, text))
}

/// Signature Version 4 by the letter of its documentation.
fn verify(
    method: &str,
    path: &str,
    query: &str,
    headers: &BTreeMap<String, String>,
    body: &[u8],
) -> Result<(), (u16, String)> {
    let denied = |status: u16, code: &str| Err((status, format!("<Error><Code>{code}</Code></Error>")));
    let Some(authorization) = headers.get("authorization").and_then(|text| text.strip_prefix("AWS4-HMAC-SHA256 "))
    else {
        return denied(403, "AccessDenied");
    };
    let field = |name: &str| {
        let found = authorization.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("no {name} in {authorization}"))
    };
    let credential: Vec<_> = field("Credential").split('/').collect();
    let [key, date, region, "s3", "aws4_request"] = credential[..] else { panic!("{credential:?}") };
    if key != KEY {
        return denied(403, "InvalidAccessKeyId");
    }
    if region != REGION {
        let xml = format!("<Error><Code>AuthorizationHeaderMalformed</Code><Region>{REGION}</Region></Error>");
        return Err((400, xml));
    }
    let hash = lower(&Sha256::digest(body));
    if headers["x-amz-content-sha256"] != hash {
        return denied(400, "XAmzContentSHA256Mismatch");
    }
    let signed: Vec<_> = field("SignedHeaders").split(';').collect();
    assert!(signed.is_sorted() && signed.contains(&"host"), "{signed:?}");
    for name in headers.keys().filter(|name| name.starts_with("x-amz-")) {
        assert!(signed.contains(&name.as_str()), "{name} is not signed");
    }
    let mut request = format!("{method}\n{path}\n");
    let mut pairs: Vec<_> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    pairs.sort_unstable();
    request += &pairs.join("&");
    request += "\n";
    for name in &signed {
        request += &format!("{name}:{}\n", headers[*name].split_whitespace().collect::<Vec<_>>().join(" "));
    }
    request += &format!("\n{}\n{hash}", signed.join(";"));
    let text = format!(
        "AWS4-HMAC-SHA256\n{}\n{date}/{region}/s3/aws4_request\n{}",
        headers["x-amz-date"],
        lower(&Sha256::digest(request))
    );
    if sign(date, region, &text) == field("Signature") { Ok(()) } else { denied(403, "SignatureDoesNotMatch") }
}
