module drystone/bench/peers/go

go 1.26
