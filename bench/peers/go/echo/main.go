// A TCP echo on net: a goroutine for each connection.
package main

import (
	"log"
	"net"

	"peers/ping"
)

func echo(peer net.Conn) {
	defer peer.Close()
	bytes := make([]byte, 4096)
	for {
		size, err := peer.Read(bytes)
		if err != nil {
			return
		}
		if _, err := peer.Write(bytes[:size]); err != nil {
			return
		}
	}
}

func main() {
	listener := ping.Listen()
	for {
		peer, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go echo(peer)
	}
}
