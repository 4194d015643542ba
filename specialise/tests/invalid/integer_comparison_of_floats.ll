; refused: block %0, instruction 0, `%x = icmp`: it is not defined for float

define i1 @f(float %a) {
  %x = icmp eq float %a, 0.0
  ret i1 %x
}
