// Package work is what the Go programs have in common: the batch, its summary, the API's rules as
// tags, and the rows in memory. apps/weft-bench/rdrs_*.hpp say the same in C++.
package work

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/go-playground/validator/v10"
)

type Filter struct {
	Column string `json:"column" binding:"identifier"`
	Value  string `json:"value"`
}

type ReadColumn struct {
	Column         string `json:"column" binding:"identifier"`
	DataReturnType string `json:"dataReturnType" binding:"eq=default"`
}

type KeyRead struct {
	Filters     []Filter     `json:"filters" binding:"required,min=1,unique=Column,dive"`
	ReadColumns []ReadColumn `json:"readColumns" binding:"unique=Column,dive"`
	OperationID string       `json:"operationId" binding:"max=256"`
}

type Operation struct {
	Method      string  `json:"method" binding:"eq=POST"`
	RelativeURL string  `json:"relative-url" binding:"keyread"`
	Body        KeyRead `json:"body"`
}

type Batch struct {
	Operations []Operation `json:"operations" binding:"required,min=1,max=128,dive"`
}

// Reset keeps the memory, but nothing that was in it: encoding/json leaves alone what a document lacks.
func (b *Batch) Reset() {
	for i := range b.Operations {
		each := &b.Operations[i]
		clear(each.Body.Filters)
		clear(each.Body.ReadColumns)
		*each = Operation{Body: KeyRead{Filters: each.Body.Filters[:0], ReadColumns: each.Body.ReadColumns[:0]}}
	}
	b.Operations = b.Operations[:0]
}

// Next appends an operation, in the memory of an earlier one if there was one.
func (b *Batch) Next() *Operation {
	if len(b.Operations) < cap(b.Operations) {
		b.Operations = b.Operations[:len(b.Operations)+1]
	} else {
		b.Operations = append(b.Operations, Operation{})
	}
	return &b.Operations[len(b.Operations)-1]
}

// Summary of what was seen; FNV-1a over names and values.
type Summary struct {
	operations, bytes int
	sum               uint32
}

func NewSummary() Summary { return Summary{sum: 2166136261} }

func (s *Summary) BeginOperation() { s.operations++ }

func (s *Summary) See(text string) { s.bytes += len(text) }

func (s *Summary) SeeBytes(text []byte) { s.bytes += len(text) }

func (s *Summary) SumUp(text string) {
	s.bytes += len(text)
	for i := 0; i < len(text); i++ {
		s.sum = (s.sum ^ uint32(text[i])) * 16777619
	}
}

func (s *Summary) SumUpBytes(text []byte) {
	s.bytes += len(text)
	for _, c := range text {
		s.sum = (s.sum ^ uint32(c)) * 16777619
	}
}

func (s *Summary) Append(to []byte) []byte {
	to = strconv.AppendInt(append(to, `{"operations":`...), int64(s.operations), 10)
	to = strconv.AppendInt(append(to, `,"bytes":`...), int64(s.bytes), 10)
	to = strconv.AppendUint(append(to, `,"sum":`...), uint64(s.sum), 10)
	return append(to, '}')
}

func Summarise(b *Batch) Summary {
	seen := NewSummary()
	for i := range b.Operations {
		each := &b.Operations[i]
		seen.BeginOperation()
		seen.See(each.Method)
		seen.See(each.RelativeURL)
		for _, filter := range each.Body.Filters {
			seen.SumUp(filter.Column)
			seen.SumUp(filter.Value)
		}
		for _, column := range each.Body.ReadColumns {
			seen.SumUp(column.Column)
			seen.See(column.DataReturnType)
		}
		seen.See(each.Body.OperationID)
	}
	return seen
}

func isName(text string) bool {
	if len(text) == 0 || len(text) > 64 {
		return false
	}
	for i := 0; i < len(text); i++ {
		if text[i] == 0 || text[i] >= 0xf0 {
			return false
		}
	}
	return true
}

func isPath(url string) bool {
	front, is := strings.CutSuffix(url, "/pk-read")
	slash := strings.LastIndexByte(front, '/')
	if !is || slash < 0 {
		return false
	}
	database := front[:slash]
	return isName(database[strings.LastIndexByte(database, '/')+1:]) && isName(front[slash+1:])
}

// AddRules makes the tags' own rules known.
func AddRules(to *validator.Validate) error {
	noneIsFiltered := func(level validator.StructLevel) {
		read := level.Current().Interface().(KeyRead)
		for _, column := range read.ReadColumns {
			for _, filter := range read.Filters {
				if filter.Column == column.Column {
					level.ReportError(read.ReadColumns, "ReadColumns", "ReadColumns", "filtered", column.Column)
				}
			}
		}
	}
	to.RegisterStructValidation(noneIsFiltered, KeyRead{})
	return errors.Join(
		to.RegisterValidation("identifier", func(at validator.FieldLevel) bool { return isName(at.Field().String()) }),
		to.RegisterValidation("keyread", func(at validator.FieldLevel) bool { return isPath(at.Field().String()) }))
}

// Check is the same without reflection, for who has no validator.
func Check(b *Batch) error {
	if len(b.Operations) == 0 || len(b.Operations) > 128 {
		return errors.New("there must be 1 to 128 operations")
	}
	for i := range b.Operations {
		each := &b.Operations[i]
		if each.Method != "POST" || !isPath(each.RelativeURL) || len(each.Body.OperationID) > 256 {
			return errors.New("not a POST to database/table/pk-read, or its operationId is too long")
		}
		if err := checkColumns(&each.Body); err != nil {
			return err
		}
	}
	return nil
}

func checkColumns(read *KeyRead) error {
	if len(read.Filters) == 0 {
		return errors.New("the filters section is empty")
	}
	for i, filter := range read.Filters {
		if !isName(filter.Column) {
			return errors.New("a filter has no valid identifier")
		}
		for _, before := range read.Filters[:i] {
			if before.Column == filter.Column {
				return errors.New("a filter is there twice")
			}
		}
	}
	for i, column := range read.ReadColumns {
		if !isName(column.Column) || column.DataReturnType != "default" {
			return errors.New("a column to read has no valid identifier, or another return type than default")
		}
		for _, before := range read.ReadColumns[:i] {
			if before.Column == column.Column {
				return errors.New("a column to read is there twice")
			}
		}
		for _, filter := range read.Filters {
			if filter.Column == column.Column {
				return errors.New("a column to read is included in filter")
			}
		}
	}
	return nil
}

const values = 100

type row struct {
	col0 int
	col1 string
}

// Table holds the rows, by their key.
type Table map[[2]int]row

func NewTable() Table {
	rows := make(Table, values*values)
	for id0 := range values {
		for id1 := range values {
			number := id0*values + id1
			rows[[2]int{id0, id1}] = row{number, "value " + strconv.Itoa(number)}
		}
	}
	return rows
}

type data struct {
	Col0 *int    `json:"col0,omitempty"`
	Col1 *string `json:"col1,omitempty"`
}

type found struct {
	OperationID string `json:"operationId"`
	Data        data   `json:"data"`
}

type result struct {
	Code int   `json:"code"`
	Body found `json:"body"`
}

type answer struct {
	Result []result `json:"result"`
}

func (t Table) Answer(b *Batch) ([]byte, error) {
	all := answer{make([]result, len(b.Operations))}
	for i := range b.Operations {
		read := &b.Operations[i].Body
		all.Result[i].Body.OperationID = read.OperationID
		all.Result[i].Code = t.find(read, &all.Result[i].Body.Data)
	}
	return json.Marshal(&all)
}

func (t Table) find(read *KeyRead, into *data) int {
	key, given := [2]int{}, [2]bool{}
	for _, filter := range read.Filters {
		number, err := strconv.Atoi(filter.Value)
		if err != nil || number < 0 || number >= values {
			return 400
		}
		switch filter.Column {
		case "id0":
			key[0], given[0] = number, true
		case "id1":
			key[1], given[1] = number, true
		default:
			return 400
		}
	}
	if !given[0] || !given[1] || len(read.Filters) != 2 {
		return 400
	}
	what, is := t[key]
	if !is {
		return 404
	}
	for _, column := range read.ReadColumns {
		switch column.Column {
		case "col0":
			into.Col0 = &what.col0
		case "col1":
			into.Col1 = &what.col1
		default:
			*into = data{}
			return 400
		}
	}
	return 200
}
