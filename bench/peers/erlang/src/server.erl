%% The smallest component with a service: it answers each number with the next.
-module(server).
-export([new/0, new_frugal/0, serve_frugally/0, round_trip/2]).

new() ->
    spawn(fun serve/0).

serve() ->
    receive
        {number, Client, X} ->
            Client ! {number, X + 1},
            serve();
        delete ->
            ok
    end.

%% As processes are that wait by the million: they keep no more memory than they need, but answer more slowly.
new_frugal() ->
    spawn(fun serve_frugally/0).

serve_frugally() ->
    receive
        {number, Client, X} ->
            Client ! {number, X + 1},
            erlang:hibernate(?MODULE, serve_frugally, []);
        delete ->
            ok
    end.

%% Sends a number and checks the answer.
round_trip(Server, X) ->
    Server ! {number, self(), X},
    receive {number, Answer} -> peers:expect("answer", Answer, X + 1) end.
