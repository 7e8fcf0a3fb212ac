// Batches of reads by gin and simdjson-go, whose tapes are used again; it writes no JSON, so
// encoding/json does that.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/validator/v10"
	"github.com/minio/simdjson-go"

	"rdrs/work"
)

// What a request is parsed with, and used again.
type reader struct {
	body  bytes.Buffer
	tape  *simdjson.ParsedJson
	batch work.Batch
}

var (
	readers   = sync.Pool{New: func() any { return new(reader) }}
	errNoRoot = errors.New("no document")
)

func (r *reader) parse(c *gin.Context) (simdjson.Object, error) {
	var root simdjson.Object
	r.body.Reset()
	if _, err := r.body.ReadFrom(c.Request.Body); err != nil {
		return root, err
	}
	tape, err := simdjson.Parse(r.body.Bytes(), r.tape, simdjson.WithCopyStrings(false))
	if err != nil {
		return root, err
	}
	r.tape = tape
	at := tape.Iter()
	if at.Advance() != simdjson.TypeRoot {
		return root, errNoRoot
	}
	var inner simdjson.Iter
	if kind, _, err := at.Root(&inner); err != nil || kind != simdjson.TypeObject {
		return root, errNoRoot
	}
	_, err = inner.Object(&root)
	return root, err
}

// Of an object, calls do for each member.
func members(of *simdjson.Object, do func(name []byte, value *simdjson.Iter) error) error {
	var value simdjson.Iter
	for {
		name, kind, err := of.NextElementBytes(&value)
		if err != nil || kind == simdjson.TypeNone {
			return err
		}
		if err := do(name, &value); err != nil {
			return err
		}
	}
}

// Of an array of objects, calls do for each.
func objects(of *simdjson.Iter, do func(each *simdjson.Object) error) error {
	var array simdjson.Array
	if _, err := of.Array(&array); err != nil {
		return err
	}
	at := array.Iter()
	var each simdjson.Object
	for at.Advance() != simdjson.TypeNone {
		if _, err := at.Object(&each); err != nil {
			return err
		}
		if err := do(&each); err != nil {
			return err
		}
	}
	return nil
}

// Takes strings as they are met: the walk counts them, the reading keeps them.
type taker interface {
	operation() // the next one begins
	filter()
	readColumn()
	ofOperation(name []byte, value *simdjson.Iter) error
	ofBody(name []byte, value *simdjson.Iter) error
	ofFilter(name []byte, value *simdjson.Iter) error
	ofReadColumn(name []byte, value *simdjson.Iter) error
}

func visit(root *simdjson.Object, to taker) error {
	return members(root, func(_ []byte, all *simdjson.Iter) error {
		return objects(all, func(each *simdjson.Object) error {
			to.operation()
			return members(each, func(name []byte, value *simdjson.Iter) error {
				if string(name) != "body" {
					return to.ofOperation(name, value)
				}
				var body simdjson.Object
				if _, err := value.Object(&body); err != nil {
					return err
				}
				return visitBody(&body, to)
			})
		})
	})
}

func visitBody(body *simdjson.Object, to taker) error {
	return members(body, func(name []byte, value *simdjson.Iter) error {
		switch string(name) {
		case "filters":
			return objects(value, func(each *simdjson.Object) error {
				to.filter()
				return members(each, to.ofFilter)
			})
		case "readColumns":
			return objects(value, func(each *simdjson.Object) error {
				to.readColumn()
				return members(each, to.ofReadColumn)
			})
		default:
			return to.ofBody(name, value)
		}
	})
}

type walker struct{ seen work.Summary }

func (w *walker) operation()  { w.seen.BeginOperation() }
func (w *walker) filter()     {}
func (w *walker) readColumn() {}
func (w *walker) see(_ []byte, value *simdjson.Iter) error {
	text, err := value.StringBytes()
	w.seen.SeeBytes(text)
	return err
}
func (w *walker) sumUp(value *simdjson.Iter) error {
	text, err := value.StringBytes()
	w.seen.SumUpBytes(text)
	return err
}
func (w *walker) ofOperation(name []byte, value *simdjson.Iter) error { return w.see(name, value) }
func (w *walker) ofBody(name []byte, value *simdjson.Iter) error      { return w.see(name, value) }
func (w *walker) ofFilter(_ []byte, value *simdjson.Iter) error       { return w.sumUp(value) }
func (w *walker) ofReadColumn(name []byte, value *simdjson.Iter) error {
	if string(name) == "column" {
		return w.sumUp(value)
	}
	return w.see(name, value)
}

type filler struct {
	to *work.Batch
	at *work.Operation
}

var errUnknownName = errors.New("a name that is not known")

func keep(into *string, value *simdjson.Iter) (err error) {
	*into, err = value.String()
	return err
}

func (f *filler) operation() { f.at = f.to.Next() }
func (f *filler) filter()    { f.at.Body.Filters = append(f.at.Body.Filters, work.Filter{}) }
func (f *filler) readColumn() {
	f.at.Body.ReadColumns = append(f.at.Body.ReadColumns, work.ReadColumn{})
}
func (f *filler) ofOperation(name []byte, value *simdjson.Iter) error {
	switch string(name) {
	case "method":
		return keep(&f.at.Method, value)
	case "relative-url":
		return keep(&f.at.RelativeURL, value)
	}
	return errUnknownName
}
func (f *filler) ofBody(name []byte, value *simdjson.Iter) error {
	if string(name) == "operationId" {
		return keep(&f.at.Body.OperationID, value)
	}
	return errUnknownName
}
func (f *filler) ofFilter(name []byte, value *simdjson.Iter) error {
	last := &f.at.Body.Filters[len(f.at.Body.Filters)-1]
	switch string(name) {
	case "column":
		return keep(&last.Column, value)
	case "value":
		return keep(&last.Value, value)
	}
	return errUnknownName
}
func (f *filler) ofReadColumn(name []byte, value *simdjson.Iter) error {
	last := &f.at.Body.ReadColumns[len(f.at.Body.ReadColumns)-1]
	switch string(name) {
	case "column":
		return keep(&last.Column, value)
	case "dataReturnType":
		return keep(&last.DataReturnType, value)
	}
	return errUnknownName
}

func refuse(c *gin.Context, why error) { c.String(http.StatusBadRequest, why.Error()) }

func answer(c *gin.Context, text []byte, err error) {
	if err != nil {
		refuse(c, err)
		return
	}
	c.Data(http.StatusOK, "application/json", text)
}

func walk(c *gin.Context) {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	root, err := r.parse(c)
	walked := walker{work.NewSummary()}
	if err == nil {
		err = visit(&root, &walked)
	}
	answer(c, walked.seen.Append(make([]byte, 0, 64)), err)
}

func read(do func(*gin.Context, *work.Batch)) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := readers.Get().(*reader)
		defer readers.Put(r)
		r.batch.Reset()
		root, err := r.parse(c)
		if err == nil {
			err = visit(&root, &filler{to: &r.batch})
		}
		if err != nil {
			refuse(c, err)
			return
		}
		do(c, &r.batch)
	}
}

func summarise(c *gin.Context, batch *work.Batch) {
	seen := work.Summarise(batch)
	answer(c, seen.Append(make([]byte, 0, 64)), nil)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	if err := work.AddRules(binding.Validator.Engine().(*validator.Validate)); err != nil {
		log.Fatal(err)
	}
	rows := work.NewTable()
	router := gin.New()
	router.GET("/ping", func(c *gin.Context) { c.String(http.StatusOK, "OK") })
	router.POST("/walk", walk)
	router.POST("/read", read(summarise))
	router.POST("/check", read(func(c *gin.Context, batch *work.Batch) {
		if err := binding.Validator.ValidateStruct(batch); err != nil {
			refuse(c, err)
			return
		}
		summarise(c, batch)
	}))
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
