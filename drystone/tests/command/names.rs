//! Naming contexts as components of the program, and programs that manage their own bindings.

use crate::places::writes_everywhere;
use crate::{complaint, drystone, folder_with, printed, status};

fn runs(text: &str) -> String {
    let output = drystone(folder_with(text).path(), &["run", "program.dry"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    printed(&output)
}

/// A shop makes a shelf for each kind of goods on demand, and knows another shop by the name `next`.
const SHOPS: &str = "
COMPONENT Shops;
INTERFACE Stock; { IN Take OUT Left(n: INTEGER) } END Stock;
INTERFACE Set; IN Next(name: TEXT) END Set;
COMPONENT Shelf OFFERS Stock;
  VARIABLE n: INTEGER;
  IMPLEMENTATION Stock;
  BEGIN WHILE ?Take DO ?Take; BEGIN {EXCLUSIVE} n := n - 1; !Left(n) END END END Stock;
BEGIN n := 100 END Shelf;
COMPONENT Shop OFFERS NamingContext, Set;
  VARIABLE next: TEXT; shelf[name: TEXT]: Shelf;
  IMPLEMENTATION Set; VARIABLE x: TEXT; BEGIN ?Next(x); BEGIN {EXCLUSIVE} next := x END END Set;
  IMPLEMENTATION NamingContext;
  VARIABLE name: TEXT;
  BEGIN
    WHILE ?Resolve DO
      ?Resolve(name);
      BEGIN {EXCLUSIVE}
        IF FIND(name, \"next/\", 0) = 0 THEN !Name(\"local:\" + next + SLICE(name, 4, LENGTH(name) - 4))
        ELSIF name = \"nothing\" THEN !Unknown
        ELSIF name = \"strange\" THEN !Name(\"no name at all\")
        ELSE
          IF ~EXISTS(shelf[name]) THEN
            NEW(shelf[name]); EXPORT(Stock(shelf[name]), \"local:shelf/\" + name)
          END;
          !Name(\"local:shelf/\" + name)
        END
      END
    END
  END NamingContext;
END Shop;
COMPONENT Buyer REQUIRES Stock;
  VARIABLE n: INTEGER;
BEGIN
  Stock!Take;
  IF Stock?Left THEN
    Stock?Left(n); Stock!Take; Stock?Left(n); WRITE(n); WRITELINE
  ELSE WRITE(\"closed\"); WRITELINE
  END
END Buyer;
VARIABLE one, two: Shop; b[i: INTEGER]: Buyer; early: Buyer;
PROCEDURE Buy(i: INTEGER; name: TEXT);
BEGIN
  NEW(b[i]); CONNECT(Stock(b[i]), name); DELETE(b[i])
END Buy;
BEGIN
  NEW(early); CONNECT(Stock(early), \"local:one/pears\");
  NEW(one); NEW(two); EXPORT(NamingContext(one), \"local:one\"); EXPORT(NamingContext(two), \"local:far/two\");
  Set(one)!Next(\"far/two\");
  DELETE(early);
  Set(two)!Next(\"one\");
  Buy(1, \"local:one/apples\"); Buy(2, \"local:one/nothing\"); Buy(3, \"local:one/strange\");
  Buy(4, \"local:one/next/plums\"); Buy(5, \"local:one/next/next/next/figs\");
  Buy(6, \"local:one/\" + \
    \"next/next/next/next/next/next/next/next/next/next/next/next/next/next/next/next/next/next/x\")
END Shops;
";

#[test]
fn names_lead_through_components_that_are_naming_contexts() {
    let expected = "98\n98\nclosed\nclosed\n98\n98\nclosed\n";
    writes_everywhere(SHOPS, &[&["shelf[name]"], &["b[i]", "early"], &["early"]], expected);
}

/// It moves its client from one server to another, and closes the connection at the end.
const OWN: &str = "
COMPONENT Own REQUIRES Bindings;
INTERFACE Greet; { IN Name(x: INTEGER) OUT Greeting(x, from: INTEGER) } END Greet;
INTERFACE Set; IN Be(n: INTEGER) OUT So END Set;
COMPONENT Host OFFERS Greet, Set;
  VARIABLE number: INTEGER;
  IMPLEMENTATION Set; BEGIN BEGIN {EXCLUSIVE} ?Be(number) END; !So END Set;
  IMPLEMENTATION Greet;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Name DO ?Name(x); BEGIN {SHARED} !Greeting(x, number) END END END Greet;
END Host;
INTERFACE Talk; { IN Go(n: INTEGER) OUT Gone(from: INTEGER; all: BOOLEAN) } END Talk;
COMPONENT Guest OFFERS Talk REQUIRES Greet;
  IMPLEMENTATION Talk;
  VARIABLE i, n, x, from: INTEGER; all: BOOLEAN;
  BEGIN
    WHILE ?Go DO
      ?Go(n); all := TRUE; from := 0; i := 1;
      BEGIN {EXCLUSIVE}
        WHILE i <= n DO
          Greet!Name(i);
          IF Greet?Greeting THEN Greet?Greeting(x, from); all := all AND (x = i) ELSE all := FALSE; i := n END;
          INC(i)
        END
      END;
      !Gone(from, all)
    END
  END Talk;
END Guest;
INTERFACE Hold; { IN Ask OUT Asked IN Fetch OUT Got(from: INTEGER) } END Hold;
COMPONENT Holder OFFERS Hold REQUIRES Greet;
  IMPLEMENTATION Hold;
  VARIABLE x, from: INTEGER;
  BEGIN
    WHILE ?Ask DO
      ?Ask; BEGIN {EXCLUSIVE} Greet!Name(1) END; !Asked;
      ?Fetch; BEGIN {EXCLUSIVE} Greet?Greeting(x, from) END; !Got(from)
    END
  END Hold;
END Holder;
COMPONENT Middle OFFERS Hold REQUIRES Greet;
  VARIABLE inner: Holder;
  IMPLEMENTATION Hold;
  VARIABLE from: INTEGER;
  BEGIN
    WHILE ?Ask DO
      ?Ask; BEGIN {EXCLUSIVE} inner!Ask; inner?Asked END; !Asked;
      ?Fetch; BEGIN {EXCLUSIVE} inner!Fetch; inner?Got(from) END; !Got(from)
    END
  END Hold;
BEGIN NEW(inner); CONNECT(Greet(inner), Greet)
END Middle;
VARIABLE h[i: INTEGER]: Host; g, late: Guest; m: Middle; from, i, slot, begun, open, lost, sent, received: INTEGER;
  all, exported: BOOLEAN; name, interface, to, why: TEXT;
PROCEDURE Answer;
BEGIN
  IF Bindings?Done THEN Bindings?Done; WRITE(\"done\") ELSE Bindings?Refused(why); WRITE(why) END; WRITELINE
END Answer;
PROCEDURE Look;
BEGIN
  Bindings!Connections(\"Own.g\");
  WHILE Bindings?Connection DO
    Bindings?Connection(interface, slot, to, all);
    WRITE(interface); WRITE(\" to \"); WRITE(to); WRITELINE
  END;
  Bindings?End
END Look;
BEGIN
  FOR i := 1 TO 2 DO NEW(h[i]); Set(h[i])!Be(i); Set(h[i])?So; EXPORT(Greet(h[i]), \"local:host/\" + TEXT(i)) END;
  NEW(g); CONNECT(Greet(g), \"local:host/1\") BY Monitored();
  g!Go(10); g?Gone(from, all); WRITE(from); WRITE(all); WRITELINE;
  Look;
  Bindings!List;
  WHILE Bindings?Binding DO
    Bindings?Binding(name, interface, exported, begun, open, lost, sent, received);
    IF ~exported THEN WRITE(sent); WRITE(\" \"); WRITE(received); WRITELINE END
  END;
  Bindings?End;
  Bindings!Connect(\"Own.g\", \"Greet\", 1, \"local:host/2\"); Answer;
  g!Go(10); g?Gone(from, all); WRITE(from); WRITE(all); WRITELINE;
  Look;
  Bindings!Connect(\"Own.g\", \"Greet\", 1, \"local:host/3\"); Answer;
  Bindings!Connect(\"Own.nobody\", \"Greet\", 1, \"local:host/1\"); Answer;
  Bindings!Connect(\"Own.g\", \"Greet\", -1, \"local:host/1\"); Answer;
  Bindings!Disconnect(\"Own.g\", \"Greet\", 1); Answer;
  Look;
  Bindings!Disconnect(\"Own\", \"Bindings\", 1); Answer;
  (* Who waits for a name and is bound to another one doesn't wait any more. *)
  NEW(late); CONNECT(Greet(late), \"local:later\");
  Bindings!Connect(\"Own.late\", \"Greet\", 1, \"local:host/2\"); Answer;
  EXPORT(Greet(h[1]), \"local:later\");
  late!Go(1); late?Gone(from, all); WRITE(from); WRITELINE;
  (* What was passed on is in use by somebody else. *)
  NEW(m); CONNECT(Greet(m), \"local:host/1\");
  NEW(h[3]); Set(h[3])!Be(3); Set(h[3])?So; EXPORT(Greet(h[3]), \"local:host/3\");
  m!Ask; m?Asked;
  Bindings!Connect(\"Own.m\", \"Greet\", 1, \"local:host/3\"); Answer;
  m!Fetch; m?Got(from); WRITE(from); WRITELINE;
  Bindings!Connect(\"Own.m\", \"Greet\", 1, \"local:host/3\"); Answer;
  m!Ask; m?Asked; m!Fetch; m?Got(from); WRITE(from); WRITELINE
END Own;
";

#[test]
fn a_program_looks_at_its_bindings_replaces_and_deletes_them() {
    let expected = "1TRUE\nGreet to Own.h[1] BY Monitored\n10 10\ndone\n2TRUE\nGreet to Own.h[2]\n\
                    local:host/3: nothing is exported by that name\n\
                    there is no component Own.nobody: Own holds h[1], h[2], g\n\
                    there is no slot 0 of Greet in Own.g: it has only slot 1\ndone\nGreet to \n\
                    a connection to Bindings can be changed from outside only\ndone\n2\n\
                    Own.m has passed Greet on to a component that talks through it now\n1\ndone\n3\n";
    assert_eq!(runs(OWN), expected);
}
