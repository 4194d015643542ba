; refused: block %0, instruction 0, `%p = alloca`: a count or index is double, no integer

define ptr @f(double %n) {
  %p = alloca i8, double %n
  ret ptr %p
}
