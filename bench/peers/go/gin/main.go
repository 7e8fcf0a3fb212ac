// A ping server on gin: its router, binding and rendering, which use encoding/json; with the tag "sonic" they use sonic.
package main

import (
	"log"
	"net/http"

	"github.com/gin-gonic/gin"

	"peers/ping"
)

func serve(ctx *gin.Context) {
	var said ping.Ping
	if err := ctx.ShouldBindJSON(&said); err != nil {
		ctx.String(http.StatusBadRequest, err.Error())
		return
	}
	ctx.JSON(http.StatusOK, said)
}

func plaintext(ctx *gin.Context) {
	ctx.Data(http.StatusOK, "text/plain", hello)
}

var hello = []byte("Hello, World!")

func main() {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.POST("/ping", serve)
	router.GET("/plaintext", plaintext)
	log.Fatal(router.RunListener(ping.Listen()))
}
