//! The service under plain hyper, without a framework. In memory, for a first look: hosts that mean it use the adapters
//! `sqlite`, `directory`, `http` and `s3`, as `examples/server` does.

use anyhow::Result;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use http_body_util::{BodyExt, BodyStream, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response,
    body::{Frame, Incoming},
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use lapidary::{
    Engine,
    adapter::memory,
    port::Failure,
    service::{Body, Call, Keyring, Service, Settings},
};

#[tokio::main]
async fn main() -> Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let service = Service::new(memory::ports(), Engine::new(), Keyring::new([1; 32], [2; 32]), Settings::new(&url));
    let account = service.admin().open_account("demo", "demo", 100).await?.account;
    let key = service.admin().new_key(account).await?;
    println!("curl -u {}: -F file=@examples/pictures/coffee.jpg {url}/1.0/upload", key.expose());

    let _running = service.start();
    loop {
        let (stream, _) = listener.accept().await?;
        let service = service.clone();
        let answer = service_fn(move |request| answer(service.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

async fn answer(service: Service, request: Request<Incoming>) -> Result<Response<UnsyncBoxBody<Bytes, Failure>>> {
    let (head, body) = request.into_parts();
    let text = |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let call = Call {
        method: head.method.as_str(),
        path: head.uri.path(),
        secure: true, // This host believes that TLS ends at a proxy before it.
        authorization: text(AUTHORIZATION),
        content_type: text(CONTENT_TYPE),
        content_length: text(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
    };
    let data = BodyStream::new(body).try_filter_map(|frame| async { Ok(frame.into_data().ok()) });
    let answer = service.answer(call, Box::pin(data.map(|chunk| chunk.map_err(Into::into)))).await;
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    Ok(response.body(match answer.body {
        Body::Bytes(bytes) => Full::from(bytes).map_err(|never| match never {}).boxed_unsync(),
        Body::Blob(blob) => StreamBody::new(stream::unfold(blob.reader, |mut reader| async {
            let piece = reader.next().await.transpose()?;
            Some((piece.map(|bytes| Frame::data(bytes.into())), reader))
        }))
        .boxed_unsync(),
    })?)
}
