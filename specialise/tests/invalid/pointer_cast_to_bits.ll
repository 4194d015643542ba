; refused: block %0, instruction 0, `%x = bitcast`: it does not convert ptr to i64

define i64 @f(ptr %p) {
  %x = bitcast ptr %p to i64
  ret i64 %x
}
