%% ProducerConsumer: a bounded buffer is a monitor in which each producer and each consumer has a service of its own.
-module(producer_consumer).
-export([sizes/0, run/1, check/4]).

%% Producers, consumers, elements of each producer, capacity of the buffer.
sizes() ->
    #{n => 1, m => 1, k => 1_000_000, c => 10}.

run(#{n := N, m := M, k := K, c := C}) ->
    Main = self(),
    Buffer = spawn(fun() -> buffer(C, N, [], [], 0) end),
    [spawn(fun() -> produce(data_acceptor(Buffer), 1, K, C) end) || _ <- lists:seq(1, N)],
    [spawn(fun() -> data_source(Buffer, Main, C) end) || _ <- lists:seq(1, M)],
    {Count, Sum} = tally(M, 0, 0),
    Buffer ! delete,
    check(N, K, Count, Sum),
    %% Each element is sent twice; beside them the ends of the elements, of the sources, and the tallies.
    {N * K + Count + N + 2 * M, [{count, Count}, {sum, Sum}]}.

check(N, K, Count, Sum) ->
    peers:expect("count", Count, N * K),
    peers:expect("sum", Sum, N * K * (K + 1) div 2).

tally(0, Count, Sum) -> {Count, Sum};
tally(M, Count, Sum) -> receive {received, C, S} -> tally(M - 1, Count + C, Sum + S) end.

%% First out are the elements of Out, then those of In in reverse. Who has to wait stays in the mailbox.
buffer(Capacity, Producers, [], [_ | _] = In, Size) ->
    buffer(Capacity, Producers, lists:reverse(In), [], Size);
buffer(Capacity, Producers, Out, In, Size) ->
    receive
        {put, Producer, X} when Size < Capacity ->
            Producer ! ok,
            buffer(Capacity, Producers, Out, [X | In], Size + 1);
        {get, Source} when Size > 0 ->
            Source ! {element, hd(Out)},
            buffer(Capacity, Producers, tl(Out), In, Size - 1);
        {get, Source} when Producers =:= 0 ->
            Source ! finished,
            buffer(Capacity, 0, [], [], 0);
        finished ->
            buffer(Capacity, Producers - 1, Out, In, Size);
        delete ->
            ok
    end.

%% Begins a service for a producer. The buffer itself tells the producer that there was room for an element.
data_acceptor(Buffer) ->
    spawn(fun() -> accept(Buffer) end).

accept(Buffer) ->
    receive
        {element, Producer, X} ->
            Buffer ! {put, Producer, X},
            accept(Buffer);
        finished ->
            Buffer ! finished
    end.

%% Elements that may be on their way to the buffer are the producer's credit.
produce(Acceptor, X, K, _) when X > K ->
    Acceptor ! finished;
produce(Acceptor, X, K, 0) ->
    receive ok -> produce(Acceptor, X, K, 1) end;
produce(Acceptor, X, K, Credit) ->
    Acceptor ! {element, self(), X},
    produce(Acceptor, X + 1, K, Credit - 1).

%% A service for a consumer, which it begins; it asks for so many elements before it has got the first.
data_source(Buffer, Main, Demand) ->
    Consumer = spawn(fun() -> consume(Main, 0, 0) end),
    [Buffer ! {get, self()} || _ <- lists:seq(1, Demand)],
    serve(Buffer, Consumer).

serve(Buffer, Consumer) ->
    receive
        {element, _} = Element ->
            Consumer ! Element,
            Buffer ! {get, self()},
            serve(Buffer, Consumer);
        finished ->
            Consumer ! finished
    end.

consume(Main, Count, Sum) ->
    receive
        {element, X} -> consume(Main, Count + 1, Sum + X);
        finished -> Main ! {received, Count, Sum}
    end.
