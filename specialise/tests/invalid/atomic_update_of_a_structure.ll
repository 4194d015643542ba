; refused: block %0, instruction 0, `%x = atomicrmw`: it is not defined for {i32}

define { i32 } @f(ptr %p, { i32 } %s) {
  %x = atomicrmw xchg ptr %p, { i32 } %s seq_cst
  ret { i32 } %x
}
