package main

import (
	"flag"
	"math"
)

const (
	tileWidth, tileHeight = 8, 4
	left, bottom, step    = -2.0, -1.0, 0.05
	limit                 = 2.0
)

// table is a two-dimensional array of width times height.
func table(width, height int) [][]float64 {
	rows := make([][]float64, width)
	for x := range rows {
		rows[x] = make([]float64, height)
	}
	return rows
}

type tile struct{ column, row int }

// newTask begins a task, which computes the tile it is told and streams its values back.
func newTask(k int) (chan<- tile, <-chan float64) {
	compute, values := make(chan tile, 1), make(chan float64, 1)
	go func() {
		t := <-compute
		re, im, value := table(tileWidth, tileHeight), table(tileWidth, tileHeight), table(tileWidth, tileHeight)
		var cRe [tileWidth]float64
		var cIm [tileHeight]float64
		for x := range cRe {
			cRe[x] = left + step*float64(t.column*tileWidth+x)
		}
		for y := range cIm {
			cIm[y] = bottom + step*float64(t.row*tileHeight+y)
		}
		for range k {
			for x, values := range value {
				re, im, c := re[x], im[x], cRe[x]
				for y, v := range values {
					if v <= limit {
						a, b := re[y], im[y]
						r := a*a - b*b + c
						i := 2.0*a*b + cIm[y]
						re[y], im[y] = r, i
						values[y] = math.Sqrt(r*r + i*i)
					}
				}
			}
		}
		for y := range tileHeight {
			for x := range tileWidth {
				values <- value[x][y]
			}
		}
		close(values)
	}()
	return compute, values
}

func mandelbrot() program {
	var columns, rows, k int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&columns, "columns", 10, "tasks in a row")
			flags.IntVar(&rows, "rows", 10, "rows of tasks")
			flags.IntVar(&k, "k", 5000, "iterations")
		},
		run: func() (outcome, error) {
			tasks := make([]<-chan float64, columns*rows)
			for i := range tasks {
				compute, values := newTask(k)
				compute <- tile{i % columns, i / columns}
				tasks[i] = values
			}
			inside := make([]bool, columns*rows*tileWidth*tileHeight)
			count := 0
			for i, values := range tasks {
				column, row := i%columns, i/columns
				for y := range tileHeight {
					for x := range tileWidth {
						if <-values <= limit {
							count++
							inside[(row*tileHeight+y)*columns*tileWidth+column*tileWidth+x] = true
						}
					}
				}
				<-values
			}
			messages := int64(len(tasks)) * (tileWidth*tileHeight + 2)
			outcome := outcome{messages, map[string]any{"inside": count}}
			if columns != 10 || rows != 10 || k != 5000 {
				return outcome, nil
			}
			return outcome, expect("points inside", int64(count), 609)
		},
	}
}
