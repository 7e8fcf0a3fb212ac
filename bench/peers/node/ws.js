// WebSockets on ws: /echo gives each message back, /feed gives it to all who are there.
'use strict';

const http = require('node:http');
const { WebSocketServer } = require('ws');
const listening = require('./port');

const all = new Set();
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

function serve(peer, path) {
  peer.on('error', () => {}); // a client that left
  if (path === '/echo') {
    peer.on('message', (data, isBinary) => peer.send(data, { binary: isBinary }));
    return;
  }
  all.add(peer);
  peer.on('close', () => all.delete(peer));
  peer.on('message', (data, isBinary) => {
    for (const each of all) each.send(data, { binary: isBinary });
  });
}

const server = http.createServer();
server.on('upgrade', (request, socket, head) => {
  socket.setNoDelay(true);
  sockets.handleUpgrade(request, socket, head, (peer) => serve(peer, request.url));
});
server.listen(listening);
