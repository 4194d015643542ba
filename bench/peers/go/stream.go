package main

// One goroutine sends numbers to another, which adds them up, as in bench/programs/stream.dry. The channel holds so
// many.

const streamItems = 5000000

func stream(capacity int) program {
	return program{flags: noFlags, run: func() (outcome, error) {
		numbers, result := make(chan int, capacity), make(chan int, 1)
		go func() {
			sum := 0
			for n := range numbers {
				sum += n
			}
			result <- sum
		}()
		for i := 1; i <= streamItems; i++ {
			numbers <- i
		}
		close(numbers)
		// Each number, the end, and the sum.
		return outcome{streamItems + 2, map[string]any{"sum": <-result}}, nil
	}}
}
