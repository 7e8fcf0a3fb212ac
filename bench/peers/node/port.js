// Where all servers of this folder listen: on the port that the command line names.
'use strict';

module.exports = { host: '127.0.0.1', port: Number(process.argv[2]), backlog: 4096 };
