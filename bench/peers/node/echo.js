// A TCP echo on Node's net.
'use strict';

const net = require('node:net');
const listening = require('./port');

function echo(socket) {
  socket.on('error', () => {}); // a client that left
  socket.pipe(socket);
}

net.createServer({ noDelay: true }, echo).listen(listening);
