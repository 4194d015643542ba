; refused: the end of block %0: it switches by ptr, no integer

define void @f(ptr %p) {
  switch ptr %p, label %1 [ ]

1:
  ret void
}
