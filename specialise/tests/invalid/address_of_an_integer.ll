; refused: block %0, instruction 0, `%x = ptrtoint`: it does not convert i64 to i64

define i64 @f(i64 %p) {
  %x = ptrtoint i64 %p to i64
  ret i64 %x
}
