//! A ping server on hyper and rustls, HTTP/1.1 by TLS. One thread of tokio; a task a connection.
//!
//!     hyper_tls 9100 certificate.pem key.pem

use std::io::Error;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

fn acceptor(certificate: &str, key: &str) -> Result<TlsAcceptor, Box<dyn std::error::Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(port: u16, certificate: &str, key: &str) -> std::io::Result<()> {
    let tls = acceptor(certificate, key).map_err(|error| Error::other(error.to_string()))?;
    let listener = hyper_ping::listen(port)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let tls = tls.clone();
        tokio::spawn(async move {
            // An error here is a client that left.
            let Ok(secured) = tls.accept(stream).await else {
                return;
            };
            let _ = http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(secured), service_fn(hyper_ping::answer))
                .await;
        });
    }
}

fn main() -> std::io::Result<()> {
    let (port, files) = hyper_ping::arguments("CERTIFICATE KEY");
    hyper_ping::run(serve(port, &files[0], &files[1]))
}
