//! Patterns of several processes in one component, under its lock.

use super::{Generator, Step, fold};

impl Generator {
    /// Workers add to a shared counter, in any order.
    pub fn workers(&mut self) -> Step {
        let (interface, counter, worker) = (self.name("Add"), self.name("Counter"), self.name("Worker"));
        let total = self.name("Total");
        let (c, w, i, x) = (self.name("c"), self.name("w"), self.name("i"), self.name("x"));
        let (workers, rounds) = (1 + self.random.below(8), self.random.below(12));
        let (functions, work) = self.component(|own| own.number(&["n"], 2));
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n{{ IN Add(n: INTEGER) }}\nEND {interface};
INTERFACE {total};\nIN Get OUT Total(n: INTEGER)\nEND {total};
COMPONENT {counter} OFFERS {interface}, {total};
VARIABLE sum, finished: INTEGER;
{functions}IMPLEMENTATION {interface};
VARIABLE n: INTEGER;
BEGIN
WHILE ?Add DO ?Add(n); BEGIN {{EXCLUSIVE}} sum := (sum + {work}) MOD 1000003 END END;
BEGIN {{EXCLUSIVE}} INC(finished) END
END {interface};
IMPLEMENTATION {total};
BEGIN
?Get; BEGIN {{SHARED}} AWAIT(finished = {workers}); !Total(sum) END
END {total};
END {counter};
COMPONENT {worker} REQUIRES {interface};
VARIABLE i: INTEGER;
ACTIVITY FOR i := 1 TO {rounds} DO {interface}!Add(i * i) END; {interface}!Add(1)
END {worker};
"
        ));
        step.variables = vec![
            format!("{c}: {counter}"),
            format!("{w}[i: INTEGER]: {worker}"),
            format!("{i}, {x}: INTEGER"),
        ];
        let here = format!("{w}[{i}]");
        let link = self.wire(&interface, &here, &c, Some(&i), &mut step);
        step.statements = format!(
            "NEW({c});\nFOR {i} := 1 TO {workers} DO\nNEW({here});\n{link}END;
FOREACH {i} OF {w} DO DELETE({here}) END;\n{total}({c})!Get; {total}({c})?Total({x});\n{}",
            fold(&x)
        );
        step
    }

    /// A bounded buffer between producers and the holder.
    pub fn buffer(&mut self) -> Step {
        let (put, get) = (self.name("Put"), self.name("Get"));
        let (buffer, producer) = (self.name("Buffer"), self.name("Producer"));
        let (b, p, i, x) = (self.name("b"), self.name("p"), self.name("i"), self.name("x"));
        let (producers, elements, room) =
            (1 + self.random.below(4), self.random.below(15), 1 + self.random.below(5));
        let dynamic = self.random.one_in(2);
        let (attribute, make) = if dynamic { ("", "") } else { (" {ARRAY}", "BEGIN NEW(item, room)\n") };
        let in_order = producers == 1;
        let mut step = Step::declaring(format!(
            "INTERFACE {put};\n{{ IN Put(n: INTEGER) }} IN Finished\nEND {put};
INTERFACE {get};\n{{ IN Next ( OUT Item(n: INTEGER) | OUT None ) }}\nEND {get};
COMPONENT {buffer} OFFERS {put}, {get};
CONSTANT room = {room};
VARIABLE item[i: INTEGER]: INTEGER{attribute};
VARIABLE in, out, finished: INTEGER;
IMPLEMENTATION {put};
BEGIN
WHILE ?Put DO {{EXCLUSIVE}} AWAIT(in - out < room); ?Put(item[in MOD room]); INC(in) END;
?Finished; BEGIN {{EXCLUSIVE}} INC(finished) END
END {put};
IMPLEMENTATION {get};
BEGIN
WHILE ?Next DO {{EXCLUSIVE}}
?Next; AWAIT((in # out) OR (finished = {producers}));
IF in # out THEN !Item(item[out MOD room]); INC(out) ELSE !None END
END
END {get};
{make}END {buffer};
COMPONENT {producer} REQUIRES {put};
VARIABLE i: INTEGER;
ACTIVITY FOR i := 1 TO {elements} DO {put}!Put(i * 7) END; {put}!Finished
END {producer};
"
        ));
        step.variables = vec![
            format!("{b}: {buffer}"),
            format!("{p}[i: INTEGER]: {producer}"),
            format!("{i}, {x}: INTEGER"),
        ];
        let here = format!("{p}[{i}]");
        let link = self.wire(&put, &here, &b, Some(&i), &mut step);
        // Elements of several producers come in any order: only their sum is certain.
        let take = if in_order { fold(&x) } else { format!("acc := (acc + {x}) MOD 1000003;\n") };
        step.statements = format!(
            "NEW({b});\nFOR {i} := 1 TO {producers} DO\nNEW({here});\n{link}END;
{get}({b})!Next;\nWHILE {get}({b})?Item DO {get}({b})?Item({x}); {take}{get}({b})!Next END;\n{get}({b})?None;\n"
        );
        step
    }

    /// A token goes round a ring, and every node changes it.
    pub fn ring(&mut self) -> Step {
        let (interface, control, node) = (self.name("Token"), self.name("Control"), self.name("Node"));
        let (r, i, x) = (self.name("r"), self.name("i"), self.name("x"));
        let (nodes, rounds) = (2 + self.random.below(6), 1 + self.random.below(5));
        let (functions, change) = self.component(|own| own.number(&["n"], 2));
        let hops = nodes * rounds;
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n{{ IN Token(hops, n: INTEGER) }}\nEND {interface};
INTERFACE {control};\nIN Start(n: INTEGER) OUT Result(n: INTEGER)\nEND {control};
COMPONENT {node} OFFERS {interface}, {control} REQUIRES {interface};
VARIABLE result: INTEGER;
VARIABLE known: BOOLEAN;
{functions}IMPLEMENTATION {interface};
VARIABLE hops, n: INTEGER;
BEGIN
WHILE ?Token DO
?Token(hops, n); n := {change};
BEGIN {{EXCLUSIVE}} IF hops = 0 THEN result := n; known := TRUE ELSE {interface}!Token(hops - 1, n) END END
END
END {interface};
IMPLEMENTATION {control};
VARIABLE n: INTEGER;
BEGIN
?Start(n); BEGIN {{EXCLUSIVE}} {interface}!Token({hops} - 1, n) END;
BEGIN {{EXCLUSIVE}} AWAIT(known); !Result(result) END
END {control};
END {node};
"
        ));
        step.variables = vec![format!("{r}[i: INTEGER]: {node}"), format!("{i}, {x}: INTEGER")];
        let closing =
            self.wire(&interface, &format!("{r}[{nodes} - 1]"), &format!("{r}[0]"), None, &mut step);
        step.statements = format!(
            "FOR {i} := 0 TO {nodes} - 1 DO NEW({r}[{i}]) END;
FOR {i} := 0 TO {nodes} - 2 DO CONNECT({interface}({r}[{i}]), {r}[{i} + 1]) END;
{closing}{control}({r}[0])!Start(acc); {control}({r}[0])?Result({x});
FOR {i} := 0 TO {nodes} - 1 DO DISCONNECT({interface}({r}[{i}])) END;
{}",
            fold(&x)
        );
        step
    }

    /// Processes take turns under the lock of one component.
    pub fn turns(&mut self) -> Step {
        let (interface, get, start) = (self.name("Turn"), self.name("Log"), self.name("Start"));
        let (table, player) = (self.name("Table"), self.name("Player"));
        let (t, p, i, x) = (self.name("t"), self.name("p"), self.name("i"), self.name("x"));
        let (players, rounds) = (2 + self.random.below(4), 1 + self.random.below(5));
        let (functions, (change, mode)) = self.component(|own| {
            (
                own.number(&["log", "me", "round"], 2),
                if own.random.one_in(2) { "EXCLUSIVE" } else { "SHARED" },
            )
        });
        let is_turn = self.slowly_or_not(&format!("turn MOD {players} = me"));
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\nIN Join(me: INTEGER) OUT Left\nEND {interface};
INTERFACE {get};\nIN Get OUT Log(n: INTEGER)\nEND {get};
COMPONENT {table} OFFERS {interface}, {get};
VARIABLE turn, log: INTEGER;
{functions}PROCEDURE IsTurn(me: INTEGER): BOOLEAN;\nBEGIN RETURN {is_turn}\nEND IsTurn;
PROCEDURE Slowly(b: BOOLEAN): BOOLEAN; BEGIN REPEAT UNTIL ~b OR b; RETURN b END Slowly;
IMPLEMENTATION {interface};
VARIABLE me, round: INTEGER;
BEGIN
?Join(me);
FOR round := 1 TO {rounds} DO {{EXCLUSIVE}} AWAIT(IsTurn(me)); log := {change}; INC(turn) END;
!Left
END {interface};
IMPLEMENTATION {get};
BEGIN {{{mode}}}
?Get; AWAIT(turn = {players} * {rounds}); !Log(log)
END {get};
END {table};
INTERFACE {start};\nIN Start(me: INTEGER) OUT Over\nEND {start};
COMPONENT {player} OFFERS {start} REQUIRES {interface};
IMPLEMENTATION {start};
VARIABLE me: INTEGER;
BEGIN {{EXCLUSIVE}}
?Start(me); {interface}!Join(me); {interface}?Left; !Over
END {start};
END {player};
"
        ));
        step.variables =
            vec![format!("{t}: {table}"), format!("{p}[i: INTEGER]: {player}"), format!("{i}, {x}: INTEGER")];
        let here = format!("{p}[{i}]");
        let link = self.wire(&interface, &here, &t, Some(&i), &mut step);
        step.statements = format!(
            "NEW({t});\nFOR {i} := 0 TO {players} - 1 DO\nNEW({here});\n{link}{here}!Start({players} - 1 - {i})\nEND;
{get}({t})!Get; {get}({t})?Log({x});\n{}FOREACH {i} OF {p} DO {here}?Over END;\n",
            fold(&x)
        );
        step
    }

    /// Guests wait with time limits at a gate that opens: some until it opens, others not so long.
    pub fn limits(&mut self) -> Step {
        let (wait, open, ask) = (self.name("Wait"), self.name("Open"), self.name("Ask"));
        let (gate, guest) = (self.name("Gate"), self.name("Guest"));
        let (g, p, i, x) = (self.name("g"), self.name("p"), self.name("i"), self.name("x"));
        let (guests, opens) = (1 + self.random.below(6), 4 * self.random.below(6) + 2);
        let mode = *self.random.pick(&["EXCLUSIVE", "SHARED"]);
        // No limit ends at the moment when the gate opens.
        let limit = format!("{i} * {} MOD 20 * 2 + 1", self.random.range(1, 19));
        let condition = self.slowly_or_not("open");
        let answer = self.random.pick(&[
            "holds := AWAIT(OPEN, limit)",
            "IF AWAIT(OPEN, limit) THEN holds := open END",
            "WHILE ~holds AND (limit > 0) DO holds := AWAIT(OPEN, 4); DEC(limit, 4) END",
        ]);
        let answer = answer.replace("OPEN", &condition);
        let mut step = Step::declaring(format!(
            "INTERFACE {wait};\nIN Wait(limit: INTEGER) OUT Over(n: INTEGER)\nEND {wait};
INTERFACE {open};\nIN Open OUT Done\nEND {open};
COMPONENT {gate} OFFERS {wait}, {open};
VARIABLE open: BOOLEAN;
PROCEDURE Slowly(b: BOOLEAN): BOOLEAN; BEGIN WHILE ~b DO RETURN FALSE END; RETURN open END Slowly;
IMPLEMENTATION {wait};
VARIABLE limit: INTEGER;
VARIABLE holds: BOOLEAN;
BEGIN
?Wait(limit); BEGIN {{{mode}}} {answer} END; !Over(INTEGER(holds))
END {wait};
IMPLEMENTATION {open};
BEGIN
?Open; BEGIN {{EXCLUSIVE}} open := TRUE END; !Done
END {open};
END {gate};
INTERFACE {ask};\nIN Ask(limit: INTEGER) OUT Told(n: INTEGER)\nEND {ask};
COMPONENT {guest} OFFERS {ask} REQUIRES {wait};
IMPLEMENTATION {ask};
VARIABLE n: INTEGER;
BEGIN {{EXCLUSIVE}}
?Ask(n); {wait}!Wait(n); {wait}?Over(n); !Told(n)
END {ask};
END {guest};
"
        ));
        step.variables =
            vec![format!("{g}: {gate}"), format!("{p}[i: INTEGER]: {guest}"), format!("{i}, {x}: INTEGER")];
        let here = format!("{p}[{i}]");
        let link = self.wire(&wait, &here, &g, Some(&i), &mut step);
        step.statements = format!(
            "NEW({g});\nFOR {i} := 0 TO {guests} - 1 DO\nNEW({here});\n{link}{here}!Ask({limit})\nEND;
PASSIVATE({opens}); {open}({g})!Open; {open}({g})?Done;
FOREACH {i} OF {p} DO {here}?Told({x}); {}END;\n",
            fold(&x)
        );
        step
    }
}
