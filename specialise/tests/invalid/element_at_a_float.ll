; refused: block %0, instruction 0, `%x = extractelement`: a count or index is float, no integer

define i32 @f(<2 x i32> %v, float %a) {
  %x = extractelement <2 x i32> %v, float %a
  ret i32 %x
}
