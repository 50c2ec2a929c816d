// SPDX-License-Identifier: LGPL-2.1-or-later

// same.go - records the events of same.c. Usage: same LOG
package main

import (
	"log"
	"math"
	"os"

	"posixtrace"
)

var (
	accept  = posixtrace.MustEvent("net.accept", "s32 fd;str peer;@level 4;@counter fd;")
	numbers = posixtrace.MustEvent("numbers",
		"u8 a;u16 b;u32 c;s64 d;u64 e;str text;f64 f;f32 g;bool h;")
	memory = posixtrace.MustEvent("memory", "bytes raw")
	took   = posixtrace.MustEvent("took", "ns time")
	work   = posixtrace.MustSpan("work")
	outer  = posixtrace.MustSpan("outer")
	inner  = posixtrace.MustSpan("inner")
)

func nested() {
	defer func() { recover() }()
	defer outer.Begin()()
	defer inner.Begin()()
	panic("spans end by a panic")
}

func main() {
	stream, err := posixtrace.NewStream(os.Args[1])
	if err == nil {
		err = stream.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	accept.Record(3, "localhost")
	accept.Record(int32(-1), "")
	func() {
		defer work.Begin()()
		numbers.Record(255, uint16(65535), uint32(4294967295), int64(math.MinInt64),
			uint64(math.MaxUint64), "grün", -2.5, float32(0.5), true)
	}()
	memory.Record([]byte{0, 255, 16})
	took.Record(1500)
	for i := 0; i < 3; i++ {
		accept.Record(i, "turn")
	}
	nested()
	if err := stream.Shutdown(); err != nil {
		log.Fatal(err)
	}
}
