; refused: block %0, instruction 0, `%x = xor`: it is not defined for double

define double @f(double %a) {
  %x = xor double %a, %a
  ret double %x
}
