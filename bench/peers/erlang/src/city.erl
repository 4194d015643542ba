%% City: houses with services of the power plant and of the river. The plant's activity makes energy from water whenever
%% a service asks for it, so it is the plant's monitor, too.
-module(city).
-export([sizes/0, run/1]).

%% Houses, times that each asks for electricity and water.
sizes() ->
    #{n => 1000, k => 10}.

run(#{n := N, k := K}) ->
    Main = self(),
    Plant = spawn(fun() -> plant(water(), N, 0) end),
    Houses = [spawn(fun() -> house(Main, electricity(Plant), water(), K) end) || _ <- lists:seq(1, N)],
    [House ! construct || House <- Houses],
    [House ! destruct || House <- Houses],
    {Electricity, Water} = consumed(N, 0, 0),
    spawn(fun() -> Plant ! {meter, Main} end), % the meter's service
    Made = receive {made, Units} -> Units end,
    peers:expect("electricity", Electricity, N * K),
    peers:expect("water", Water, N * K),
    peers:expect("units made", Made, N * K),
    %% Requests and answers; construct, destruct and consumed; the meter.
    {2 * (Electricity + Water + Made) + 3 * N + 1,
     [{electricity, Electricity}, {water, Water}, {made, Made}]}.

consumed(0, Electricity, Water) -> {Electricity, Water};
consumed(N, Electricity, Water) -> receive {consumed, E, W} -> consumed(N - 1, Electricity + E, Water + W) end.

%% Begins a service of the river. A request says what its answer shall be.
water() ->
    spawn(fun flow/0).

flow() ->
    receive
        {request, Customer, Water} ->
            Customer ! Water,
            flow();
        finished ->
            ok
    end.

%% One unit of energy at a time, as long as there are customers.
plant(River, 0, Made) ->
    River ! finished,
    receive {meter, Main} -> Main ! {made, Made} end;
plant(River, Customers, Made) ->
    receive
        {request, House, Energy} ->
            %% The houses' requests before the water are not looked at again: they cannot have this reference.
            Water = make_ref(),
            River ! {request, self(), Water},
            receive Water -> House ! Energy end,
            plant(River, Customers, Made + 1);
        finished ->
            plant(River, Customers - 1, Made)
    end.

%% Begins a service for a house. The plant sends the energy to the house itself.
electricity(Plant) ->
    spawn(fun() -> supply(Plant) end).

supply(Plant) ->
    receive
        {request, _, _} = Request ->
            Plant ! Request,
            supply(Plant);
        finished ->
            Plant ! finished
    end.

house(Main, Electricity, Water, K) ->
    receive construct -> ok end,
    Consumed = consume(Electricity, Water, K, 0, 0),
    receive destruct -> ok end,
    Main ! Consumed,
    Electricity ! finished,
    Water ! finished.

consume(_, _, 0, E, W) ->
    {consumed, E, W};
consume(Electricity, Water, K, E, W) ->
    Electricity ! {request, self(), energy},
    Water ! {request, self(), water},
    receive energy -> ok end,
    receive water -> ok end,
    consume(Electricity, Water, K - 1, E + 1, W + 1).
