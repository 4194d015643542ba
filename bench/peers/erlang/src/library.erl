%% Library: customers lend books, which move through the messages and are read by a service of their own.
-module(library).
-export([sizes/0, run/1, visits/3, result/5]).

%% Customers, libraries, books of each library.
sizes() ->
    #{n => 1000, m => 10, b => 10}.

run(#{n := N, m := M, b := B}) ->
    Main = self(),
    Libraries = [spawn(fun() -> library(books(B), 0) end) || _ <- lists:seq(1, M)],
    [spawn(fun() -> customer(Main, Libraries, B) end) || _ <- lists:seq(1, N)],
    {Lent, Unavailable} = visits(N, 0, 0),
    Home = lists:sum([stock(Library) || Library <- Libraries]),
    %% A visit: list, entries, end of list, lend, answer; a book lent: open, three answers, return.
    Messages = (Lent + Unavailable) * (B + 4) + Lent * 5 + N + M + 2 * M * B,
    {Messages, result(N * M, M * B, Lent, Unavailable, Home)}.

result(Visits, Books, Lent, Unavailable, Home) ->
    peers:expect("visits", Lent + Unavailable, Visits),
    peers:expect("books at home", Home, Books),
    [{visits, Lent + Unavailable}, {lent, Lent}, {unavailable, Unavailable}, {home, Home}].

visits(0, Lent, Unavailable) -> {Lent, Unavailable};
visits(N, Lent, Unavailable) -> receive {visits, L, U} -> visits(N - 1, Lent + L, Unavailable + U) end.

%% A book is what it says; whoever has it may begin a service for it. This one prints it.
printed(Number, Title, Content) ->
    Holder = self(),
    spawn(fun() -> receive {print, N, T, C} -> Holder ! {printed, {N, T, C}} end end) ! {print, Number, Title, Content},
    receive {printed, Book} -> Book end.

%% Begins the service that reads a book.
reading({Number, Title, Content}) ->
    spawn(fun() ->
              receive
                  {open, Reader} ->
                      Reader ! {number, Number},
                      Reader ! {title, Title},
                      Reader ! {content, Content}
              end
          end).

books(B) ->
    Books = [begin
                 Title = <<"Book ", (integer_to_binary(Number))/binary>>,
                 {Number, Title, printed(Number, Title, <<"Once upon a time">>)}
             end
             || Number <- lists:seq(1, B)],
    list_to_tuple(Books).

%% Numbers, titles, and the books or that they are lent. It answers services, or customers for them.
library(Books, Out) ->
    receive
        {list_books, Service} ->
            Service ! {list, [{entry, Number, Title, Book =/= lent} || {Number, Title, Book} <- tuple_to_list(Books)]},
            library(Books, Out);
        {lend, Number, Customer} ->
            case element(Number, Books) of
                {_, _, lent} ->
                    Customer ! unavailable,
                    library(Books, Out);
                {_, Title, Book} ->
                    Customer ! {lent, Book},
                    library(setelement(Number, Books, {Number, Title, lent}), Out + 1)
            end;
        {return, {Number, Title, _} = Book} ->
            library(setelement(Number, Books, {Number, Title, Book}), Out - 1);
        {count, Main} when Out =:= 0 -> % asked once, at the end
            Main ! {home, length([Book || {_, _, Book} <- tuple_to_list(Books), Book =/= lent])}
    end.

%% The service that counts the books when all are back.
stock(Library) ->
    Main = self(),
    spawn(fun() -> Library ! {count, Main} end),
    receive {home, Books} -> Books end.

%% Begins a service for a customer.
lending(Library) ->
    spawn(fun() -> serve(Library) end).

serve(Library) ->
    receive
        {list_books, Customer} ->
            Library ! {list_books, self()},
            receive {list, Entries} -> [Customer ! Entry || Entry <- Entries] end,
            Customer ! end_of_list,
            serve(Library);
        finished ->
            ok;
        LendOrReturn ->
            Library ! LendOrReturn,
            serve(Library)
    end.

customer(Main, Libraries, B) ->
    Lendings = [lending(Library) || Library <- Libraries],
    Main ! visit(Lendings, B, 0, 0),
    [Lending ! finished || Lending <- Lendings].

visit([], _, Lent, Unavailable) ->
    {visits, Lent, Unavailable};
visit([Lending | Others], B, Lent, Unavailable) ->
    Lending ! {list_books, self()},
    Choice = rand:uniform(B),
    read_list(),
    Lending ! {lend, Choice, self()},
    receive
        {lent, Book} ->
            reading(Book) ! {open, self()},
            receive {number, Number} -> ok end,
            receive {title, _} -> ok end,
            receive {content, _} -> ok end,
            Lending ! {return, Book},
            %% A wrong book is none, so that the visits' number is wrong, too.
            case Number of
                Choice -> visit(Others, B, Lent + 1, Unavailable);
                _ -> visit(Others, B, Lent, Unavailable)
            end;
        unavailable ->
            visit(Others, B, Lent, Unavailable + 1)
    end.

read_list() ->
    receive
        {entry, _, _, _} -> read_list();
        end_of_list -> ok
    end.
