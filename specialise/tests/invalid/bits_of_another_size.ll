; refused: block %0, instruction 0, `%x = bitcast`: it does not convert i32 to double

define double @f(i32 %a) {
  %x = bitcast i32 %a to double
  ret double %x
}
