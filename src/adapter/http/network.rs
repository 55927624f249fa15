//! What the client needs of the machine: names looked up, connections opened.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpSocket,
    sync::Semaphore,
    task::spawn_blocking,
};

/// Looks names up and opens connections, and decides nothing: which addresses are dialled is the
/// [`Guard`](super::Guard)'s to say. For hosts with a resolver of their own, and for tests.
#[async_trait]
pub trait Network: fmt::Debug + Send + Sync {
    /// All addresses of a name.
    ///
    /// # Errors
    /// Where it has none, or nobody could be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// A TCP connection to `to`, from the local address `from` if one is given.
    ///
    /// # Errors
    /// Where it was not made.
    async fn connect(&self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Connection>;
}

/// A connection that was opened.
pub struct Connection {
    /// Its octets.
    pub stream: Box<dyn Stream>,
    /// Who is at the other end.
    pub peer: SocketAddr,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Octets both ways.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Names that are looked up at a time. A look-up that nobody waits for any more goes on until the resolver gives up, on one of
/// the threads of tokio that files need, too. Of all [`System`]s together, since they share those.
static LOOKUPS: Semaphore = Semaphore::const_new(64);

/// The operating system's resolver, which looks 64 names up at a time, and sockets.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

#[async_trait]
impl Network for System {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let name = name.to_owned();
        let look = move || Ok((name.as_str(), 0).to_socket_addrs()?.map(|socket| socket.ip()).collect());
        look_up(&LOOKUPS, look).await
    }

    async fn connect(&self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Connection> {
        let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        if let Some(from) = from {
            socket.bind(SocketAddr::new(from, 0))?;
        }
        let stream = socket.connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { peer: stream.peer_addr()?, stream: Box::new(stream) })
    }
}

/// Looks up on a thread of its own, which keeps a permit for as long as that takes, whoever still waits.
async fn look_up<T: Send + 'static>(
    lookups: &'static Semaphore,
    look: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let permit = lookups.acquire().await.map_err(io::Error::other)?;
    let look = move || {
        let _permit = permit;
        look()
    };
    spawn_blocking(look).await?
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn look_ups_that_nobody_waits_for_keep_others_out_until_they_end() {
        static TWO: Semaphore = Semaphore::const_new(2);
        let resolver = Arc::new(Mutex::new(()));
        let silent = resolver.lock().unwrap();
        for left in [1, 0, 0] {
            let resolver = Arc::clone(&resolver);
            let answer = look_up(&TWO, move || {
                drop(resolver.lock());
                Ok(())
            })
            .now_or_never();
            assert!(answer.is_none() && TWO.available_permits() == left);
        }
        drop(silent);
        look_up(&TWO, || Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn the_systems_resolver_is_asked() {
        assert_eq!(System.resolve("127.0.0.1").await.unwrap(), [IpAddr::from([127, 0, 0, 1])]);
    }
}
