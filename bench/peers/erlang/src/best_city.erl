%% City with a process for each house; the plant makes a unit when it is called, and nobody needs more than counters.
-module(best_city).
-export([run/1]).

-define(FLOWED, 1).
-define(MADE, 2).

run(#{n := N, k := K}) ->
    Main = self(),
    Counters = counters:new(2, []),
    [spawn(fun() -> Main ! consume(Counters, K, 0, 0) end) || _ <- lists:seq(1, N)],
    {Electricity, Water} = consumed(N, 0, 0),
    Made = counters:get(Counters, ?MADE),
    peers:expect("electricity", Electricity, N * K),
    peers:expect("water", Water, N * K),
    peers:expect("units made", Made, N * K),
    peers:expect("water that flowed", counters:get(Counters, ?FLOWED), 2 * N * K),
    {0, [{electricity, Electricity}, {water, Water}, {made, Made}]}.

consumed(0, Electricity, Water) -> {Electricity, Water};
consumed(N, Electricity, Water) -> receive {consumed, E, W} -> consumed(N - 1, Electricity + E, Water + W) end.

consume(_, 0, Electricity, Water) ->
    {consumed, Electricity, Water};
consume(Counters, K, Electricity, Water) ->
    electricity(Counters),
    water(Counters),
    consume(Counters, K - 1, Electricity + 1, Water + 1).

electricity(Counters) ->
    water(Counters),
    counters:add(Counters, ?MADE, 1).

water(Counters) ->
    counters:add(Counters, ?FLOWED, 1).
