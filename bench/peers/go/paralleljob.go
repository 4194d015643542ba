package main

import (
	"flag"
	"strings"
)

const (
	geneLength  = 500
	geneLetters = "ACGT"
)

// genePool makes the same genes in each run.
type genePool struct{ random uint64 }

func (p *genePool) below(n uint64) uint64 {
	p.random = (p.random*1103515245 + 12345) % (1 << 31)
	return p.random >> 16 % n
}

func (p *genePool) letter() byte { return geneLetters[p.below(4)] }

func (p *genePool) gene() string {
	var letters strings.Builder
	for range geneLength {
		letters.WriteByte(p.letter())
	}
	return letters.String()
}

func (p *genePool) descendant(gene string) string {
	var letters strings.Builder
	for i := range len(gene) {
		switch p.below(30) {
		case 0:
			letters.WriteByte(p.letter())
		case 1:
			letters.WriteByte(gene[i])
			letters.WriteByte(gene[i])
		case 2:
		default:
			letters.WriteByte(gene[i])
		}
	}
	return letters.String()
}

// editDistance is how many letters have to be changed, put in or left out to make b of a.
func editDistance(a, b string, change []int) int {
	for j := range len(b) + 1 {
		change[j] = j
	}
	for i := range len(a) {
		letter, corner, left := a[i], change[0], i+1
		change[0] = left
		for j := range len(b) {
			above := change[j+1]
			if letter != b[j] {
				corner++
			}
			left = min(corner, above+1, left+1)
			change[j+1] = left
			corner = above
		}
	}
	return change[len(b)]
}

type closest struct{ other, distance int }

// parallelJob compares each gene with all that follow it, in a goroutine of its own.
func parallelJob() program {
	var genes int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&genes, "genes", 48, "genes")
		},
		run: func() (outcome, error) {
			var pool genePool
			gene := make([]string, genes)
			for i := range gene {
				if i < 4 {
					gene[i] = pool.gene()
				} else {
					gene[i] = pool.descendant(gene[i-4])
				}
			}
			rows := make([]chan closest, genes-1)
			for i := range rows {
				rows[i] = make(chan closest, 1)
				go func() {
					change := make([]int, 2*geneLength)
					best := closest{distance: 2 * geneLength}
					for other := i + 1; other < genes; other++ {
						if distance := editDistance(gene[i], gene[other], change); distance < best.distance {
							best = closest{other, distance}
						}
					}
					rows[i] <- best
				}()
			}
			one, best := 0, closest{distance: 2 * geneLength}
			for i, row := range rows {
				if row := <-row; row.distance < best.distance {
					one, best = i, row
				}
			}
			return outcome{result: map[string]any{"one": one, "other": best.other, "distance": best.distance}}, nil
		},
	}
}
