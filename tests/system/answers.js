// A server of Node.js for clients to be tried on: what it does with a request, its path says.
"use strict";
const http = require("http");
const https = require("https");
const fs = require("fs");
const net = require("net");

const ways = {
  "/pieces"(request, response) {
    response.setHeader("Trailer", "X-Sum");
    let left = 1000;
    const more = () => {
      while (left > 0) {
        left -= 1;
        if (!response.write("0123456789")) return response.once("drain", more);
      }
      response.addTrailers({"X-Sum": "10000"});
      response.end();
    };
    more();
  },
  "/hints"(request, response) {
    // writeEarlyHints() came with Node.js 18.11; this is what it sends.
    response.socket.write("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
    response.writeProcessing();
    response.end("hinted");
  },
  "/echo"(request, response) { request.pipe(response); },
  "/cut"(request, response) {
    response.writeHead(200, {"Content-Length": 1000});
    response.write("0123456789", () => response.socket.destroy());
  },
  "/cut-pieces"(request, response) {
    response.write("0123456789", () => response.socket.destroy());
  },
  "/drop"(request, response) { response.socket.destroy(); },
  "/never"() {},
  "/close"(request, response) {
    response.setHeader("Connection", "close");
    response.end("closed");
  },
  "/until-close"(request, response) {
    response.socket.end("HTTP/1.0 200 OK\r\n\r\nuntil the end");
  },
  "/two-lengths"(request, response) {
    response.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc");
  },
  "/two-framings"(request, response) {
    response.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  },
  "/endless-head"(request, response) {
    const more = () => { while (!response.socket.destroyed && response.socket.write(`X: ${"y".repeat(1000)}\r\n`)); };
    response.socket.write("HTTP/1.1 200 OK\r\n");
    response.socket.on("drain", more);
    response.socket.on("error", () => {});
    more();
  },
  "/endless-body"(request, response) {
    const more = () => { while (!response.destroyed && response.write("z".repeat(10000))); };
    response.on("drain", more);
    more();
  },
};

function answer(request, response) {
  const way = ways[request.url];
  if (way) return way(request, response);
  response.statusCode = 404;
  response.end();
}

const [certificate, key] = process.argv.slice(2);
const server = certificate
  ? https.createServer({cert: fs.readFileSync(certificate), key: fs.readFileSync(key)}, answer)
  : http.createServer(answer);
// As a proxy: asked by CONNECT, it goes where it is told, or, of this name, nowhere.
server.on("connect", (request, socket, head) => {
  const [host, port] = request.url.split(":");
  if (host === "forbidden.test") return socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  const onward = net.connect(Number(port), "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    onward.write(head);
    onward.pipe(socket).pipe(onward);
  });
  for (const end of [socket, onward]) end.on("error", () => {});
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
