; refused: block %0, instruction 0, `%x = cmpxchg`: it is not defined for {i32}

define void @f(ptr %p, { i32 } %s) {
  %x = cmpxchg ptr %p, { i32 } %s, { i32 } %s seq_cst seq_cst
  ret void
}
