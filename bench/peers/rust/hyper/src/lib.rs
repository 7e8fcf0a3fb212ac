//! What the servers on hyper share: their answers, with a JSON document parsed and written for each ping, and where they listen.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::{Method, Request, Response, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpSocket};

#[derive(Serialize, Deserialize)]
struct Ping {
    sequence: u64,
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn of_kind(kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() == Method::GET && request.uri().path() == "/plaintext" {
        return Ok(of_kind("text/plain", Bytes::from_static(b"Hello, World!")));
    }
    if request.method() != Method::POST || request.uri().path() != "/ping" {
        return Ok(empty(StatusCode::NOT_FOUND));
    }
    let Ok(body) = request.into_body().collect().await else {
        return Ok(empty(StatusCode::BAD_REQUEST));
    };
    let Ok(said) = serde_json::from_slice::<Ping>(&body.to_bytes()) else {
        return Ok(empty(StatusCode::BAD_REQUEST));
    };
    let reply = serde_json::to_vec(&said).expect("a number is always written");
    Ok(of_kind("application/json", Bytes::from(reply)))
}

pub fn listen(port: u16) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(4096)
}

/// The port that comes first, and so many further arguments behind it.
pub fn arguments(further: &str) -> (u16, Vec<String>) {
    let mut given = std::env::args().skip(1);
    let port = given.next().and_then(|text| text.parse().ok());
    let rest: Vec<String> = given.collect();
    match port {
        Some(port) if rest.len() == further.split_whitespace().count() => (port, rest),
        _ => {
            eprintln!("usage: PORT {further}");
            std::process::exit(2);
        }
    }
}

/// One thread of tokio.
pub fn run(served: impl std::future::Future<Output = std::io::Result<()>>) -> std::io::Result<()> {
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?
        .block_on(served)
}
