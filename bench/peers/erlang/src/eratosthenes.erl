%% Eratosthenes: a pipeline of sieves, each with a service for its stream and one for its prime, that grows by one for
%% each prime. A sieve's activity is done when its services can begin, so it becomes that of the stream.
-module(eratosthenes).
-export([sizes/0, run/1, check/3]).

%% The last number.
sizes() ->
    #{n => 10_000}.

run(#{n := N}) ->
    Main = self(),
    First = sieve(Main),
    spawn(fun() -> generate(First, 2, N) end),
    {Count, Sum, Messages, Moved} = grow(First, 0, 0, 0, 0),
    check(N, Count, Sum),
    case N of
        10_000 -> peers:expect("numbers moved", Moved, 777_860);
        _ -> ok
    end,
    {Messages, [{count, Count}, {sum, Sum}, {moved, Moved}]}.

%% Only of the usual size is it known what must come out.
check(10_000, Count, Sum) ->
    peers:expect("primes", Count, 1229),
    peers:expect("sum", Sum, 5_736_396);
check(_, _, _) ->
    ok.

generate(Next, X, N) when X > N ->
    Next ! {finished, 0, 0};
generate(Next, X, N) ->
    Next ! X,
    generate(Next, X + 1, N).

%% The last sieve finds nothing, and knows by the end of the stream how much all of them did.
grow(Last, Count, Sum, Messages, Moved) ->
    receive
        {prime, Prime} ->
            Next = sieve(self()),
            Last ! {connect, Next},
            grow(Next, Count + 1, Sum + Prime, Messages, Moved);
        {none, AllMessages, AllMoved} ->
            %% This one's end of the stream, and none.
            {Count, Sum, AllMessages + 2, AllMoved}
    end.

sieve(Main) ->
    spawn(fun() -> sieve_from(Main) end).

sieve_from(Main) ->
    receive
        {finished, Messages, Moved} ->
            spawn(fun() -> Main ! {none, Messages, Moved} end);
        Prime ->
            spawn(fun() -> Main ! {prime, Prime} end), % the discovery's service
            receive {connect, Next} -> stream(Next, Prime, 1) end
    end.

stream(Next, Prime, Received) ->
    receive
        {finished, Messages, Moved} ->
            %% And the stream's end and the prime.
            Next ! {finished, Messages + Received + 2, Moved + Received};
        X when X rem Prime =:= 0 ->
            stream(Next, Prime, Received + 1);
        X ->
            Next ! X,
            stream(Next, Prime, Received + 1)
    end.
