//! A TCP echo on tokio.
//!
//!     tokio_echo 9100

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    let mut bytes = vec![0; 4096];
    loop {
        let size = stream.read(&mut bytes).await?;
        if size == 0 {
            return Ok(());
        }
        stream.write_all(&bytes[..size]).await?;
    }
}

fn main() -> std::io::Result<()> {
    tokio_sockets::run(echo)
}
