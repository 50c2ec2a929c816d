// SPDX-License-Identifier: LGPL-2.1-or-later
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"posixtrace"
)

var event = posixtrace.MustEvent("cost", "s32 fd; str peer")

func measure(call func(int)) float64 {
	least := 1e9
	for round := 0; round < 500; round++ {
		begin := time.Now()
		for i := 0; i < 500; i++ {
			call(i)
		}
		if took := float64(time.Since(begin).Nanoseconds()) / 500; took < least {
			least = took
		}
	}
	return least
}

func main() {
	trace := func(i int) { event.Record(i, "localhost") }
	off := measure(trace)
	stream, err := posixtrace.NewStream("")
	if err == nil {
		err = stream.Start()
	}
	null, nullErr := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil || nullErr != nil {
		log.Fatal(err, nullErr)
	}
	on := measure(trace)
	stream.Shutdown()
	logger := log.New(null, "", log.LstdFlags)
	tool := measure(func(i int) { logger.Printf("cost fd=%d peer=%s", i, "localhost") })
	fmt.Printf("Go|%.0f|%.0f|log|%.0f\n", off, on, tool)
}
