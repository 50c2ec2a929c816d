// SPDX-License-Identifier: LGPL-2.1-or-later

// inject_server SOCKET FILE: answers each request with the contents of the file, until its input
// ends. Stacks of goroutines grow, goroutines are created and end, and handlers panic meanwhile.
package main

import (
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
)

var answers atomic.Int64

func fail(what string, err error) {
	fmt.Println(what, err)
	os.Exit(1)
}

//go:noinline
func deep(n int, pad [32]int) int {
	if n == 0 {
		return pad[0]
	}
	pad[1+n%31] = n
	return deep(n-1, pad) + one(n)
}

//go:noinline
func one(n int) int { return n - n + 1 }

//go:noinline
func panics(n int) int {
	if n&1 == 1 {
		panic(n)
	}
	return n
}

//go:noinline
func recovers(n int) (result int) {
	defer func() {
		if value := recover(); value != nil {
			result = value.(int)
		}
	}()
	return panics(n)
}

// check does in goroutines of its own what breakpoints might disturb.
func check(sum uint32, bytes []byte) {
	var group sync.WaitGroup

	for n := 0; n < 8; n++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			if deep(50*i, [32]int{}) != 50*i {
				fail("deep", nil)
			}
			if recovers(i) != i {
				fail("recovers", nil)
			}
			copied := append([]byte{}, bytes...)
			if crc32.ChecksumIEEE(copied) != sum {
				fail("sum", nil)
			}
		}(n)
	}
	group.Wait()
}

func main() {
	bytes, err := os.ReadFile(os.Args[2])
	if err != nil {
		fail("read", err)
	}
	sum := crc32.ChecksumIEEE(bytes)
	listener, err := net.Listen("unix", os.Args[1])
	if err != nil {
		fail("listen", err)
	}
	http.HandleFunc("/", func(writer http.ResponseWriter, request *http.Request) {
		check(sum, bytes)
		answers.Add(1)
		writer.Write(bytes)
	})
	go http.Serve(listener, nil)
	io.Copy(io.Discard, os.Stdin)
	fmt.Printf("sound: %d answers\n", answers.Load())
}
