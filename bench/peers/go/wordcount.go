package main

import (
	"bufio"
	"cmp"
	"flag"
	"os"
	"slices"
)

// wordCount counts the words of a file, one after the other.
func wordCount() program {
	var file string
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.StringVar(&file, "file", "", "what is read")
		},
		run: func() (outcome, error) {
			counts := map[string]int{}
			err := scanWords(file, func(scanner *bufio.Scanner) {
				counts[scanner.Text()]++
			})
			return outcome{result: ranked(counts)}, err
		},
		best: func() (outcome, error) { return bestWordCount(file) },
	}
}

func scanWords(name string, add func(*bufio.Scanner)) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Split(bufio.ScanWords)
	for scanner.Scan() {
		add(scanner)
	}
	return scanner.Err()
}

// ranked tells the most frequent word, the first in the alphabet of those that are equally so.
func ranked(counts map[string]int) map[string]any {
	type frequency struct {
		word  string
		count int
	}
	all := make([]frequency, 0, len(counts))
	words := 0
	for word, count := range counts {
		all = append(all, frequency{word, count})
		words += count
	}
	slices.SortFunc(all, func(a, b frequency) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.word, b.word))
	})
	result := map[string]any{"words": words, "different": len(all)}
	if len(all) > 0 {
		result["first"], result["times"] = all[0].word, all[0].count
	}
	return result
}

// bestWordCount makes no string for a word that is known.
func bestWordCount(file string) (outcome, error) {
	places := map[string]*int{}
	err := scanWords(file, func(scanner *bufio.Scanner) {
		if place, found := places[string(scanner.Bytes())]; found {
			*place++
		} else {
			one := 1
			places[scanner.Text()] = &one
		}
	})
	counts := make(map[string]int, len(places))
	for word, place := range places {
		counts[word] = *place
	}
	return outcome{result: ranked(counts)}, err
}
