%% How far the times of many runs of a small ring vary.
-module(jitter).
-export([sizes/0, options/0, measure/1]).

%% Nodes, rounds.
sizes() ->
    #{n => 100, k => 1000}.

options() ->
    #{runs => 500}.

measure({#{runs := 0}, _}) ->
    throw({wrong, "no runs"});
measure({#{cores := Cores, runs := Runs}, Sizes}) ->
    Ring = fun() -> token_ring:run(Sizes) end,
    peers:timed(Ring),
    Times = lists:sort([element(1, peers:timed(Ring)) || _ <- lists:seq(1, Runs)]),
    At = fun(Index) -> lists:nth(Index + 1, Times) end,
    peers:print([{program, "jitter"}, {cores, Cores}, {runs, Runs}, {median_ms, At(Runs div 2)},
                 {p99_ms, At(Runs * 99 div 100)}, {max_ms, At(Runs - 1)}]).
