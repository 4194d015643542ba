; refused: `%p` has another type

define ptr @f(float %a, i64 %i) {
  %p = getelementptr i8, float %a, i64 %i
  ret ptr %p
}
