//! A ping server on Actix Web: its router and its Json extractor and response. One worker.
//!
//!     actix_ping 9100

use std::time::Duration;

use actix_web::http::KeepAlive;
use actix_web::web::{get, post, Json};
use actix_web::{App, HttpServer};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Ping {
    sequence: u64,
}

async fn ping(said: Json<Ping>) -> Json<Ping> {
    said
}

async fn plaintext() -> &'static str {
    "Hello, World!"
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port: Option<u16> = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: actix_ping PORT");
        std::process::exit(2);
    };
    let routes = || {
        App::new()
            .route("/ping", post().to(ping))
            .route("/plaintext", get().to(plaintext))
    };
    HttpServer::new(routes)
        .workers(1)
        .backlog(4096)
        .max_connections(50_000)
        // No timer for each request.
        .client_request_timeout(Duration::ZERO)
        .keep_alive(KeepAlive::Os)
        .bind(("127.0.0.1", port))?
        .run()
        .await
}
