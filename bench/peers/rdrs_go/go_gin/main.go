// Batches of reads by gin and encoding/json, with gin's validators.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/validator/v10"

	"rdrs/work"
)

func refuse(c *gin.Context, why error) { c.String(http.StatusBadRequest, why.Error()) }

func answer(c *gin.Context, text []byte, err error) {
	if err != nil {
		refuse(c, err)
		return
	}
	c.Data(http.StatusOK, "application/json", text)
}

// As gin reads JSON, but without its validators.
func read(do func(*gin.Context, *work.Batch)) gin.HandlerFunc {
	return func(c *gin.Context) {
		var batch work.Batch
		if err := json.NewDecoder(c.Request.Body).Decode(&batch); err != nil {
			refuse(c, err)
			return
		}
		do(c, &batch)
	}
}

func summarise(c *gin.Context, batch *work.Batch) {
	seen := work.Summarise(batch)
	answer(c, seen.Append(make([]byte, 0, 64)), nil)
}

func check(c *gin.Context) {
	var batch work.Batch
	if err := c.ShouldBindJSON(&batch); err != nil {
		refuse(c, err)
		return
	}
	summarise(c, &batch)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	if err := work.AddRules(binding.Validator.Engine().(*validator.Validate)); err != nil {
		log.Fatal(err)
	}
	rows := work.NewTable()
	router := gin.New()
	router.GET("/ping", func(c *gin.Context) { c.String(http.StatusOK, "OK") })
	router.POST("/read", read(summarise))
	router.POST("/check", check)
	router.POST("/write", read(func(c *gin.Context, batch *work.Batch) {
		text, err := json.Marshal(batch)
		answer(c, text, err)
	}))
	router.POST("/rows", read(func(c *gin.Context, batch *work.Batch) {
		text, err := rows.Answer(batch)
		answer(c, text, err)
	}))
	log.Fatal(router.Run("127.0.0.1:" + os.Args[1]))
}
