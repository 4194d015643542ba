@0xd3b5a9c0f1e24876;

interface Joint {
  ask @0 (x :Int64) -> (x :Int64);
  put @1 (x :Int64) -> stream;
  text @2 (t :Data) -> stream;
  sum @3 () -> (x :Int64);
  # Of what was put since the last time it was asked for.
}
