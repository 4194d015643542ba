; refused: block %0, instruction 0, `%x = fneg`: it is not defined for i32

define i32 @f(i32 %a) {
  %x = fneg i32 %a
  ret i32 %x
}
