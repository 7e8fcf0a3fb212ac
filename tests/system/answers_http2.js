// A server of Node.js over HTTP/2 in the clear: what it does with a request, its path says.
"use strict";
const http2 = require("http2");
const {NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR} = http2.constants;

const ways = {
  "/pieces"(request, response) {
    let left = 1000;
    const more = () => {
      while (left > 0) {
        left -= 1;
        if (!response.write("0123456789")) return response.once("drain", more);
      }
      response.addTrailers({"x-sum": "10000"});
      response.end();
    };
    more();
  },
  "/hints"(request, response) {
    response.stream.additionalHeaders({":status": 103, "link": "</style.css>; rel=preload"});
    response.stream.additionalHeaders({":status": 102});
    response.end("hinted");
  },
  "/echo"(request, response) { request.pipe(response); },
  "/reset"(request, response) { response.stream.close(NGHTTP2_INTERNAL_ERROR); },
  "/half"(request, response) { response.write("half", () => response.stream.close(NGHTTP2_CANCEL)); },
  "/cut"(request, response) { response.write("half", () => setTimeout(() => response.stream.session.destroy(), 50)); },
  "/drop"(request, response) { response.stream.session.destroy(); },
  "/never"() {},
  "/much"(request, response) {
    for (let i = 0; i < 300; ++i) response.setHeader(`x-${i}`, "v".repeat(100));
    response.end();
  },
  "/endless-body"(request, response) {
    const more = () => { while (!response.destroyed && response.write("z".repeat(10000))); };
    response.on("drain", more);
    more();
  },
};

const server = http2.createServer((request, response) => {
  const way = ways[request.url];
  response.on("error", () => {});
  if (way) return way(request, response);
  response.statusCode = 404;
  response.end();
});
server.on("sessionError", () => {});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
