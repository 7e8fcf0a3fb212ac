// Package ping is what the ping servers read and write, and where they listen.
package ping

import (
	"log"
	"net"
	"os"
)

type Ping struct {
	Sequence uint64 `json:"sequence"`
}

// Listen claims the port that the command line names. Go sets TCP_NODELAY by itself.
func Listen() net.Listener {
	if len(os.Args) < 2 {
		log.Fatalf("usage: %s PORT", os.Args[0])
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	return listener
}
