// Batches of reads by fasthttp and encoding/json.
package main

import (
	"encoding/json"
	"log"
	"os"
	"sync"

	"github.com/valyala/fasthttp"

	"rdrs/work"
)

var (
	batches = sync.Pool{New: func() any { return new(work.Batch) }}
	rows    = work.NewTable()
)

func refuse(ctx *fasthttp.RequestCtx, why error) { ctx.Error(why.Error(), fasthttp.StatusBadRequest) }

func answer(ctx *fasthttp.RequestCtx, text []byte, err error) {
	if err != nil {
		refuse(ctx, err)
		return
	}
	ctx.SetContentType("application/json")
	ctx.Response.SetBodyRaw(text)
}

func serve(ctx *fasthttp.RequestCtx) {
	path := string(ctx.Path())
	if path == "/ping" {
		ctx.SetContentType("text/plain; charset=utf-8")
		ctx.SetBodyString("OK")
		return
	}
	batch := batches.Get().(*work.Batch)
	defer batches.Put(batch)
	batch.Reset()
	if err := json.Unmarshal(ctx.PostBody(), batch); err != nil {
		refuse(ctx, err)
		return
	}
	switch path {
	case "/check":
		if err := work.Check(batch); err != nil {
			refuse(ctx, err)
			return
		}
		fallthrough
	case "/read":
		seen := work.Summarise(batch)
		answer(ctx, seen.Append(make([]byte, 0, 64)), nil)
	case "/write":
		text, err := json.Marshal(batch)
		answer(ctx, text, err)
	case "/rows":
		text, err := rows.Answer(batch)
		answer(ctx, text, err)
	default:
		ctx.NotFound()
	}
}

func main() {
	server := fasthttp.Server{Handler: serve, NoDefaultServerHeader: true}
	log.Fatal(server.ListenAndServe("127.0.0.1:" + os.Args[1]))
}
