%% News whose reporters and customers talk with the centre themselves; a customer gets all that is new to it at once.
-module(best_news).
-export([run/1]).

run(#{n := N, m := M, k := K}) ->
    Main = self(),
    Centre = news:centre(M),
    [spawn(fun() -> read(Centre, Main, 0, 0) end) || _ <- lists:seq(1, N)],
    [spawn(fun() -> report(Centre, Reporter, K) end) || Reporter <- lists:seq(1, M)],
    Delivered = news:archives(N, M * K),
    Centre ! delete,
    {0, [{delivered, Delivered}, {same, true}]}.

report(Centre, Reporter, K) ->
    [Centre ! {news, news:text(Reporter, I)} || I <- lists:seq(1, K)],
    Centre ! finished.

read(Centre, Main, Count, Mark) ->
    Centre ! {read, self(), Count},
    receive
        {texts, New, true} -> Main ! {received, Count + length(New), lists:foldl(fun news:mark/2, Mark, New)};
        {texts, New, false} -> read(Centre, Main, Count + length(New), lists:foldl(fun news:mark/2, Mark, New))
    end.
