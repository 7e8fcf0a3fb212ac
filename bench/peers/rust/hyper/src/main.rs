//! A ping server on hyper: a complete HTTP/1.1 parser and serialiser, and a JSON document parsed and
//! written for each request. One thread of tokio; a task a connection.
//!
//!     ping 9100

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::net::TcpSocket;

#[derive(Serialize, Deserialize)]
struct Ping {
    sequence: u64,
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

async fn ping(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST || request.uri().path() != "/ping" {
        return Ok(plain(StatusCode::NOT_FOUND));
    }
    let Ok(body) = request.into_body().collect().await else {
        return Ok(plain(StatusCode::BAD_REQUEST));
    };
    let Ok(said) = serde_json::from_slice::<Ping>(&body.to_bytes()) else {
        return Ok(plain(StatusCode::BAD_REQUEST));
    };
    let reply = serde_json::to_vec(&said).expect("a number is always written");
    let mut response = Response::new(Full::new(Bytes::from(reply)));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn serve(port: u16) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let listener = socket.listen(4096)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // An error here is a client that left.
            let _ = http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), service_fn(ping))
                .await;
        });
    }
}

fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: ping PORT");
        std::process::exit(2);
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?
        .block_on(serve(port))
}
