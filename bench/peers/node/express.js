// A ping server on Express, with its own JSON parser.
'use strict';

const http = require('node:http');
const express = require('express');
const listening = require('./port');

const app = express();
app.disable('x-powered-by');
app.disable('etag'); // it would be a hash of each reply
app.post('/ping', express.json(), (request, response) => {
  const { sequence } = request.body ?? {};
  if (!Number.isSafeInteger(sequence)) {
    response.sendStatus(400);
    return;
  }
  response.json({ sequence });
});

app.get('/plaintext', (request, response) => {
  response.type('text/plain').send('Hello, World!');
});

http.createServer({ keepAliveTimeout: 0 }, app).listen(listening);
