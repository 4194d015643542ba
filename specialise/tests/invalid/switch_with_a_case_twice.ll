; refused: the end of block %0: the case 1 is there twice

define void @f(i8 %n) {
  switch i8 %n, label %1 [
    i8 1, label %1
    i8 1, label %2
  ]

1:
  ret void

2:
  ret void
}
