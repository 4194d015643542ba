package main

import (
	"bytes"
	"errors"
	"flag"
)

// Bit operations, as in bench/programs: crc32.dry, hash.dry and base64.dry.

const (
	textSize = 1 << 20
	rounds   = 16
)

// noise is a text of bytes that look random.
func noise(size int) []byte {
	text := make([]byte, size)
	var state uint64
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = byte(state >> 56)
	}
	return text
}

func noFlags(*flag.FlagSet) {}

func crc32() program {
	checksum := func(table *[256]uint32, text []byte, begin uint32) uint32 {
		crc := ^begin
		for _, b := range text {
			crc = table[byte(crc)^b] ^ crc>>8
		}
		return ^crc
	}
	return program{flags: noFlags, run: func() (outcome, error) {
		var table [256]uint32
		for i := range table {
			rest := uint32(i)
			for range 8 {
				rest = rest>>1 ^ 0xEDB88320*(rest&1)
			}
			table[i] = rest
		}
		text := noise(textSize)
		var sum uint32
		for range rounds {
			sum = checksum(&table, text, sum)
		}
		return outcome{result: map[string]any{"sum": sum}},
			expect("the checksum of digits", int64(checksum(&table, []byte("123456789"), 0)), 0xCBF43926)
	}}
}

func hash() program {
	fnv := func(text []byte, seed uint64) uint64 {
		hash := 0xCBF29CE484222325 + seed
		for _, b := range text {
			hash = (hash ^ uint64(b)) * 0x100000001B3
		}
		return hash
	}
	mixed := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		return x ^ x>>31
	}
	return program{flags: noFlags, run: func() (outcome, error) {
		text := noise(textSize)
		var sum uint64
		for range rounds {
			sum = (sum<<5 | sum>>59) + mixed(fnv(text, sum))
		}
		return outcome{result: map[string]any{"sum": int64(sum)}}, nil
	}}
}

func base64() program {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	encoded := func(text []byte) []byte {
		to := make([]byte, len(text)/3*4)
		n := 0
		for i := 0; i <= len(text)-3; i += 3 {
			bits := uint(text[i])<<16 | uint(text[i+1])<<8 | uint(text[i+2])
			to[n] = alphabet[bits>>18]
			to[n+1] = alphabet[bits>>12&63]
			to[n+2] = alphabet[bits>>6&63]
			to[n+3] = alphabet[bits&63]
			n += 4
		}
		return to
	}
	decoded := func(digit *[256]uint, text []byte) []byte {
		to := make([]byte, len(text)/4*3)
		n := 0
		for i := 0; i <= len(text)-4; i += 4 {
			bits := digit[text[i]]<<18 | digit[text[i+1]]<<12 | digit[text[i+2]]<<6 | digit[text[i+3]]
			to[n] = byte(bits >> 16)
			to[n+1] = byte(bits >> 8)
			to[n+2] = byte(bits)
			n += 3
		}
		return to
	}
	return program{flags: noFlags, run: func() (outcome, error) {
		var digit [256]uint
		for i := range alphabet {
			digit[alphabet[i]] = uint(i)
		}
		text := noise(textSize - 1)
		var written, read []byte
		for range rounds / 2 {
			written = encoded(text)
			read = decoded(&digit, written)
		}
		var sum int64
		for _, letter := range written {
			sum = sum*31 + int64(letter)
		}
		if !bytes.Equal(read, text) {
			return outcome{}, errors.New("what was read isn't what was written")
		}
		return outcome{result: map[string]any{"sum": sum}}, nil
	}}
}
