; refused: block %0, instruction 0, `%q = add`: it is not defined for ptr

define ptr @f(ptr %p) {
  %q = add ptr %p, null
  ret ptr %q
}
