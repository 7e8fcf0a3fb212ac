// A ping server on net/http and encoding/json, in the clear, by HTTP/2 in the clear, or by TLS.
//
//	net_http PORT [http2 | tls CERTIFICATE KEY]
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"

	"peers/ping"
)

func serve(to http.ResponseWriter, request *http.Request) {
	text, err := io.ReadAll(request.Body)
	var said ping.Ping
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		http.Error(to, err.Error(), http.StatusBadRequest)
		return
	}
	reply, err := json.Marshal(said)
	if err != nil {
		http.Error(to, err.Error(), http.StatusInternalServerError)
		return
	}
	to.Header()["Content-Type"] = contentType
	to.Header()["Content-Length"] = []string{strconv.Itoa(len(reply))}
	_, _ = to.Write(reply) // an error of it is a client that left
}

var (
	contentType = []string{"application/json"}
	hello       = []byte("Hello, World!")
	helloLength = []string{strconv.Itoa(len(hello))}
	plainText   = []string{"text/plain"}
)

func plaintext(to http.ResponseWriter, _ *http.Request) {
	to.Header()["Content-Type"] = plainText
	to.Header()["Content-Length"] = helloLength
	_, _ = to.Write(hello)
}

func main() {
	http.HandleFunc("POST /ping", serve)
	http.HandleFunc("GET /plaintext", plaintext)
	server := http.Server{}
	listener := ping.Listen()
	switch how := os.Args[2:]; {
	case len(how) == 3 && how[0] == "tls":
		log.Fatal(server.ServeTLS(listener, how[1], how[2]))
	case len(how) == 1 && how[0] == "http2":
		server.Protocols = new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
		log.Fatal(server.Serve(listener))
	case len(how) == 0:
		log.Fatal(server.Serve(listener))
	default:
		log.Fatalf("usage: %s PORT [http2 | tls CERTIFICATE KEY]", os.Args[0])
	}
}
