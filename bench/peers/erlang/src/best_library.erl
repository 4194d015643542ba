%% Library whose customers call the libraries and read the books themselves. What a book says never changes, so all
%% share that; who has lent it is who took its mark from the library's shelf, an array of atomic marks.
-module(best_library).
-export([run/1]).

-define(LENT, 0).
-define(HOME, 1).

run(#{n := N, m := M, b := B}) ->
    Main = self(),
    Books = list_to_tuple([{Number, <<"Book ", (integer_to_binary(Number))/binary>>, <<"Once upon a time">>}
                           || Number <- lists:seq(1, B)]),
    Libraries = [shelf(B) || _ <- lists:seq(1, M)],
    [spawn(fun() -> Main ! visit(Libraries, Books, B, 0, 0) end) || _ <- lists:seq(1, N)],
    {Lent, Unavailable} = library:visits(N, 0, 0),
    Home = lists:sum([atomics:get(Shelf, Number) || Shelf <- Libraries, Number <- lists:seq(1, B)]),
    {0, library:result(N * M, M * B, Lent, Unavailable, Home)}.

shelf(B) ->
    Shelf = atomics:new(B, []),
    [atomics:put(Shelf, Number, ?HOME) || Number <- lists:seq(1, B)],
    Shelf.

visit([], _, _, Lent, Unavailable) ->
    {visits, Lent, Unavailable};
visit([Shelf | Others], Books, B, Lent, Unavailable) ->
    Entries = list(Shelf, Books, B, []),
    {entry, Choice, Title, _} = lists:nth(rand:uniform(B), Entries),
    case atomics:exchange(Shelf, Choice, ?LENT) of
        ?HOME ->
            {Choice, Title, _} = element(Choice, Books),
            atomics:put(Shelf, Choice, ?HOME),
            visit(Others, Books, B, Lent + 1, Unavailable);
        ?LENT ->
            visit(Others, Books, B, Lent, Unavailable + 1)
    end.

list(_, _, 0, Entries) ->
    Entries;
list(Shelf, Books, Number, Entries) ->
    {Number, Title, _} = element(Number, Books),
    Entry = {entry, Number, Title, atomics:get(Shelf, Number) =:= ?HOME},
    list(Shelf, Books, Number - 1, [Entry | Entries]).
