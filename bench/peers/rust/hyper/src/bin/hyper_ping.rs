//! A ping server on hyper: a complete HTTP/1.1 parser and serialiser. One thread of tokio; a task a connection.
//!
//!     hyper_ping 9100

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

async fn serve(port: u16) -> std::io::Result<()> {
    let listener = hyper_ping::listen(port)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // An error here is a client that left.
            let _ = http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), service_fn(hyper_ping::answer))
                .await;
        });
    }
}

fn main() -> std::io::Result<()> {
    let (port, _) = hyper_ping::arguments("");
    hyper_ping::run(serve(port))
}
