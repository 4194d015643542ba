%% What resident memory grows by for each of many live servers.
-module(bytes).
-export([sizes/0, options/0, measure/1]).

%% Live components.
sizes() ->
    #{n => 1_000_000}.

options() ->
    #{}.

measure({#{cores := Cores}, #{n := Asked}}) ->
    N = max(1, Asked),
    Before = resident(),
    create(N),
    Bytes = (resident() - Before) / N,
    peers:print([{program, "bytes"}, {cores, Cores}, {alive, N}, {bytes, Bytes}]).

%% They live even if nobody knows them.
create(0) ->
    ok;
create(N) ->
    server:round_trip(server:new_frugal(), N),
    create(N - 1).

%% The resident memory of this process of the system's in bytes.
resident() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [Kilobytes]} = re:run(Status, "VmRSS:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    list_to_integer(Kilobytes) * 1024.
