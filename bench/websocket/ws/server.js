// ws: /echo gives each message back, /feed gives it to all who are there.
"use strict";
const {createServer} = require("http");
const {WebSocketServer} = require("ws");

const all = new Set();
const sockets = new WebSocketServer({noServer: true, perMessageDeflate: false});
const server = createServer();
server.on("upgrade", (request, socket, head) => {
  socket.setNoDelay(true);
  sockets.handleUpgrade(request, socket, head, (peer) => {
    peer.on("error", () => {});
    if (request.url === "/echo") return peer.on("message", (data, isBinary) => peer.send(data, {binary: isBinary}));
    all.add(peer);
    peer.on("close", () => all.delete(peer));
    peer.on("message", (data, isBinary) => {
      for (const each of all) each.send(data, {binary: isBinary});
    });
  });
});
server.listen({port: Number(process.argv[2]), host: "127.0.0.1", backlog: 4096});
