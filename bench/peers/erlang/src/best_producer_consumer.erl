%% ProducerConsumer without a buffer: a consumer asks a producer for as many elements as the buffer would have room for.
-module(best_producer_consumer).
-export([run/1]).

run(#{n := N, m := M, k := K, c := C}) ->
    Main = self(),
    Producers = [spawn(fun() -> produce(1, K, C, M) end) || _ <- lists:seq(1, N)],
    %% Each begins with another producer.
    [spawn(fun() -> consume(rotate(I rem N, Producers), Main, 0, 0) end) || I <- lists:seq(1, M)],
    {Count, Sum} = tally(M, 0, 0),
    producer_consumer:check(N, K, Count, Sum),
    {0, [{count, Count}, {sum, Sum}]}.

rotate(N, List) ->
    {Front, Back} = lists:split(N, List),
    Back ++ Front.

tally(0, Count, Sum) -> {Count, Sum};
tally(M, Count, Sum) -> receive {received, C, S} -> tally(M - 1, Count + C, Sum + S) end.

%% Ends when each consumer knows that there are no more.
produce(_, _, _, 0) ->
    ok;
produce(X, K, C, Consumers) when X > K ->
    receive {more, Consumer} -> Consumer ! finished end,
    produce(X, K, C, Consumers - 1);
produce(X, K, C, Consumers) ->
    receive {more, Consumer} -> Consumer ! {elements, lists:seq(X, min(X + C - 1, K))} end,
    produce(X + C, K, C, Consumers).

consume([], Main, Count, Sum) ->
    Main ! {received, Count, Sum};
consume([Producer | Others], Main, Count, Sum) ->
    Producer ! {more, self()},
    consume(Producer, Others, Main, Count, Sum).

consume(Producer, Others, Main, Count, Sum) ->
    receive
        {elements, Elements} ->
            Producer ! {more, self()}, % it can go on meanwhile
            add(Elements, Producer, Others, Main, Count, Sum);
        finished ->
            consume(Others, Main, Count, Sum)
    end.

add([X | Elements], Producer, Others, Main, Count, Sum) ->
    add(Elements, Producer, Others, Main, Count + 1, Sum + X);
add([], Producer, Others, Main, Count, Sum) ->
    consume(Producer, Others, Main, Count, Sum).
