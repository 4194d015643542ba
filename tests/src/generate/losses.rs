//! Services that lose their clients at every point of a conversation, and tidy up in FINALLY.
//!
//! Scheduled events happen at even times and clients are lost at odd ones. So the point at which a service loses its
//! client does not depend on the schedule. A client that gets no answer waits until its message has been received: the
//! buffer may hold one only.

use super::{Generator, Step, fold};

impl Generator {
    /// Clients in isolated components, each of which an error ends at its own time. Each client has a server of its
    /// own, or all share one.
    pub fn losses(&mut self) -> Step {
        let (work, look) = (self.name("Work"), self.name("Look"));
        let (server, client, room) = (self.name("Server"), self.name("Client"), self.name("Room"));
        let (s, r, i) = (self.name("s"), self.name("r"), self.name("i"));
        let sums = ["a", "b", "open", "lost", "ended"].map(|stem| self.name(stem));
        let clients = 1 + self.random.below(5);
        // If all share one server, no service waits while it has the lock: the order in which waiting services proceed
        // isn't known.
        let is_shared = self.random.one_in(2);
        let service = self.service_that_may_lose_its_client(&work, is_shared);
        let [first, second, third] = [(); 3].map(|()| self.rest(true));
        let (rounds, tells) = (1 + self.random.below(5), 1 + self.random.below(3));
        let mut step = Step::declaring(format!(
            "INTERFACE {work};
{{ IN Ask(n: INTEGER) OUT Given(n: INTEGER; t: TEXT) ( IN Back(n: INTEGER) OUT Kept | IN Skip ) \
| IN Tell(n: INTEGER; t: TEXT) }}
END {work};
INTERFACE {look};\n{{ IN Look OUT Is(a, b, open, lost, ended: INTEGER) }}\nEND {look};
COMPONENT {server} OFFERS {work}, {look};
VARIABLE a, b, open, lost, ended: INTEGER;
{service}IMPLEMENTATION {look};
BEGIN
WHILE ?Look DO {{SHARED}} ?Look; !Is(a, b, open, lost, ended) END
END {look};
END {server};
COMPONENT {client} REQUIRES {work};
VARIABLE n, round: INTEGER;
VARIABLE t: TEXT;
ACTIVITY
FOR round := 1 TO {rounds} DO
{first}IF round MOD {tells} = 1 THEN {work}!Tell(round, TEXT(round))
ELSE
{work}!Ask(round); {second}{work}?Given(n, t); \
{third}IF n MOD 2 = 0 THEN {work}!Back(n + LENGTH(t)); {work}?Kept ELSE {work}!Skip; PASSIVATE(8) END
END
END
END {client};
INTERFACE {room};\nIN Ends(at: INTEGER)\nEND {room};
COMPONENT {{ISOLATED}} {room} OFFERS {room} REQUIRES {work};
VARIABLE client: {client};
IMPLEMENTATION {room};
VARIABLE at: INTEGER;
BEGIN
?Ends(at); PASSIVATE(at); ASSERT(FALSE)
END {room};
BEGIN NEW(client); CONNECT({work}(client), {work})
END {room};
"
        ));
        let [a, b, open, lost, ended] = &sums;
        step.variables = vec![
            format!("{s}[i: INTEGER]: {server}"),
            format!("{r}[i: INTEGER]: {room}"),
            format!("{i}, {}: INTEGER", sums.join(", ")),
        ];
        let (here, its) = (format!("{r}[{i}]"), if is_shared { "0".to_string() } else { i.clone() });
        let link = self.wire(&work, &here, &format!("{s}[{its}]"), Some(&i), &mut step);
        // A monitor in between lets more messages be under way, and then the schedule decides how many of a lost
        // client's messages are received.
        let link = link.replace(" BY Monitored()", "");
        let times = self.random.range(1, 20);
        step.statements = format!(
            "FOR {i} := 1 TO {clients} DO
IF ~EXISTS({s}[{its}]) THEN NEW({s}[{its}]) END;
NEW({here});
{link}{room}({here})!Ends({i} * {times} MOD 24 * 2 + 1)
END;
PASSIVATE(200);
FOREACH {i} OF {s} DO
{look}({s}[{i}])!Look; {look}({s}[{i}])?Is({a}, {b}, {open}, {lost}, {ended});
{}END;
",
            fold(&format!(
                "(({a} - {b}) * 10000 + {open} * 1000 + {a} MOD 100 * 100 + {lost} * 10 + {ended})"
            ))
        );
        step
    }

    /// A pause of even length, or none.
    fn rest(&mut self, may_rest: bool) -> String {
        match self.random.below(3) {
            moments @ 1.. if may_rest => format!("PASSIVATE({}); ", 2 * moments),
            _ => String::new(),
        }
    }

    fn service_that_may_lose_its_client(&mut self, work: &str, is_shared: bool) -> String {
        let mut rest = |may_rest| self.rest(may_rest);
        let (in_tell, in_ask, before, at_the_end) =
            (rest(!is_shared), rest(!is_shared), rest(true), rest(true));
        let given = "!Given(n, TEXT(n) + t); ";
        let (within, behind) = if self.random.one_in(2) { (given, "") } else { ("", given) };
        let heard = "IF ?Back THEN ?Back(m); !Kept ELSE ?Skip END;\n";
        let (procedures, hear) = match self.random.below(if is_shared { 3 } else { 4 }) {
            0 => (
                String::new(),
                "IF ?Back THEN ?Back(m); !Kept ELSIF ?Skip THEN ?Skip ELSE {EXCLUSIVE} INC(lost, 7) END;\n"
                    .into(),
            ),
            1 => (String::new(), heard.to_string()),
            // The conversation goes on in recursive procedures, which hold components that are in the middle of a
            // conversation too.
            2 => {
                let (part, begin) = (self.name("Part"), self.name("Begin"));
                let depth = self.random.below(4);
                (
                    format!(
                        "INTERFACE {begin};\nIN Begin OUT Begun IN End\nEND {begin};
COMPONENT {part} OFFERS {begin};
IMPLEMENTATION {begin};
BEGIN
?Begin; !Begun; IF ?End THEN ?End END
END {begin};
END {part};
PROCEDURE Hear(depth: INTEGER);
VARIABLE part: {part};
VARIABLE t: TEXT;
BEGIN
t := TEXT(depth); NEW(part); part!Begin; part?Begun;
IF depth > 0 THEN Hear(depth - 1) ELSE {heard}END;
part!End; m := m + LENGTH(t)
END Hear;
"
                    ),
                    format!("Hear({depth});\n"),
                )
            }
            _ => (String::new(), format!("BEGIN {{EXCLUSIVE}} {heard}END;\n")),
        };
        format!(
            "IMPLEMENTATION {work};
VARIABLE n, m, mine: INTEGER;
VARIABLE t: TEXT;
{procedures}BEGIN
WHILE ?ANY DO
IF ?Tell THEN
?Tell(n, t); BEGIN {{EXCLUSIVE}} a := a + n + LENGTH(t); {in_tell}b := b + n + LENGTH(t) END
ELSE
?Ask(n); mine := n; t := t + TEXT(n);
BEGIN {{EXCLUSIVE}} INC(open); a := a + n; {in_ask}{within}b := b + n END;
{before}{behind}{hear}BEGIN {{EXCLUSIVE}} DEC(open); INC(a, m MOD 7); INC(b, m MOD 7) END;
mine := 0
END
END
FINALLY {{EXCLUSIVE}}
{at_the_end}IF mine # 0 THEN DEC(open); INC(lost, LENGTH(t)) END;
INC(ended)
END {work};
",
            at_the_end = if is_shared { "" } else { &at_the_end },
        )
    }
}
