%% How fast components come and go: each server answers one message.
-module(creation).
-export([sizes/0, run/1]).

%% Components, one after another.
sizes() ->
    #{n => 1_000_000}.

run(#{n := N}) ->
    Start = erlang:monotonic_time(nanosecond),
    create(N),
    PerSecond = N * 1.0e9 / max(1, erlang:monotonic_time(nanosecond) - Start),
    {2 * N, [{per_second, PerSecond}]}.

create(0) ->
    ok;
create(N) ->
    Server = server:new(),
    server:round_trip(Server, N),
    Server ! delete,
    create(N - 1).
