%% Erlang peers of Drystone's programs, in two manners. A mirror has the same structure: a process for each component's
%% activity and for each service; a monitor is a process too, whose guarded receives are the conditions. The modules
%% best_* get the same results in the quickest way.
%%
%%     run PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]
%%
%% Every measured run (after one to warm up, or as many as -warm says) prints a line of JSON: the results, the number
%% of messages and the time of the work itself. A wrong result ends the command with status 1. Messages are counted as
%% they stand in the Drystone program: requests that a service hands on to its monitor are not.
-module(peers).
-export([main/0, timed/1, expect/3, print/1]).

%% The module of a program: sizes/0 gives the names and defaults of its sizes, run/1 does the work once and checks it.
programs() ->
    #{"ProducerConsumer" => producer_consumer,
      "Eratosthenes" => eratosthenes,
      "TokenRing" => token_ring,
      "City" => city,
      "News" => news,
      "Library" => library,
      "Mandelbrot" => mandelbrot,
      "creation" => creation}.

best() ->
    #{producer_consumer => best_producer_consumer,
      eratosthenes => best_eratosthenes,
      city => best_city,
      news => best_news,
      library => best_library}.

%% What measures something else than the time of a run.
commands() ->
    #{"bytes" => bytes}.

main() ->
    Words = init:get_plain_arguments(),
    try command(Words) of
        ok -> halt(0)
    catch
        throw:{usage, Problem} ->
            Names = maps:keys(programs()) ++ maps:keys(commands()),
            complain("~ts~nusage: run PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]; programs: ~ts",
                     [Problem, lists:join(" ", Names)]),
            halt(2);
        throw:{wrong, Problem} ->
            complain("~ts: ~ts", [hd(Words), Problem]),
            halt(1)
    end.

complain(Format, Values) ->
    io:format(standard_error, Format ++ "~n", Values).

command([]) ->
    throw({usage, "which program?"});
command([Name | Words]) ->
    Programs = programs(),
    Commands = commands(),
    case {Programs, Commands} of
        {#{Name := Module}, _} -> measure(Name, Module, flags(Words, #{runs => 1, warm => 1}, Module:sizes()));
        {_, #{Name := Module}} -> Module:measure(flags(Words, Module:options(), Module:sizes()));
        _ -> throw({usage, "which program?"})
    end.

%% The options, with cores and best, and the sizes: both have no others than those with a default.
flags(Words, Options, Sizes) ->
    flags(Words, {maps:merge(#{cores => 1, best => 0}, Options), Sizes}).

flags([], Flags) ->
    Flags;
flags([Word | Words], {Options, Sizes}) ->
    Name = name(string:trim(Word, leading, "-"), maps:keys(Options) ++ maps:keys(Sizes)),
    {Value, Rest} =
        case {Name, Words} of
            {best, _} -> {1, Words};
            {_, [Number | Others]} -> {number(Word, Number), Others};
            {_, []} -> throw({usage, ["how many ", Word]})
        end,
    case Options of
        #{Name := _} -> flags(Rest, {Options#{Name := Value}, Sizes});
        _ -> flags(Rest, {Options, Sizes#{Name := Value}})
    end.

name(Word, Names) ->
    case [Name || Name <- Names, atom_to_list(Name) =:= Word] of
        [Name] -> Name;
        [] -> throw({usage, ["what is -", Word]})
    end.

number(Word, Number) ->
    case string:to_integer(Number) of
        {Value, []} when Value >= 0 -> Value;
        _ -> throw({usage, [Word, " ", Number]})
    end.

measure(Name, Mirror, {#{cores := Cores, runs := Runs, warm := Warm, best := Best}, Sizes}) ->
    Module =
        case {Best, best()} of
            {1, #{Mirror := Other}} -> Other;
            _ -> Mirror
        end,
    Work = fun() -> Module:run(Sizes) end,
    [timed(Work) || _ <- lists:seq(1, Warm)],
    lists:foreach(fun(Run) ->
                      {Ms, {Messages, Result}} = timed(Work),
                      print([{program, Name}, {cores, Cores}, {run, Run}, {ms, Ms}, {messages, Messages},
                             {result, Result}])
                  end,
                  lists:seq(1, Runs)).

%% The milliseconds that the work takes in a process of its own, and what it gives. What it left, as processes that have
%% yet to notice their end, is not timed.
timed(Work) ->
    Before = erlang:system_info(process_count),
    {Process, Monitor} =
        spawn_monitor(fun() ->
                          Start = erlang:monotonic_time(),
                          Outcome = Work(),
                          exit({done, erlang:monotonic_time() - Start, Outcome})
                      end),
    receive
        {'DOWN', Monitor, process, Process, {done, Time, Outcome}} ->
            settle(Before),
            {erlang:convert_time_unit(Time, native, nanosecond) / 1.0e6, Outcome};
        {'DOWN', Monitor, process, Process, {{nocatch, {wrong, Problem}}, _}} ->
            throw({wrong, Problem});
        {'DOWN', Monitor, process, Process, Reason} ->
            throw({wrong, io_lib:format("~tp", [Reason])})
    end.

settle(Processes) ->
    case erlang:system_info(process_count) > Processes of
        true -> receive after 1 -> settle(Processes) end;
        false -> ok
    end.

%% Says what differs from what a run must give.
expect(_, Want, Want) -> ok;
expect(What, Got, Want) -> throw({wrong, io_lib:format("~ts: ~tp instead of ~tp", [What, Got, Want])}).

%% Prints an object, a list of names and values, as JSON.
print(Object) ->
    io:put_chars([json(Object), $\n]).

json(Value) when is_atom(Value) -> atom_to_list(Value);
json(Value) when is_integer(Value) -> integer_to_list(Value);
json(Value) when is_float(Value) -> float_to_list(Value, [{decimals, 6}, compact]);
json([{_, _} | _] = Object) ->
    [${, lists:join($,, [[$", atom_to_list(Name), $", $:, json(Value)] || {Name, Value} <- Object]), $}];
json(Text) -> [$", Text, $"].
