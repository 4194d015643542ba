%% Eratosthenes whose numbers move by the hundred; a sieve tells its prime without a service and makes the next itself.
-module(best_eratosthenes).
-export([run/1]).

-define(BATCH, 100).

run(#{n := N}) ->
    Main = self(),
    First = spawn(fun() -> sieve(Main) end),
    spawn(fun() -> generate(First, 2, N) end),
    {Count, Sum} = primes(0, 0),
    eratosthenes:check(N, Count, Sum),
    {0, [{count, Count}, {sum, Sum}]}.

primes(Count, Sum) ->
    receive
        {prime, Prime} -> primes(Count + 1, Sum + Prime);
        none -> {Count, Sum}
    end.

generate(First, X, N) when X > N ->
    First ! finished;
generate(First, X, N) ->
    First ! lists:seq(X, min(X + ?BATCH - 1, N)),
    generate(First, X + ?BATCH, N).

sieve(Main) ->
    receive
        finished ->
            Main ! none;
        [Prime | Numbers] ->
            Main ! {prime, Prime},
            Next = spawn(fun() -> sieve(Main) end),
            stream(Next, Prime, Numbers, [], 0)
    end.

%% What does not divide is collected in reverse, until it is worth a message.
stream(Next, Prime, Numbers, Batch, Length) when Length >= ?BATCH ->
    Next ! lists:reverse(Batch),
    stream(Next, Prime, Numbers, [], 0);
stream(Next, Prime, [X | Numbers], Batch, Length) when X rem Prime =:= 0 ->
    stream(Next, Prime, Numbers, Batch, Length);
stream(Next, Prime, [X | Numbers], Batch, Length) ->
    stream(Next, Prime, Numbers, [X | Batch], Length + 1);
stream(Next, Prime, [], Batch, Length) ->
    receive
        finished when Length > 0 ->
            Next ! lists:reverse(Batch),
            Next ! finished;
        finished ->
            Next ! finished;
        Numbers ->
            stream(Next, Prime, Numbers, Batch, Length)
    end.
