// SPDX-License-Identifier: LGPL-2.1-or-later
package main

import (
	"fmt"
	"log"
	"os"

	"posixtrace"
)

var (
	accept = posixtrace.MustEvent("net.accept", "s32 fd; str peer; @level 4")
	work   = posixtrace.MustSpan("answer")
)

func answer(fd int) {
	defer work.Begin()()
	accept.Record(fd, "localhost")
}

func main() {
	path := "first.ptl"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	stream, err := posixtrace.NewStream(path)
	if err == nil {
		err = stream.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	for fd := 3; fd < 6; fd++ {
		answer(fd)
	}
	stream.Shutdown()
	events, err := posixtrace.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	for event, err := events.Next(); event != nil && err == nil; event, err = events.Next() {
		if len(event.Fields) > 0 {
			fmt.Println(event.Name, event.Fields)
		}
	}
}
