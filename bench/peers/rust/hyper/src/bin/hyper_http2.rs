//! A ping server on hyper that speaks HTTP/2 in the clear. One thread of tokio; a task a connection and a stream.
//!
//!     hyper_http2 9100

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

async fn serve(port: u16) -> std::io::Result<()> {
    let listener = hyper_ping::listen(port)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // An error here is a client that left.
            let _ = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service_fn(hyper_ping::answer))
                .await;
        });
    }
}

fn main() -> std::io::Result<()> {
    let (port, _) = hyper_ping::arguments("");
    hyper_ping::run(serve(port))
}
