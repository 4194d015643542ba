; C forbids pointers that leave their object, even if the next step leads back: what may be negative is added up first.
define ptr @down(ptr %end, i64 %more) {
  %a = getelementptr i8, ptr %end, i64 %more
  %b = getelementptr i8, ptr %a, i64 15
  ret ptr %b
}
define ptr @both(ptr %at, i64 %i, i64 %j) {
  %a = getelementptr i32, ptr %at, i64 %i
  %m = sub i64 0, %j
  %b = getelementptr i16, ptr %a, i64 %m
  %c = getelementptr i8, ptr %b, i64 2
  ret ptr %c
}
define ptr @up(ptr %at, i32 %i) {
  %w = zext i32 %i to i64
  %a = getelementptr i32, ptr %at, i64 %w
  %b = getelementptr i8, ptr %a, i64 8
  ret ptr %b
}
