; refused: block %0, instruction 0, `%x = zext`: it does not convert <2 x i32> to <4 x i64>

define <4 x i64> @f(<2 x i32> %v) {
  %x = zext <2 x i32> %v to <4 x i64>
  ret <4 x i64> %x
}
