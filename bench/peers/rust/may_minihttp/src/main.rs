//! A ping server on may_minihttp: coroutines with stacks of their own, httparse, and serde_json. One worker.
//!
//!     may_ping 9100

use std::io::{self, Read};

use may_minihttp::{HttpServer, HttpService, Request, Response};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Ping {
    sequence: u64,
}

/// One for each connection, with the memory that its requests share.
#[derive(Clone, Default)]
struct Api {
    body: Vec<u8>,
}

impl HttpService for Api {
    fn call(&mut self, request: Request, response: &mut Response) -> io::Result<()> {
        if request.method() == "GET" && request.path() == "/plaintext" {
            response
                .header("Content-Type: text/plain")
                .body("Hello, World!");
            return Ok(());
        }
        if request.method() != "POST" || request.path() != "/ping" {
            response.status_code(404, "Not Found");
            return Ok(());
        }
        self.body.clear();
        request.body().read_to_end(&mut self.body)?;
        let Ok(said) = serde_json::from_slice::<Ping>(&self.body) else {
            response.status_code(400, "Bad Request");
            return Ok(());
        };
        response.header("Content-Type: application/json");
        self.body.clear();
        serde_json::to_writer(&mut self.body, &said)?;
        response.body_mut().extend_from_slice(&self.body);
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let port: Option<u16> = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: may_ping PORT");
        std::process::exit(2);
    };
    may::config().set_workers(1);
    let server = HttpServer(Api::default()).start(("127.0.0.1", port))?;
    server.wait();
    Ok(())
}
