//! What the two servers on tokio's bare sockets share: a task for each connection, on one thread.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpSocket, TcpStream};

async fn accept<F, S>(port: u16, serve: S) -> std::io::Result<()>
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
    S: Fn(TcpStream) -> F,
{
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let listener = socket.listen(4096)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // An error of it is a client that left.
        tokio::spawn(serve(stream));
    }
}

/// Serves the port that the command line names, for good.
pub fn run<F, S>(serve: S) -> std::io::Result<()>
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
    S: Fn(TcpStream) -> F,
{
    let port = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: {} PORT", std::env::args().next().unwrap_or_default());
        std::process::exit(2);
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?
        .block_on(accept(port, serve))
}
