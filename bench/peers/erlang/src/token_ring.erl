%% TokenRing: a node has a service for its predecessor, which counts tokens and passes them on, and one for the main
%% program. The first of them has the node's state: who gets one message after another needs no lock.
-module(token_ring).
-export([sizes/0, run/1]).

%% Nodes, rounds.
sizes() ->
    #{n => 1000, k => 1000}.

run(#{n := N, k := K}) ->
    Nodes = [spawn(fun connect/0) || _ <- lists:seq(1, N)],
    lists:foreach(fun({Node, Successor}) -> Node ! {successor, Successor} end,
                  lists:zip(Nodes, tl(Nodes) ++ [hd(Nodes)])),
    Controls = [spawn(fun() -> control(Node) end) || Node <- Nodes],
    hd(Controls) ! {inject_token, self(), K},
    receive token_back -> ok end,
    hd(Controls) ! finish,
    Hops = lists:foldl(fun(Control, Sum) ->
                           Control ! {get_count, self()},
                           receive {count, Count} -> Sum + Count end
                       end,
                       0, Controls),
    peers:expect("hops", Hops, N * K + N),
    {Hops + 3 + 2 * N, [{hops, Hops}]}.

connect() ->
    receive {successor, Successor} -> transfer(Successor, 0, none) end.

%% Injection is where the token comes back to, and when.
transfer(Successor, Count, Injection) ->
    receive
        token ->
            case Injection of
                {Control, Rounds} when Count + 1 =:= Rounds -> Control ! token_back;
                _ -> Successor ! token
            end,
            transfer(Successor, Count + 1, Injection);
        finish when Injection =:= none ->
            Successor ! finish,
            finished(Count);
        finish ->
            finished(Count);
        {inject, Control, Rounds} ->
            Successor ! token,
            transfer(Successor, Count, {Control, Rounds});
        inject_finish ->
            Successor ! finish,
            transfer(Successor, Count, Injection)
    end.

%% Only then may the count be asked for; the request waits in the mailbox.
finished(Count) ->
    receive {get_count, Main} -> Main ! {count, Count + 1} end.

control(Transfer) ->
    receive
        {inject_token, Main, Rounds} ->
            Transfer ! {inject, self(), Rounds},
            receive token_back -> Main ! token_back end,
            receive finish -> Transfer ! inject_finish end,
            control(Transfer);
        {get_count, _} = Request ->
            Transfer ! Request
    end.
