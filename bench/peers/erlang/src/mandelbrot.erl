%% Mandelbrot: a task for each tile of the plane, which streams the tile's values back.
-module(mandelbrot).
-export([sizes/0, run/1]).

-define(WIDTH, 8).
-define(HEIGHT, 4).
-define(LEFT, -2.0).
-define(BOTTOM, -1.0).
-define(STEP, 0.05).
-define(LIMIT, 2.0).

%% Tasks in a row, rows of tasks, iterations.
sizes() ->
    #{columns => 10, rows => 10, k => 5000}.

run(#{columns := Columns, rows := Rows, k := K}) ->
    Main = self(),
    Tasks = [begin
                 Task = spawn(fun() -> task(K) end),
                 Task ! {compute, Main, Column, Row},
                 Task
             end
             || Row <- lists:seq(0, Rows - 1), Column <- lists:seq(0, Columns - 1)],
    Tiles = [tile(Task, ?WIDTH * ?HEIGHT) || Task <- Tasks],
    Count = length([Point || Tile <- Tiles, Point <- Tile, Point]),
    case {Columns, Rows, K} of
        {10, 10, 5000} -> peers:expect("points inside", Count, 609);
        _ -> ok
    end,
    %% Compute, the values and their end.
    {length(Tasks) * (?WIDTH * ?HEIGHT + 2), [{inside, Count}]}.

%% Which points of a tile are inside.
tile(Task, 0) ->
    receive {Task, finished} -> [] end;
tile(Task, Points) ->
    receive {Task, Value} -> [Value =< ?LIMIT | tile(Task, Points - 1)] end.

task(K) ->
    receive {compute, Main, Column, Row} -> ok end,
    [Main ! {self(), iterate(K, ?LEFT + ?STEP * (Column * ?WIDTH + X), ?BOTTOM + ?STEP * (Row * ?HEIGHT + Y))}
     || Y <- lists:seq(0, ?HEIGHT - 1), X <- lists:seq(0, ?WIDTH - 1)],
    Main ! {self(), finished}.

%% Point by point, so that no step allocates a table.
iterate(K, Left, Bottom) ->
    iterate(K, Left, Bottom, 0.0, 0.0, 0.0).

iterate(K, Left, Bottom, Re, Im, Value) when K > 0, Value =< ?LIMIT ->
    NextRe = Re * Re - Im * Im + Left,
    NextIm = 2.0 * Re * Im + Bottom,
    iterate(K - 1, Left, Bottom, NextRe, NextIm, math:sqrt(NextRe * NextRe + NextIm * NextIm));
iterate(_, _, _, _, _, Value) ->
    Value.
