; refused: the end of block %0: nothing may jump to the entry block

define void @f() {
start:
  br label %start
}
