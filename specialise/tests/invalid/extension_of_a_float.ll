; refused: block %0, instruction 0, `%x = sext`: it does not convert float to i64

define i64 @f(float %a) {
  %x = sext float %a to i64
  ret i64 %x
}
