; refused: another type is expected

define <2 x i32> @f(<2 x i32> %v, i8 %a) {
  %w = insertelement <2 x i32> %v, i8 %a, i32 0
  ret <2 x i32> %w
}
