// A ping server on Node's http.
'use strict';

const http = require('node:http');
const listening = require('./port');

function refuse(response, status) {
  response.writeHead(status, { 'Content-Length': 0 });
  response.end();
}

function answer(response, text) {
  let reply;
  try {
    const { sequence } = JSON.parse(text);
    if (!Number.isSafeInteger(sequence)) throw new TypeError('no sequence');
    reply = JSON.stringify({ sequence });
  } catch {
    refuse(response, 400);
    return;
  }
  // All of it is ASCII: as many bytes as characters.
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': reply.length });
  response.end(reply);
}

const HELLO = 'Hello, World!';

function serve(request, response) {
  if (request.method === 'GET' && request.url === '/plaintext') {
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': HELLO.length });
    response.end(HELLO);
    return;
  }
  if (request.method !== 'POST' || request.url !== '/ping') {
    refuse(response, 404);
    return;
  }
  request.setEncoding('utf8');
  let text = '';
  request.on('data', (piece) => { text += piece; });
  request.on('end', () => answer(response, text));
}

// Without a timer for idle connections, as the other peers.
http.createServer({ keepAliveTimeout: 0 }, serve).listen(listening);
