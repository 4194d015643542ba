; refused: block %0, instruction 0, `%q = getelementptr`: an index is ptr, no integer of at most 64 bits

define ptr @f(ptr %p) {
  %q = getelementptr i8, ptr %p, ptr %p
  ret ptr %q
}
