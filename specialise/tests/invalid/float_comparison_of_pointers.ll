; refused: block %0, instruction 0, `%x = fcmp`: it is not defined for ptr

define i1 @f(ptr %a) {
  %x = fcmp oeq ptr %a, null
  ret i1 %x
}
