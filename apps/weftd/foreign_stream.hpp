// Standard input and output that another program, or a person, is at the other end of.
//
// Problem: whoever waits there in a read hears no signal, since a program of services takes them on
// its loop. Contract: for the commands that serve nobody: SIGINT and SIGTERM end the process while
// it waits. One thread.
//
//   wait_for(STDIN_FILENO, POLLIN);
//   ::read(STDIN_FILENO, ...);                 // now does not block
#pragma once

namespace weftd {

/// Until `fd` is ready for `events`, of poll(2), or can never be.
void wait_for(int fd, short events);

}  // namespace weftd
