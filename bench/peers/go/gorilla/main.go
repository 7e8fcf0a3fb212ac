// WebSockets on gorilla/websocket: /echo gives each message back, /feed gives it to all who are there.
package main

import (
	"log"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"peers/ping"
)

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

type feed struct {
	mutex sync.Mutex
	all   map[*websocket.Conn]bool
}

func (f *feed) add(peer *websocket.Conn, is bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if is {
		f.all[peer] = true
	} else {
		delete(f.all, peer)
	}
}

// Framed once for all.
func (f *feed) publish(kind int, message []byte) {
	prepared, err := websocket.NewPreparedMessage(kind, message)
	if err != nil {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for peer := range f.all {
		peer.WritePreparedMessage(prepared)
	}
}

func main() {
	all := &feed{all: map[*websocket.Conn]bool{}}
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		peer, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer peer.Close()
		for {
			kind, message, err := peer.ReadMessage()
			if err != nil || peer.WriteMessage(kind, message) != nil {
				return
			}
		}
	})
	http.HandleFunc("/feed", func(w http.ResponseWriter, r *http.Request) {
		peer, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer peer.Close()
		all.add(peer, true)
		defer all.add(peer, false)
		for {
			kind, message, err := peer.ReadMessage()
			if err != nil {
				return
			}
			all.publish(kind, message)
		}
	})
	log.Fatal(http.Serve(ping.Listen(), nil))
}
