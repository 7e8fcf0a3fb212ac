// A ping server on fasthttp and goccy/go-json.
package main

import (
	"log"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"peers/ping"
)

func serve(ctx *fasthttp.RequestCtx) {
	if ctx.IsGet() && string(ctx.Path()) == "/plaintext" {
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello, World!")
		return
	}
	if !ctx.IsPost() || string(ctx.Path()) != "/ping" {
		ctx.NotFound()
		return
	}
	var said ping.Ping
	if err := json.UnmarshalNoEscape(ctx.PostBody(), &said); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	reply, err := json.MarshalNoEscape(&said)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetContentType("application/json")
	ctx.Response.SetBodyRaw(reply)
}

func main() {
	server := fasthttp.Server{Handler: serve, NoDefaultServerHeader: true}
	log.Fatal(server.Serve(ping.Listen()))
}
