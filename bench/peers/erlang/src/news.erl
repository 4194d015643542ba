%% News: reporters send texts to a news centre, whose service for each customer sends that all of them.
-module(news).
-export([sizes/0, run/1, centre/1, text/2, mark/2, archives/2]).

%% Customers, reporters, texts of each reporter.
sizes() ->
    #{n => 1000, m => 10, k => 10}.

run(#{n := N, m := M, k := K}) ->
    Main = self(),
    Centre = centre(M),
    [spawn(fun() -> subscription(Centre, Main) end) || _ <- lists:seq(1, N)],
    lists:foreach(fun(Reporter) ->
                      Desk = spawn(fun() -> desk(Centre) end),
                      spawn(fun() -> report(Desk, K) end) ! {report, Reporter}
                  end,
                  lists:seq(1, M)),
    Delivered = archives(N, M * K),
    Centre ! delete,
    %% And the ends of the subscriptions, the archives; news, finished and the assignments.
    {Delivered + 2 * N + M * K + 2 * M, [{delivered, Delivered}, {same, true}]}.

%% How many texts were delivered, the same to all. Equal marks stand for equal texts in the same order.
archives(N, Each) ->
    receive
        {received, Each, Mark} -> archives(N - 1, Each, Mark);
        {received, Count, _} -> peers:expect("texts of a customer", Count, Each)
    end,
    N * Each.

archives(0, _, _) ->
    ok;
archives(N, Each, Mark) ->
    receive {received, Count, Another} -> ok end,
    peers:expect("texts of a customer", Count, Each),
    peers:expect("mark", Another, Mark),
    archives(N - 1, Each, Mark).

%% The text that is a reporter's i-th.
text(Reporter, I) ->
    <<(64 + Reporter), (64 + I), " is the latest news">>.

mark(<<First, Second, _/binary>>, Mark) ->
    (Mark * 65536 + First * 256 + Second) rem 2_147_483_647.

centre(Reporters) ->
    spawn(fun() -> centre([], 0, Reporters, []) end).

%% Texts are in reverse; waiting are the services whose customers know all of them.
centre(Texts, Count, Reporters, Waiting) ->
    receive
        {news, Text} ->
            [Service ! {texts, [Text], false} || Service <- Waiting],
            centre([Text | Texts], Count + 1, Reporters, []);
        {read, Service, Known} when Known < Count; Reporters =:= 0 ->
            Service ! {texts, new(Texts, Count - Known, []), Reporters =:= 0},
            centre(Texts, Count, Reporters, Waiting);
        {read, Service, _} ->
            centre(Texts, Count, Reporters, [Service | Waiting]);
        finished when Reporters =:= 1 ->
            [Service ! {texts, [], true} || Service <- Waiting],
            centre(Texts, Count, 0, []);
        finished ->
            centre(Texts, Count, Reporters - 1, Waiting);
        delete ->
            ok
    end.

new(_, 0, New) -> New;
new([Text | Texts], Count, New) -> new(Texts, Count - 1, [Text | New]).

%% A service for a reporter.
desk(Centre) ->
    receive
        {news, _} = News ->
            Centre ! News,
            desk(Centre);
        finished ->
            Centre ! finished
    end.

report(Desk, K) ->
    receive {report, Reporter} -> ok end,
    [Desk ! {news, text(Reporter, I)} || I <- lists:seq(1, K)],
    Desk ! finished.

%% A service for a customer, which it begins.
subscription(Centre, Main) ->
    serve(Centre, spawn(fun() -> archive(Main, 0, 0) end), 0).

serve(Centre, Customer, Known) ->
    Centre ! {read, self(), Known},
    receive {texts, New, IsComplete} -> ok end,
    [Customer ! {news, Text} || Text <- New],
    case IsComplete of
        true -> Customer ! finished;
        false -> serve(Centre, Customer, Known + length(New))
    end.

archive(Main, Count, Mark) ->
    receive
        {news, Text} -> archive(Main, Count + 1, mark(Text, Mark));
        finished -> Main ! {received, Count, Mark}
    end.
