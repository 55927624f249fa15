//! The service inside somebody's axum program, under a path of its own. In memory, for a first look: hosts that mean it
//! use the adapters `sqlite`, `directory`, `http` and `s3`, as `examples/server` does.

use anyhow::Result;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderValue,
        header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::Response,
    routing::get,
};
use futures_util::{StreamExt, stream};
use lapidary::{
    Engine,
    adapter::memory,
    service::{self, Call, Keyring, Service, Settings},
};

#[tokio::main]
async fn main() -> Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/images", listener.local_addr()?);
    let service = Service::new(memory::ports(), Engine::new(), Keyring::new([1; 32], [2; 32]), Settings::new(&url));
    let account = service.admin().open_account("demo", "demo", 100).await?.account;
    let key = service.admin().new_key(account).await?;
    println!("curl -u {}: -F file=@examples/pictures/coffee.jpg {url}/1.0/upload", key.expose());

    let _running = service.start();
    let app = Router::new()
        .route("/", get(|| async { "the host's own page" }))
        .nest("/images", Router::new().fallback(images).with_state(service));
    Ok(axum::serve(listener, app).await?)
}

async fn images(State(service): State<Service>, request: Request) -> Response {
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
    let body = Box::pin(body.into_data_stream().map(|chunk| chunk.map_err(Into::into)));
    let answer = service.answer(call, body).await;
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    let body = match answer.body {
        service::Body::Bytes(bytes) => Body::from(bytes),
        service::Body::Blob(blob) => Body::from_stream(stream::unfold(blob.reader, |mut reader| async {
            reader.next().await.transpose().map(|piece| (piece, reader))
        })),
    };
    response.body(body).unwrap_or_default()
}
