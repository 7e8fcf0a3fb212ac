//! A ping server on tokio's sockets, with a trivial parser as the ceilings have: it knows Content-Length and nothing else.
//! What a complete server on tokio pays at least.
//!
//!     tokio_ping 9100

use std::io::Write;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// More than a request and what is pipelined behind it.
const INPUT: usize = 4096;
const NAME: &[u8] = b"content-length:";

enum Found {
    /// So many bytes of input are answered.
    Request(usize),
    Incomplete,
    Malformed,
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|seen| seen == wanted)
}

fn number(text: &[u8]) -> Option<u64> {
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b':'))?;
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit());
    let mut value: Option<u64> = None;
    for digit in digits {
        let so_far = value.unwrap_or(0).checked_mul(10)?;
        value = Some(so_far.checked_add(u64::from(digit - b'0'))?);
    }
    value
}

fn content_length(head: &[u8]) -> Option<usize> {
    let fields = head.split(|byte| *byte == b'\n').skip(1);
    for field in fields {
        if field.len() > NAME.len() && field[..NAME.len()].eq_ignore_ascii_case(NAME) {
            return number(&field[NAME.len()..]).and_then(|length| usize::try_from(length).ok());
        }
    }
    Some(0)
}

fn sequence(body: &[u8]) -> Option<u64> {
    const MEMBER: &[u8] = b"\"sequence\"";
    number(&body[position(body, MEMBER)? + MEMBER.len()..])
}

/// Answers the first request of `input`.
fn serve_one(input: &[u8], replies: &mut Vec<u8>) -> Found {
    let Some(head) = position(input, b"\r\n\r\n") else {
        return Found::Incomplete;
    };
    let body = head + 4;
    let Some(end) = content_length(&input[..head]).and_then(|length| body.checked_add(length)) else {
        return Found::Malformed;
    };
    if end > input.len() {
        return Found::Incomplete;
    }
    let Some(said) = sequence(&input[body..end]) else {
        return Found::Malformed;
    };
    let length = "{\"sequence\":}".len() + said.checked_ilog10().unwrap_or(0) as usize + 1;
    let written = write!(
        replies,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{{\"sequence\":{said}}}"
    );
    written.map_or(Found::Malformed, |()| Found::Request(end))
}

/// Closes by returning.
async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut input = vec![0; INPUT];
    let mut filled = 0;
    let mut replies = Vec::new();
    while filled < input.len() {
        let size = stream.read(&mut input[filled..]).await?;
        if size == 0 {
            return Ok(());
        }
        filled += size;
        let mut used = 0;
        loop {
            match serve_one(&input[used..filled], &mut replies) {
                Found::Request(size) => used += size,
                Found::Incomplete => break,
                Found::Malformed => return Ok(()),
            }
        }
        input.copy_within(used..filled, 0);
        filled -= used;
        if !replies.is_empty() {
            stream.write_all(&replies).await?;
            replies.clear();
        }
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    tokio_sockets::run(serve)
}
