// SPDX-License-Identifier: LGPL-2.1-or-later

// overlap.go - two spans overlap; then a function is a span. Usage: overlap LOG
package main

import (
	"log"
	"os"

	"posixtrace"
)

var (
	span = posixtrace.MustAsyncSpan("overlap")
	same = posixtrace.MustAsyncSpan("overlap") // as in another file of the program
)

func third() {
	defer span.Begin()()
}

func main() {
	span.Begin()() // not traced
	stream, err := posixtrace.NewStream(os.Args[1])
	if err == nil {
		err = stream.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	first := span.Begin()
	second := same.Begin()
	first()
	second()
	third()
	if err := stream.Shutdown(); err != nil {
		log.Fatal(err)
	}
}
