//go:build tools

// What `go mod tidy` is to keep in go.mod: the program that tools/setup builds.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
