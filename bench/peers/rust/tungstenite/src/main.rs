//! WebSockets on tokio-tungstenite: /echo gives each message back, /feed gives it to all who are there. One thread of tokio.
//!
//!     tungstenite_sockets 9100

use std::net::{Ipv4Addr, SocketAddr};

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::{protocol::WebSocketConfig, Message};

async fn serve(stream: TcpStream, feed: broadcast::Sender<Message>) {
    let _ = stream.set_nodelay(true);
    let mut path = String::new();
    let note = |request: &Request, response: Response| {
        path = request.uri().path().to_owned();
        Ok(response)
    };
    // Each message is sent at once: who answers one by one gains nothing from a buffer. That for reading is
    // 128 KiB by default, which many connections pay for dearly.
    let config = WebSocketConfig::default()
        .write_buffer_size(0)
        .read_buffer_size(4096);
    let Ok(mut peer) =
        tokio_tungstenite::accept_hdr_async_with_config(stream, note, Some(config)).await
    else {
        return;
    };
    if path == "/echo" {
        while let Some(Ok(message)) = peer.next().await {
            if (message.is_text() || message.is_binary()) && peer.send(message).await.is_err() {
                return;
            }
        }
        return;
    }
    let mut news = feed.subscribe();
    loop {
        tokio::select! {
            came = peer.next() => match came {
                Some(Ok(message)) if message.is_text() || message.is_binary() => { let _ = feed.send(message); }
                Some(Ok(_)) => {}
                _ => return,
            },
            told = news.recv() => match told {
                Ok(message) => if peer.send(message).await.is_err() { return; },
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(_) => return,
            },
        }
    }
}

async fn listen_and_serve(port: u16) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let listener = socket.listen(4096)?;
    let (feed, _) = broadcast::channel(1024);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream, feed.clone()));
    }
}

fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: tungstenite_sockets PORT");
        std::process::exit(2);
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?
        .block_on(listen_and_serve(port))
}
