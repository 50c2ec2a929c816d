// SPDX-License-Identifier: LGPL-2.1-or-later

// values.go - records values of types of the program, and arrays; wrong values panic. Usage:
// values LOG
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"syscall"
	"time"

	"posixtrace"
)

type port uint16
type path string
type raw []byte

var (
	typed = posixtrace.MustEvent("typed", "u16 port;str path;bytes raw;ns took;errno error;bool is;")
	array = posixtrace.MustEvent("array", "u16[2] pair;str[8] text;bytes[2] two;str behind;")
	real  = posixtrace.MustEvent("real", "f64 a;f32 b;")
)

// fails prints what f panics with.
func fails(f func()) {
	defer func() { fmt.Println(recover()) }()
	f()
}

// untraced records wrong values while no stream exists.
func untraced() {
	fails(func() { typed.Record(port(80), path("/x"), raw{1, 2}, time.Second, syscall.ENOENT, true) })
	fails(func() { typed.Record(port(80), 3, raw{1, 2}, time.Second, syscall.ENOENT, true) })
	fails(func() { typed.Record(port(80), path("/x")) })
	fails(func() { array.Record([]byte{1, 0, 2, 0}, "text", []byte{7, 8}, "behind") })
	fails(func() { array.Record([]byte{1, 0, 2, 0}, "text", []byte{7}, "behind") })
	fails(func() { array.Record(raw{1, 0, 2, 0}, "text", raw{7, 8}, "behind") })
	fails(func() { array.Record(raw{1, 0, 2, 0}, "text", raw{7}, "behind") })
	fails(func() { array.Record(nil, "text", []byte{7, 8}, "behind") })
	fails(func() { real.Record(1.5, "2") })
	fails(func() { real.Record(true, 2) })
	fails(func() { (*posixtrace.Event)(nil).Record() })
	fails(func() { (&posixtrace.Event{}).Record() })
	fails(func() { (*posixtrace.Span)(nil).Begin() })
}

func main() {
	untraced()
	stream, err := posixtrace.NewStream(os.Args[1])
	if err == nil {
		err = stream.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	typed.Record(port(80), path("/x"), raw{1, 2}, 3*time.Millisecond, syscall.ENOENT, true)
	array.Record([]byte{1, 0, 2, 0}, "text", []byte{7, 8}, "behind")
	real.Record(1, uint8(2))
	fails(func() { array.Record([]byte{1}, "text", []byte{7, 8}, "behind") })
	fails(func() { array.Record([]byte{1, 0, 2, 0}, "text", []byte{7}, "behind") })
	fails(func() { array.Record(1, "text", []byte{7, 8}, "behind") })
	fails(func() { typed.Record(nil, "", []int{1}, 0, 0, true) })
	fails(func() { typed.Record(1) })
	_, err = posixtrace.NewEvent("typed", "str other")
	fmt.Println(err)
	_, err = posixtrace.NewEvent("large", "u8[1021] a;bytes b")
	fmt.Println(err)
	_, err = posixtrace.NewEvent("full", "u8[1019] a;bytes b;str c")
	fmt.Println(err)
	_, err = posixtrace.NewEvent("wrong", "s32 a;int b")
	fmt.Println(err)
	_, err = posixtrace.NewEvent("cut\x00off", "s32 a")
	fmt.Println(err)
	_, err = posixtrace.NewEvent("cut", "s32 a\x00;")
	fmt.Println(err)
	if err := stream.Shutdown(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(stream.Shutdown())
	read, err := posixtrace.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	_, err = posixtrace.Open(os.Args[0])
	fmt.Println(err, errors.Is(err, syscall.EINVAL))
	all, some := 0, 0
	count := func(*posixtrace.Record, error) bool { all++; return true }
	read.All()(func(*posixtrace.Record, error) bool { some++; return some < 2 })
	read.All()(count)
	whole := all
	read.All()(count)
	fmt.Println(some, whole > 3, all == 2*whole)
	read.Close()
	read.Close()
	_, err = read.Next()
	fmt.Println(err)
	read.All()(func(record *posixtrace.Record, err error) bool { fmt.Println(record, err); return true })
}
