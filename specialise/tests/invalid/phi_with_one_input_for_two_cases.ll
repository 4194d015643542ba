; refused: block %2, instruction 0, `%x = phi`: it has 1 inputs for 2 jumps from block %0

define i32 @f(i8 %n) {
  switch i8 %n, label %1 [
    i8 1, label %2
    i8 2, label %2
  ]

1:
  ret i32 0

2:
  %x = phi i32 [ 1, %0 ]
  ret i32 %x
}
