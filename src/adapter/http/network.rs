//! What the client needs of the machine: names looked up, connections opened.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpSocket, lookup_host},
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

/// The operating system's resolver and sockets.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

#[async_trait]
impl Network for System {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(lookup_host((name, 0)).await?.map(|socket| socket.ip()).collect())
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
