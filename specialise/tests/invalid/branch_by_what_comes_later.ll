; refused: the end of block %0: %c is not computed on every path to its use

define void @f(i32 %a) {
  br i1 %c, label %1, label %2

1:
  %c = icmp eq i32 %a, 0
  ret void

2:
  ret void
}
