//! A ping server on axum: its router and its Json extractor and response. One thread of tokio.
//!
//!     axum_ping 9100

use std::net::{Ipv4Addr, SocketAddr};

use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio::net::TcpSocket;

#[derive(Serialize, Deserialize)]
struct Ping {
    sequence: u64,
}

async fn ping(Json(said): Json<Ping>) -> Json<Ping> {
    Json(said)
}

async fn plaintext() -> &'static str {
    "Hello, World!"
}

async fn serve(port: u16) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    // A client that left before its option was set is noticed when it is read from.
    let listener = socket.listen(4096)?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let routes = Router::new()
        .route("/ping", post(ping))
        .route("/plaintext", get(plaintext));
    axum::serve(listener, routes).await
}

fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: axum_ping PORT");
        std::process::exit(2);
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(serve(port))
}
